import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as zlib from 'node:zlib'
import {
  copyGuarded,
  type Database,
  databaseStamp,
  explainDiskError,
  isDamage,
  makeDirectory,
  openDatabase,
  type SqlValue,
  writeAtomic,
} from '../../disk/index.js'
import { isSessionId, readJson, SkeinError } from '../../model/index.js'
import type { AgentName } from '../agent-name.js'
import type { SessionEntry } from '../entry.js'
import { type ConversationKey, parseKey } from '../key.js'
import { parseStore, type SessionStore } from '../rows/store-file.js'
import { parseLine, TRANSCRIPT_VERSION } from '../transcript/transcript-format.js'
import { archiveName, transcriptName } from '../transcript/transcript-name.js'
import type { OpenClawSource, SourceTranscript } from './openclaw-source.js'

/** What is read of the database, table by table: a schema without these is another one than the one this was written for. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  schema_meta: ['meta_key', 'role', 'agent_id'],
  session_nodes: ['session_key', 'current_session_id', 'entry_json'],
  session_windows: ['session_id', 'session_key', 'updated_at', 'ended_at'],
  transcript_events: ['session_id', 'seq', 'event_json', 'event_zstd'],
  session_transcript_index_state: ['session_id', 'leaf_event_id', 'needs_rebuild'],
}
const COPY_TRIES = 5

type Line = Record<string, unknown>

/**
 * OpenClaw's database (2026.7.2 and later; schema 23 of 2026.9.6). It is copied and the copy is opened: SQLite writes beside a
 * database that it reads, and nothing of OpenClaw's may change. A damaged or unknown one is refused before anything is taken over.
 */
export class OpenClawDatabase implements OpenClawSource {
  readonly entries: SessionStore
  readonly #copy: string
  readonly #database: Database

  constructor(
    private readonly path: string,
    agent: AgentName,
  ) {
    this.#copy = mkdtempSync(join(tmpdir(), 'skein-openclaw-'))
    try {
      this.#database = openDatabase(copyDatabase(path, this.#copy))
      this.#check(agent)
      const rows = this.#all('select session_key as key, entry_json as entry from session_nodes')
      const pairs = rows.map((row) => `${JSON.stringify(row.key)}:${entryText(row.entry)}`)
      this.entries = parseStore(`{${pairs.join(',')}}`, path)
    } catch (error) {
      this[Symbol.dispose]()
      throw isDamage(error) ? damaged(path, (error as Error).message) : explainDiskError(error, path)
    }
  }

  transcriptsOf(key: ConversationKey, spelled: string, entry: SessionEntry): SourceTranscript[] | string {
    const windows = this.#all(
      'select session_id, ended_at, updated_at from session_windows where session_key = ?',
      spelled,
    )
    const ids = new Set([entry.sessionId, ...windows.map(({ session_id }) => String(session_id))])
    const found: SourceTranscript[] = []
    for (const id of [...ids].filter(isSessionId)) {
      const text = this.#transcript(id)
      if (text === undefined) continue
      if (typeof text !== 'string') return text.because
      const present = transcriptName(id, parseKey(key).thread)
      const window = windows.find(({ session_id }) => session_id === id)
      const ended = Number(window?.ended_at ?? window?.updated_at ?? 0)
      const name = id === entry.sessionId ? present : archiveName(present, 'reset', ended)
      found.push({ name, copyTo: (directory) => writeTranscript(join(directory, name), text) })
    }
    return found
  }

  /** The lines of a session as a file of version 3, undefined when nothing was said in it. */
  #transcript(session: string): string | { because: string } | undefined {
    const rows = this.#all(
      'select event_json as text, event_zstd as packed from transcript_events where session_id = ? order by seq',
      session,
    )
    const lines: Line[] = []
    for (const { text, packed } of rows) {
      const line = typeof text === 'string' ? text : unpacked(packed)
      if (line === undefined)
        return { because: 'its transcript is compressed with zstd, which this Node.js cannot read: use 22.15 or later' }
      const parsed = parseLine(line)
      if (!parsed) return { because: 'its transcript has a line that is not a JSON object' }
      lines.push(parsed)
    }
    const [header, ...events] = lines
    if (header?.type !== 'session') return lines.length === 0 ? undefined : { because: 'its transcript has no header' }
    const written = [{ ...header, version: TRANSCRIPT_VERSION }, ...this.#leafLast(session, events)]
    return written.map((line) => `${JSON.stringify(line)}\n`).join('')
  }

  /** Here the last line is where a conversation continues; there it is noted beside the events, and `leaf` events move it. */
  #leafLast(session: string, events: readonly Line[]): Line[] {
    const said = events.filter(({ type }) => type !== 'leaf')
    const [state] = this.#all(
      'select leaf_event_id as leaf from session_transcript_index_state where session_id = ? and needs_rebuild = 0',
      session,
    )
    const leaf = said.find(({ id }) => id !== undefined && id === state?.leaf)
    return leaf ? [...said.filter((line) => line !== leaf), leaf] : said
  }

  #check(agent: AgentName): void {
    const [state] = this.#all('pragma quick_check')
    if (state?.quick_check !== 'ok') throw damaged(this.path, String(state?.quick_check))
    for (const [table, columns] of Object.entries(NEEDED)) {
      const known = new Set(this.#all(`pragma table_info(${table})`).map(({ name }) => name))
      const missing = columns.filter((column) => !known.has(column))
      if (missing.length > 0) throw unknownSchema(this.path, `${table} lacks ${missing.join(', ')}`)
    }
    const [meta] = this.#all("select role, agent_id from schema_meta where meta_key = 'primary'")
    if (meta?.role !== 'agent') throw unknownSchema(this.path, 'it is not the database of an agent')
    if (meta.agent_id !== null && meta.agent_id !== agent)
      throw unknownSchema(this.path, `it belongs to agent "${meta.agent_id}"`)
  }

  #all(sql: string, ...params: SqlValue[]): Line[] {
    return this.#database.prepare(sql).all(...params) as Line[]
  }

  [Symbol.dispose](): void {
    try {
      this.#database?.close()
    } finally {
      rmSync(this.#copy, { recursive: true, force: true })
    }
  }
}

/** The file and its log, as they were at one moment: copied again when they changed meanwhile. */
function copyDatabase(path: string, directory: string): string {
  const copy = join(directory, 'copy.sqlite')
  for (let tries = 0; tries < COPY_TRIES; tries += 1) {
    const before = databaseStamp(path)
    for (const side of ['', '-wal']) {
      rmSync(copy + side, { force: true })
      if (existsSync(path + side)) copyGuarded(path + side, copy + side, { noFollow: true })
    }
    if (databaseStamp(path) === before) return copy
  }
  throw new SkeinError('store-locked', `${path} is being written`, 'Stop OpenClaw, then import again')
}

/** An entry that is no JSON, or none that can be walked, is left out and named, as one in a file would be. */
const entryText = (entry: unknown): string => (readJson(String(entry)) === undefined ? 'null' : String(entry))

function unpacked(packed: unknown): string | undefined {
  const unzstd = (zlib as { zstdDecompressSync?: (data: Uint8Array) => Buffer }).zstdDecompressSync
  return unzstd && packed instanceof Uint8Array ? unzstd(packed).toString() : undefined
}

function writeTranscript(to: string, text: string): boolean {
  try {
    makeDirectory(join(to, '..'))
    if (existsSync(to)) return readFileSync(to, 'utf8') === text
    writeAtomic(to, text, { durable: true })
    return true
  } catch (error) {
    throw explainDiskError(error, to)
  }
}

const damaged = (path: string, what: string): SkeinError =>
  new SkeinError(
    'store-damaged',
    `${path} is damaged: ${what}; nothing was imported`,
    'Let OpenClaw repair it, or import a backup',
  )

const unknownSchema = (path: string, what: string): SkeinError =>
  new SkeinError(
    'newer-format',
    `${path} is not an OpenClaw database that Skein can read: ${what}; nothing was imported`,
    'Skein reads databases of OpenClaw 2026.9',
  )
