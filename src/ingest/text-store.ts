import { createHash } from 'node:crypto'
import { closeSync, openSync } from 'node:fs'
import { openDatabase, openToRead, Statements } from '../disk/index.js'
import type { Fact, LogRef } from '../tools/index.js'
import { PURGED_CALL_TEXT } from './forget-facts.js'
import { partOf } from './history-store.js'
import type { ReadingEnd } from './log-rows.js'
import type { LogText } from './log-text.js'
import { keyNumber, kindOf, kindWord, PASSAGE_KINDS, toolWord } from './passage.js'
import { callKey, type Passage, passagesOf, type StoredCall, textOf } from './passage-text.js'
import { type Redactions, saveRedactions } from './redaction-tally.js'
import { resumeText } from './resume-text.js'
import { BLOCK_BYTES, packed, unpacked } from './text-block.js'
import { LATER_TABLES, makeTextTables, TEXT_VERSION } from './text-schema.js'

/** How far the text of a log was read, and where its session works. */
export interface StoredText {
  n: number
  stamp: string
  place: string | null
  cwd: string | null
  /** Set for the log of a sub-agent. */
  agent: string | null
}

/** One reading of one log, with where it started from and what may be kept of it. */
export interface TextReading {
  log: LogRef
  from: StoredText | undefined
  text: LogText
  /** Filtered. */
  facts: readonly Fact[]
  /** Up to where the log was read. */
  place: string | null
  /** The fingerprint of the policy that it was filtered by; undefined when that is not known. */
  policy: string | undefined
  /** What was left out of it. */
  redactions?: Redactions
}

/** What a batch of readings is part of. */
export interface RecordedRun {
  /** Names it in what is counted. */
  run: string
  /** Purges that it knows of. */
  generation: number
}

/** A passage as it is stored. */
interface StoredPassage extends Pick<Passage, 'kind' | 'agent' | 'turn'> {
  key: number
  /** Its place in time; of a log that tells no times, when it was last changed. */
  atMs: number
  name: string | undefined
  /** Its text. */
  bytes: Buffer
}

interface LogColumns {
  path: string
  part: string
  tool: string
  stamp: string
  place: string | null
  session: string | null
  agent: string | null
  cwd: string | null
}

/** Where a passage's text is. */
interface Place {
  block: number
  start: number
  length: number
}

interface CallPlace {
  agent: string
  turn: number
  at_ms: number
}

interface Placed {
  /** The one whose log it is. */
  program: string
  passage: StoredPassage
  log: number
  block: number
  start: number
}

/** The filtered words of every log, compressed, with an index over them. Derived from the logs, and filled again when it is gone. */
export class TextStore implements Disposable {
  private constructor(readonly db: Statements) {}

  static open(path: string): TextStore {
    closeSync(openSync(path, 'a', 0o600)) // SQLite would make it readable to everyone
    return TextStore.#on(path)
  }

  /** For a home that cannot be written to. Undefined when it is of another version. */
  static read(path: string): TextStore | undefined {
    const db = new Statements(openToRead(path))
    try {
      if (versionOf(db) === TEXT_VERSION) return new TextStore(db)
    } catch (error) {
      db.database.close()
      throw error
    }
    db.database.close()
    return undefined
  }

  /** One that holds nothing: questions to it are checked like any other. */
  static empty(): TextStore {
    return TextStore.#on(':memory:')
  }

  static #on(path: string): TextStore {
    const db = new Statements(openDatabase(path))
    try {
      db.database.exec(
        'pragma busy_timeout = 30000; pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -65536; pragma wal_autocheckpoint = 8000',
      )
      if (versionOf(db) !== TEXT_VERSION) {
        db.inTransaction(() => {
          if (versionOf(db) !== TEXT_VERSION) makeTextTables(db.database) // unless another process was quicker
        })
      } else if (!hasTable(db, 'text_redactions')) db.inTransaction(() => db.database.exec(LATER_TABLES))
      return new TextStore(db)
    } catch (error) {
      db.database.close()
      throw error
    }
  }

  /** Where each log is whose text is here. */
  places(): { path: string; part: string; tool: string }[] {
    return this.db.all('select path, part, tool from text_logs') as { path: string; part: string; tool: string }[]
  }

  stamps(): Map<string, string> {
    const rows = this.db.all('select path, part, stamp from text_logs') as {
      path: string
      part: string
      stamp: string
    }[]
    return new Map(rows.map(({ path, part, stamp }) => [`${path}\0${part}`, stamp]))
  }

  log(path: string, part: string): StoredText | undefined {
    return this.db.get('select n, stamp, place, cwd, agent from text_logs where path = ? and part = ?', path, part) as
      | StoredText
      | undefined
  }

  /** The tool of a call that is stored already. */
  toolOf(log: StoredText, call: string): string | undefined {
    const row = this.db.get('select tool from passages where log = ? and key = ?', log.n, keyNumber(callKey(call)))
    return (row as { tool: string | null } | undefined)?.tool ?? undefined
  }

  /** Whether a call that is stored already was on a path that was purged. */
  wasPurged(log: StoredText, call: string): boolean {
    return this.#storedCall(log.n, keyNumber(callKey(call)))?.text.includes(PURGED_CALL_TEXT) ?? false
  }

  /** Something to be remembered beside the text. */
  fact(name: string): string | undefined {
    return (this.db.get('select value from text_facts where name = ?', name) as { value: string } | undefined)?.value
  }

  setFact(name: string, value: string): void {
    this.db.run('insert or replace into text_facts (name, value) values (?, ?)', name, value)
  }

  /** Whether nothing was purged since this purge. From now on nothing that was read before it is stored. */
  admits(generation: number): boolean {
    const known = Number(this.fact(PURGES) ?? 0)
    if (generation > known) this.setFact(PURGES, String(generation))
    return generation >= known
  }

  /** The text of a passage. */
  textOf(place: Place): string {
    return this.#bytesOf(place).toString()
  }

  #bytesOf({ block, start, length }: Place): Buffer {
    return this.block(block).subarray(start, start + length)
  }

  block(n: number): Buffer {
    return unpacked((this.db.get('select data from text_blocks where n = ?', n) as { data: Uint8Array }).data)
  }

  /**
   * All of it or nothing. A reading that another process has overtaken meanwhile is dropped: that one knows more. What was read before
   * the last purge may hold what was purged, so it is dropped too.
   */
  record(readings: readonly TextReading[], { run, generation }: RecordedRun): void {
    // Putting texts together takes longer than writing them: the lock is taken after it.
    const kept = readings.map((reading) => ({ reading, passages: this.#passages(reading) }))
    this.db.inTransaction(() => {
      if (!this.admits(generation)) return
      let removed = 0
      const placed: Placed[] = []
      for (const { reading, passages } of kept) {
        const now = this.log(reading.log.path, partOf(reading.log))
        if (now?.place !== reading.from?.place || now?.stamp !== reading.from?.stamp) continue
        const log = this.#writeLog(reading)
        this.#notePolicy(log, reading.policy, reading.from && !reading.text.isRestarted)
        if (reading.redactions) saveRedactions(this.db, reading.redactions, run)
        if (reading.from && reading.text.isRestarted) removed += this.#removeAll(log)
        else if (reading.from) removed += this.#removeReplaced(log, passages)
        placed.push(...this.#writeBlocks(reading.log.tool, reading.from, log, passages))
      }
      this.#index(placed)
      this.#countPassages(placed.length - removed)
    })
  }

  /** Removes the text of a log. */
  forget({ path, part }: { path: string; part: string }): void {
    this.db.inTransaction(() => {
      const log = this.log(path, part)
      if (!log) return
      this.#countPassages(-this.#removeAll(log.n))
      for (const table of ['text_policies where log', 'text_logs where n'])
        this.db.run(`delete from ${table} = ?`, log.n)
    })
  }

  /** Takes over what another one knows of logs that can be read nowhere else any more. */
  adopt(other: TextStore, isWanted: (log: { path: string; part: string; tool: string }) => boolean): void {
    const logs = other.db.all(`select n, ${LOG_COLUMNS} from text_logs`) as ({ n: number } & LogColumns)[]
    for (const { n, ...log } of logs.filter(isWanted)) {
      const passages = other.#passagesOf(n)
      this.db.inTransaction(() => {
        const added = this.db.get(
          `insert into text_logs (${LOG_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing returning n`,
          ...[log.path, log.part, log.tool, log.stamp, log.place, log.session, log.agent, log.cwd],
        ) as { n: number } | undefined
        if (!added) return
        this.#notePolicy(added.n, other.#policyOf(n), false)
        this.#index(this.#writeBlocks(log.tool, undefined, added.n, passages))
        this.#countPassages(passages.length)
      })
    }
  }

  [Symbol.dispose](): void {
    this.db.database.close()
  }

  #passagesOf(log: number): StoredPassage[] {
    const sql =
      'select key, agent, turn, kind, tool, at_ms, block, start, length from passages where log = ? order by block, start'
    const rows = this.db.all(sql, log) as (CallPlace & {
      key: number
      kind: number
      tool: string | null
      block: number
      start: number
      length: number
    })[]
    return rows.map(({ key, agent, turn, kind, tool, at_ms, ...place }) => ({
      ...{ key, agent, turn, kind: kindOf(kind), atMs: at_ms, name: tool ?? undefined },
      bytes: this.#bytesOf(place),
    }))
  }

  #policyOf(log: number): string | undefined {
    const row = this.db.get('select fingerprint from text_policies where log = ?', log)
    return (row as { fingerprint: string } | undefined)?.fingerprint
  }

  /** A log whose parts were filtered under different policies fits none of them. */
  #notePolicy(log: number, fingerprint: string | undefined, isMore: boolean | undefined): void {
    const before = this.#policyOf(log)
    const now = isMore && before !== fingerprint ? MIXED_POLICIES : fingerprint
    if (before === now) return
    if (now === undefined) this.db.run('delete from text_policies where log = ?', log)
    else this.db.run('insert or replace into text_policies (log, fingerprint) values (?, ?)', log, now)
  }

  #countPassages(added: number): void {
    this.db.run("update text_facts set value = cast(value as integer) + ? where name = 'passages'", added)
  }

  #passages({ log, from, text, facts }: TextReading): StoredPassage[] {
    const otherwiseMs = Date.parse(log.modified_at)
    const known = text.isRestarted ? undefined : from
    return [...passagesOf(facts, text.news)].flatMap((told) => {
      const key = keyNumber(told.key)
      const mayBeStored = known && (told.kind === 'tools' || told.kind === 'titles')
      const stored = mayBeStored ? this.#storedCall(known.n, key) : undefined
      const words = textOf(told, stored)
      if (words === '') return []
      // A result that comes later changes nothing about when and where its call was made, nor a new title about when it began.
      const isLater = stored && !told.call && (told.kind === 'tools' || told.at === undefined)
      const { agent, turn, at_ms } = isLater
        ? stored
        : { ...told, at_ms: told.at === undefined ? otherwiseMs : Date.parse(told.at) }
      const name = told.call?.name ?? (told.kind === 'tools' ? stored?.name : undefined)
      return [{ kind: told.kind, agent, turn, key, atMs: at_ms, name, bytes: Buffer.from(words) }]
    })
  }

  #storedCall(log: number, key: number): (StoredCall & CallPlace) | undefined {
    const row = this.db.get(
      'select tool, agent, turn, at_ms, block, start, length from passages where log = ? and key = ?',
      log,
      key,
    ) as (CallPlace & { tool: string | null; block: number; start: number; length: number }) | undefined
    return row && { ...row, name: row.tool ?? '', text: this.textOf(row) }
  }

  #writeLog({ log, from, text, place }: Omit<TextReading, 'facts'>): number {
    const { news } = text
    const values = [
      ...[log.path, partOf(log), log.tool, log.stamp, place],
      ...[log.session ?? news.spawner?.session ?? news.id ?? null, log.agent ?? news.spawner?.agent ?? null],
      news.cwd ?? from?.cwd ?? null,
    ]
    return (this.db.get(WRITE_LOG, ...values) as { n: number }).n
  }

  #removeAll(log: number): number {
    this.db.run('delete from words where rowid in (select id from passages where log = ?)', log)
    this.db.run('delete from text_blocks where log = ?', log)
    return this.db.run('delete from passages where log = ?', log)
  }

  #removeReplaced(log: number, passages: readonly StoredPassage[]): number {
    let removed = 0
    for (const { key } of passages) {
      const row = this.db.get('delete from passages where log = ? and key = ? returning id', log, key)
      if (!row) continue
      this.db.run('delete from words where rowid = ?', (row as { id: number }).id)
      removed += 1
    }
    return removed
  }

  /** Goes on in the log's last block as long as that is small: a log that grows by a line at a time would have a block per line. */
  #writeBlocks(
    program: string,
    from: StoredText | undefined,
    log: number,
    passages: readonly StoredPassage[],
  ): Placed[] {
    const placed: Placed[] = []
    const last = from && this.#lastBlock(log)
    let number = last && last.size < BLOCK_BYTES / 2 ? last.n : this.#nextBlock()
    let pieces: Buffer[] = last && number === last.n ? [this.block(last.n)] : []
    let size = pieces[0]?.length ?? 0
    const flush = (): void => {
      if (pieces.length === 0) return
      this.db.run(
        'insert or replace into text_blocks (n, log, size, data) values (?, ?, ?, ?)',
        number,
        log,
        size,
        packed(Buffer.concat(pieces, size)),
      )
      pieces = []
      size = 0
    }
    for (const passage of passages) {
      if (size > 0 && size + passage.bytes.length > BLOCK_BYTES) {
        flush()
        number = this.#nextBlock()
      }
      placed.push({ program, passage, log, block: number, start: size })
      pieces.push(passage.bytes)
      size += passage.bytes.length
    }
    flush()
    return placed
  }

  #lastBlock(log: number): { n: number; size: number } | undefined {
    return this.db.get('select n, size from text_blocks where log = ? order by n desc limit 1', log) as
      | { n: number; size: number }
      | undefined
  }

  #nextBlock(): number {
    return (this.db.get('select coalesce(max(n), 0) + 1 as n from text_blocks') as { n: number }).n
  }

  /** In the order of time. */
  #index(placed: readonly Placed[]): void {
    const sorted = placed.toSorted((a, b) => a.passage.atMs - b.passage.atMs)
    const [oldest, newest] = [sorted[0], sorted.at(-1)]
    if (!oldest || !newest) return
    const span = this.db.get('select first, last, max_ms from text_spans order by first desc limit 1') as
      | { first: number; last: number; max_ms: number }
      | undefined
    const first = (span?.last ?? 0) + 1
    sorted.forEach(({ program, passage, log, block, start }, at) => {
      const { kind, agent, turn, key, name, atMs, bytes } = passage
      const values = [log, key, agent, turn, PASSAGE_KINDS[kind], name ?? null, atMs, block, start, bytes.length]
      this.db.run(WRITE_PASSAGE, first + at, ...values)
      const ours = `${kindWord(kind)} ${toolWord(program)}${name ? ` ${toolWord(name)}` : ''}`
      this.db.run(WRITE_WORDS, first + at, Buffer.concat([bytes, Buffer.from(` ${ours}`)]))
    })
    const last = first + sorted.length - 1
    const [minMs, maxMs] = [oldest.passage.atMs, newest.passage.atMs]
    if (span && minMs >= span.max_ms - SPAN_SLACK_MS) {
      this.db.run(
        'update text_spans set last = ?, max_ms = max(max_ms, ?), min_ms = min(min_ms, ?) where first = ?',
        ...[last, maxMs, minMs, span.first],
      )
    } else
      this.db.run('insert into text_spans (first, last, min_ms, max_ms) values (?, ?, ?, ?)', first, last, minMs, maxMs)
  }
}

/** How many purges this file has seen. */
const PURGES = 'purges'
/** Stands where a fingerprint would. */
export const MIXED_POLICIES = 'mixed'

/** What is stored this little out of order joins the stretch before it: several agents at work would else begin one with every line. */
const SPAN_SLACK_MS = 3_600_000

/** A place in a log is a page of JSON for some tools; only whether two are the same matters here. */
export const placeOf = (resume: string | null | undefined): string | null =>
  resume ? createHash('sha1').update(resume).digest('base64').slice(0, 16) : null

export const placeAfter = (end: ReadingEnd | undefined): string | null => placeOf(end?.resume && resumeText(end.resume))

const hasTable = (db: Statements, name: string): boolean =>
  db.database.prepare('select 1 from sqlite_master where name = ?').get(name) !== undefined

function versionOf(db: Statements): string | undefined {
  if (!hasTable(db, 'text_facts')) return undefined
  const row = db.database.prepare("select value from text_facts where name = 'version'").get()
  return (row as { value: string } | undefined)?.value
}

const LOG_COLUMNS = 'path, part, tool, stamp, place, session, agent, cwd'
const WRITE_PASSAGE =
  'insert into passages (id, log, key, agent, turn, kind, tool, at_ms, block, start, length) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'
// As bytes: they are there already, and text would be turned into them once more.
const WRITE_WORDS = 'insert into words (rowid, text) values (?, cast(? as text))'
const WRITE_LOG = `insert into text_logs (${LOG_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (path, part) do update set tool = excluded.tool, stamp = excluded.stamp, place = excluded.place,
    session = coalesce(excluded.session, session), agent = coalesce(excluded.agent, agent), cwd = coalesce(excluded.cwd, cwd)
  returning n`
