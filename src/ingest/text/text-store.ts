import { closeSync, openSync } from 'node:fs'
import { BLOCK_BYTES, type BlockPlace, packPassages, unpackedBlock } from '../../archive/index.js'
import { openDatabase, openToRead, RowWriter, refuseForeign, Statements } from '../../disk/index.js'
import { partOf, type StoredPlace, stampsIn } from '../turns/stored-stamps.js'
import { callKey, keyNumber, kindOf, PASSAGE_KINDS, PURGED_CALL_TEXT, wordsBeside } from './passage.js'
import type { KnownPassage, ReadyPassage, ReadyText, StoredText } from './ready-text.js'
import { saveRedactions } from './redaction-count.js'
import { LATER_TABLES, makeTextTables, TEXT_VERSION } from './text-schema.js'

/** What a batch of readings is part of. */
export interface RecordedRun {
  /** Names it in what is counted. */
  run: string
  /** Purges that it knows of. */
  generation: number
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
  passage: ReadyPassage
  log: number
  block: number
  start: number
}

/** The filtered words of every log, compressed, with an index over them. Derived from the logs, and filled again when it is gone. */
export class TextStore implements Disposable {
  private constructor(readonly db: Statements) {}

  static open(path: string): TextStore {
    refuseForeign(path)
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
        // Larger pages than usual: text comes in bulk, and every page is two ways into the kernel, and one more later. A small cache: a large
        // one fills up with every log and is no quicker, because the system keeps the pages too.
        'pragma page_size = 16384; pragma busy_timeout = 30000; pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -8192; pragma wal_autocheckpoint = 8000',
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
  places(): StoredPlace[] {
    return this.db.all('select path, part, tool, stamp from text_logs') as StoredPlace[]
  }

  stamps(): Map<string, string> {
    return stampsIn(this.db, 'text_logs')
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
    return this.storedPassage(log.n, keyNumber(callKey(call)))?.text.includes(PURGED_CALL_TEXT) ?? false
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
    return unpackedBlock((this.db.get('select data from text_blocks where n = ?', n) as { data: Uint8Array }).data)
  }

  /**
   * All of it or nothing. A reading that another process has overtaken meanwhile is dropped: that one knows more. What was read before
   * the last purge may hold what was purged, so it is dropped too.
   */
  record(readings: readonly ReadyText[], { run, generation }: RecordedRun): void {
    this.db.inTransaction(() => {
      if (!this.admits(generation)) return
      let removed = 0
      const placed: Placed[] = []
      for (const reading of readings) {
        const { from, passages } = reading
        const now = from && this.log(reading.log.path, partOf(reading.log))
        if (from && (now?.place !== from.place || now.stamp !== from.stamp)) continue
        const log = this.#writeLog(reading)
        if (log === undefined) continue
        this.#notePolicy(log, reading.policy, from && !reading.isRestarted)
        if (reading.redactions) saveRedactions(this.db, reading.redactions, run)
        if (from && reading.isRestarted) removed += this.#removeAll(log)
        else if (from) removed += this.#removeReplaced(log, passages)
        for (const one of this.#writeBlocks(reading.log.tool, log, reading)) placed.push(one)
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
        const added = this.db.insert(
          ADD_LOG,
          ...[log.path, log.part, log.tool, log.stamp, log.place, log.session, log.agent, log.cwd],
        )
        if (added === undefined) return
        this.#notePolicy(added, other.#policyOf(n), false)
        this.#index(this.#writeBlocks(log.tool, added, { from: undefined, passages, packed: undefined }))
        this.#countPassages(passages.length)
      })
    }
  }

  [Symbol.dispose](): void {
    this.db.database.close()
  }

  #passagesOf(log: number): ReadyPassage[] {
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

  /** What is stored of a call or a title already. */
  storedPassage(log: number, key: number): KnownPassage | undefined {
    const row = this.db.get(
      'select tool, agent, turn, at_ms, block, start, length from passages where log = ? and key = ?',
      log,
      key,
    ) as (CallPlace & { tool: string | null; block: number; start: number; length: number }) | undefined
    return row && { ...row, name: row.tool ?? '', text: this.textOf(row) }
  }

  /** Undefined when the log was not known and now is: another process has read it meanwhile. */
  #writeLog({ log, from, place, session, agent, cwd }: ReadyText): number | undefined {
    const values = [log.path, partOf(log), log.tool, log.stamp, place, session, agent, cwd]
    if (!from) return this.db.insert(ADD_LOG, ...values)
    this.db.run(CHANGE_LOG, ...values.slice(2), from.n)
    return from.n
  }

  #removeAll(log: number): number {
    this.db.run('delete from words where rowid in (select id from passages where log = ?)', log)
    this.db.run('delete from text_blocks where log = ?', log)
    return this.db.run('delete from passages where log = ?', log)
  }

  #removeReplaced(log: number, passages: readonly ReadyPassage[]): number {
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
    log: number,
    { from, passages, packed }: Pick<ReadyText, 'from' | 'passages' | 'packed'>,
  ): Placed[] {
    const last = from && this.#lastBlock(log)
    const begun = last && last.size < BLOCK_BYTES / 2 ? last.n : undefined
    const { blocks, places } = packed ?? packPassages(passages, begun === undefined ? undefined : this.block(begun))
    const first = begun ?? this.#nextBlock()
    const next = begun === undefined ? first + 1 : this.#nextBlock()
    const numberOf = (block: number): number => (block === 0 ? first : next + block - 1)
    if (begun !== undefined && blocks.length > 0) this.db.run('delete from text_blocks where n = ?', begun)
    for (const [at, { size, data }] of blocks.entries()) this.db.run(ADD_BLOCK, numberOf(at), log, size, data)
    return passages.map((passage, at) => {
      const { block, start } = places[at] as BlockPlace
      return { program, passage, log, block: numberOf(block), start }
    })
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
    const rows = new RowWriter(this.db, 'passages', PASSAGE_COLUMNS)
    sorted.forEach(({ passage, log, block, start }, at) => {
      const { kind, agent, turn, key, name, atMs, bytes } = passage
      const id = first + at
      rows.add([id, log, key, agent, turn, PASSAGE_KINDS[kind], name ?? null, atMs, block, start, bytes.length])
    })
    rows.flush()
    sorted.forEach(({ program, passage: { kind, name, bytes } }, at) => {
      this.db.run(WRITE_WORDS, first + at, bytes, wordsBeside(kind, program, name))
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
/** Used in place of a fingerprint. */
export const MIXED_POLICIES = 'mixed'

/** What is stored this little out of order joins the stretch before it: several agents at work would else begin one with every line. */
const SPAN_SLACK_MS = 3_600_000

const hasTable = (db: Statements, name: string): boolean =>
  db.database.prepare('select 1 from sqlite_master where name = ?').get(name) !== undefined

function versionOf(db: Statements): string | undefined {
  if (!hasTable(db, 'text_facts')) return undefined
  const row = db.database.prepare("select value from text_facts where name = 'version'").get()
  return (row as { value: string } | undefined)?.value
}

const LOG_COLUMNS = 'path, part, tool, stamp, place, session, agent, cwd'
const ADD_BLOCK = 'insert into text_blocks (n, log, size, data) values (?, ?, ?, ?)'
const PASSAGE_COLUMNS = ['id', 'log', 'key', 'agent', 'turn', 'kind', 'tool', 'at_ms', 'block', 'start', 'length']
// As bytes: they are there already, and text would be turned into them once more.
const WRITE_WORDS = 'insert into words (rowid, text) values (?, cast(? as text) || ?)'
const ADD_LOG = `insert or ignore into text_logs (${LOG_COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?)`
const CHANGE_LOG = `update text_logs set tool = ?, stamp = ?, place = ?, session = coalesce(?, session), agent = coalesce(?, agent),
  cwd = coalesce(?, cwd) where n = ?`
