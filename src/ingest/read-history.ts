import {
  type Archive,
  type ArchiveBatch,
  type ArchiveKey,
  FactFilter,
  isCut,
  originOf,
  type SealedBatch,
  type Standing,
} from '../archive/index.js'
import type { SessionId } from '../model/index.js'
import { type Policy, policyFingerprint } from '../privacy/index.js'
import { type Fact, LOG_TOOLS, type LogRef } from '../tools/index.js'
import { FactForgetter, type Oblivion } from './forget-facts.js'
import { type HistoryStore, type LogReadingDone, resumeOf, type StoredLog } from './history-store.js'
import { LogRows } from './log-rows.js'
import { LogText } from './log-text.js'
import { type KnownPassage, type ReadyText, readyText, type StoredText, type TextReading } from './ready-text.js'
import { partOf } from './stored-stamps.js'
import { placeAfter, placeOf } from './text-place.js'
import { MIXED_POLICIES, type TextStore } from './text-store.js'

/** A batch is stored in one transaction: large enough to be quick, small enough to lose little when the process is killed. */
const BATCH = { logs: 1_000, rows: 60_000, characters: 24_000_000 }

export interface HistoryReading {
  /** Logs looked at, and those of them that had changed and were read. */
  logs: number
  read: number
  bytes: number
  turns: number
  tool_calls: number
  unreadable: { path: string; reason: string }[]
}

/** Where everything goes, and what may be kept of a session that works in a directory. */
export interface Stores {
  history: HistoryStore
  text: TextStore
  archive: Archive
  policyFor(cwd: string | undefined): Promise<Policy>
  /** Whether nothing more is to be expected of a log soon. */
  isOver(log: LogRef): boolean
  /** False leaves what was said for later: only turns, tool calls and the ledger are brought up to date. */
  words: boolean
  /** Names this ingest in what is counted. */
  run: string
  /** What was purged when this began. */
  oblivion: Oblivion | undefined
  /** Whether nothing was purged since. */
  isCurrent(): boolean
}

/** A log, or what the archive has of one that its tool has deleted. */
export interface LogSource {
  log: LogRef
  archived?: ArchiveKey
  /** No store had anything of it when this began. One that another process has stored since is left to that one. */
  isUnknown?: boolean
  /** It is read from its beginning, though it is as it was: another log that has a part of its history was not there before. */
  isAgain?: boolean
}

/** One reading of one log: what it adds to each store that lacked something. */
interface Reading {
  log: LogRef
  rows: LogReadingDone | undefined
  text: LogText | undefined
  textFrom: StoredText | undefined
  /** How far the archive goes. */
  standing: Standing | undefined
  /** The words were read from the archive: they are filtered already, and not to be archived. */
  isArchived: boolean
  isAgain: boolean
}

/** A reading in the shape in which each store keeps it. A batch of these takes a fraction of the memory that what was read does. */
interface ReadyReading {
  rows: LogReadingDone | undefined
  batch: ArchiveBatch | SealedBatch | undefined
  text: ReadyText | undefined
}

/**
 * Brings archive, turns, tool calls and text up to date with the logs: unchanged ones are passed over, grown ones are read from where
 * they were left. Each store keeps its place, so that each can be lost by itself, and a process can be killed between two of them;
 * where the places differ, the words are read again from the log's beginning.
 */
export async function readHistory(
  stores: Stores,
  sources: Iterable<LogSource>,
  /** Told after each log that was read. */
  onLog: (reading: Readonly<HistoryReading>) => void,
): Promise<HistoryReading> {
  const report: HistoryReading = { logs: 0, read: 0, bytes: 0, turns: 0, tool_calls: 0, unreadable: [] }
  let batch: ReadyReading[] = []
  let size = { rows: 0, characters: 0 }
  const flush = async (): Promise<void> => {
    await record(stores, batch)
    batch = []
    size = { rows: 0, characters: 0 }
  }
  for (const source of sources) {
    report.logs += 1
    try {
      const reading = source.archived ? readArchived(stores, source.log, source.archived) : readChanged(stores, source)
      if (!reading) continue
      batch.push(await ready(stores, reading))
      report.read += 1
      size.characters += reading.text?.length ?? 0
      if (reading.rows) {
        const { rows, from } = reading.rows
        size.rows += rows.turns.size + rows.calls.size
        report.bytes += Math.max(0, (rows.checkpoint?.resume?.offset ?? 0) - (resumeOf(from)?.offset ?? 0))
        report.turns += rows.turns.size
        report.tool_calls += rows.calls.size
      }
    } catch (error) {
      // Logs come and go while we look: one that is gone or forbidden must not hide the others.
      const reason = (error as NodeJS.ErrnoException).code
      if (reason === undefined) throw error
      report.unreadable.push({ path: source.log.path, reason })
    }
    onLog(report)
    if (batch.length >= BATCH.logs || size.rows >= BATCH.rows || size.characters >= BATCH.characters) await flush()
  }
  await flush()
  return report
}

function readChanged(stores: Stores, source: LogSource): Reading | undefined {
  const { log, isUnknown = false, isAgain = false } = source
  const { history, text, archive } = stores
  const from = isUnknown ? undefined : history.log(log.path, partOf(log))
  const needsRows = isAgain || from?.stamp !== log.stamp
  if (!stores.words) return needsRows ? readRows(stores, source, from) : undefined
  const key = archive.keyOf(originOf(log))
  const textFrom = isUnknown ? undefined : text.log(log.path, partOf(log))
  const standing = isUnknown ? undefined : archive.standing(key)
  const needsText = isAgain || textFrom?.stamp !== log.stamp
  if (!isAgain && wasCut(log, standing)) return readArchived(stores, log, key)
  // Without a stamp its words are to be read again from the log itself: another policy holds now.
  const isArchived = !isAgain && standing?.stamp === log.stamp && textFrom?.stamp !== ''
  if (!needsRows && !needsText && isArchived) return undefined
  const forget = forgetterFor(stores, textFrom)
  const start = isAgain ? undefined : from
  const rows = needsRows ? rowsAfter(stores, source, from) : undefined
  const done = { log, rows: rows && { log, from, rows }, textFrom, standing, isAgain }
  if (isArchived) {
    if (rows) readLog(log, start, [rows], forget)
    // What was taken out of the archive on purpose must not come back from the log.
    const words = needsText ? archivedWords(archive, key) : undefined
    if (words || !needsText) return { ...done, text: words, isArchived }
  }
  const words = new LogText()
  const place = placeOf(start?.resume)
  const isTogether = rows && !isArchived && place === (textFrom?.place ?? null) && place === (standing?.place ?? null)
  if (rows && !isArchived) readLog(log, start, isTogether ? [rows, words] : [rows], forget)
  if (!isTogether) readLog(log, undefined, [words], forget)
  if (!isTogether || !resumeOf(start)) words.isRestarted = true
  return isSessionGone(stores, log, rows ?? words) ? undefined : { ...done, text: words, isArchived: false }
}

/** Turns, tool calls and the ledger only. */
function readRows(stores: Stores, source: LogSource, from: StoredLog | undefined): Reading | undefined {
  const { log, isAgain = false } = source
  const textFrom = stores.oblivion ? stores.text.log(log.path, partOf(log)) : undefined
  const rows = rowsAfter(stores, source, from)
  readLog(log, isAgain ? undefined : from, [rows], forgetterFor(stores, textFrom))
  if (isSessionGone(stores, log, rows)) return undefined
  const done = { log, rows: { log, from, rows }, textFrom, standing: undefined, text: undefined }
  return { ...done, isArchived: false, isAgain }
}

function rowsAfter({ history }: Stores, { log, isAgain }: LogSource, from: StoredLog | undefined): LogRows {
  const isMore = !isAgain && resumeOf(from) !== undefined
  const rows = new LogRows(log.tool, isMore && from ? history.knownRows(from) : undefined)
  if (from && !isMore) rows.isRestarted = true
  return rows
}

function forgetterFor({ oblivion, text }: Stores, textFrom: StoredText | undefined): FactForgetter {
  const wasPurged = (call: string): boolean => textFrom !== undefined && text.wasPurged(textFrom, call)
  return new FactForgetter(oblivion?.forgetter.isEmpty ? undefined : oblivion?.forgetter, wasPurged)
}

function isSessionGone({ oblivion }: Stores, log: LogRef, { news }: Pick<LogText, 'news'>): boolean {
  const owner = log.session ?? news.spawner?.session ?? news.id
  return owner !== undefined && (oblivion?.isSessionGone(owner) ?? false)
}

/** Only what is not known at all: what was read while the log was there is never less. */
function readArchived({ history, text, archive }: Stores, log: LogRef, key: ArchiveKey): Reading | undefined {
  const from = history.log(log.path, partOf(log))
  const textFrom = text.log(log.path, partOf(log))
  if (from && textFrom) return undefined
  const words = archivedWords(archive, key)
  if (!words) return undefined
  const rows = from ? undefined : new LogRows(log.tool, undefined)
  for (const fact of words.facts) rows?.add(fact)
  if (rows) rows.checkpoint = words.checkpoint
  const standing = archive.standing(key)
  const done = { log, rows: rows && { log, from, rows }, textFrom, standing, isArchived: true, isAgain: false }
  return { ...done, text: textFrom ? undefined : words }
}

/** Whether the archive has more of a log than the log itself, which was cut. */
export function wasCut(log: LogRef, standing: Pick<Standing, 'place' | 'stamp'> | undefined): boolean {
  if (standing?.place !== null || standing.stamp !== log.stamp) return false
  return LOG_TOOLS.find((one) => one.name === log.tool)?.can.append.yes ?? false
}

function archivedWords(archive: Archive, key: ArchiveKey): LogText | undefined {
  const content = archive.read(key)
  if (!content || content.problems.length > 0) return undefined
  const words = new LogText()
  words.isRestarted = true
  for (const fact of content.facts) words.add(fact)
  const { counters, head } = content.standing
  if (counters && head) words.checkpoint = { counters, head }
  return words
}

function readLog(
  log: LogRef,
  from: Pick<StoredLog, 'resume'> | undefined,
  readers: readonly Pick<LogText, 'add'>[],
  forget: FactForgetter,
): void {
  const tool = LOG_TOOLS.find((one) => one.name === log.tool)
  if (!tool) throw new Error(`no reader for the logs of ${log.tool}`)
  const resume = resumeOf(from)
  for (const fact of tool.read(log, resume ? { from: resume } : {})) {
    const storable = forget.storable(fact)
    for (const reader of readers) reader.add(storable)
  }
}

/** Filters it, and makes of it what is stored: all that needs no lock. */
async function ready(stores: Stores, reading: Reading): Promise<ReadyReading> {
  const { log, rows, text: told, textFrom: from, isArchived } = reading
  if (!told) return { rows, batch: undefined, text: undefined }
  const kept = await keptWords(stores, reading, told)
  const cut = cutReading(stores, reading, told, kept)
  if (cut) return cut
  // Where nothing is new for the text, it was the archive that lacked something.
  const isKnown = !reading.isAgain && from?.stamp === log.stamp && from.place === kept.place
  const stored = (n: number, key: number): KnownPassage | undefined => stores.text.storedPassage(n, key)
  const { text, words } = isKnown
    ? { text: undefined, words: undefined }
    : readyText({ log, from, text: told, ...kept }, stored)
  const batch = isArchived ? undefined : stores.archive.compressed(archiveBatch(stores, reading, told, kept), words)
  return { rows, batch, text }
}

/**
 * A log that was cut has nothing to add, and what it said before is still kept: then only how it looks now is noted. Without a place to go
 * on from it is read from its beginning as soon as it says something else, and replaced like any other that was rewritten.
 */
function cutReading(stores: Stores, reading: Reading, told: LogText, kept: KeptWords): ReadyReading | undefined {
  const { log, rows, textFrom, standing, isArchived, isAgain } = reading
  const from = rows?.from
  if (!told.isRestarted || isArchived || isAgain || !from || !textFrom || !standing) return undefined
  if (standing.policy !== kept.policy || !LOG_TOOLS.find((one) => one.name === log.tool)?.can.append.yes)
    return undefined
  const before = stores.archive.read(stores.archive.keyOf(originOf(log)))
  if (!before || before.problems.length > 0 || !isCut(before.facts, kept.facts)) return undefined
  const { counters, head, facts: _facts, bytes: _bytes, ...known } = standing
  const unchanged = new LogRows(log.tool, stores.history.knownRows(from))
  if (counters && head) unchanged.checkpoint = { counters, head }
  const { stamp, size, modified_at } = log
  const noted = { ...known, counters, head, place: null, stamp, size, modified_at }
  const { policy } = kept
  const nothing = { log, from: textFrom, text: new LogText(), facts: [], place: null, policy }
  return {
    rows: { log, from, rows: unchanged },
    batch: { log, facts: [], from: standing.place, isWhole: false, isOver: stores.isOver(log), standing: noted },
    text: readyText(nothing, () => undefined).text,
  }
}

/** The archive first: what the other two know of a log is never more than what is kept of it for good. */
async function record({ history, text, archive, ...stores }: Stores, batch: readonly ReadyReading[]): Promise<void> {
  if (batch.length === 0) return
  const archived = batch.flatMap((reading) => reading.batch ?? [])
  const overtaken = new Set(archived.length > 0 ? await archive.write(archived, stores.isCurrent) : [])
  // Another process has archived more of these: it will tell the rest, too.
  const ours = batch.filter((reading) => !reading.batch || !overtaken.has(reading.batch))
  const generation = stores.oblivion?.generation ?? 0
  const rows = ours.flatMap((reading) => reading.rows ?? [])
  if (rows.length > 0) history.record(rows, generation)
  const texts = ours.flatMap((reading) => reading.text ?? [])
  if (texts.length > 0) text.record(texts, { run: stores.run, generation })
}

/** What may be kept of the words of a reading, what made it so, and up to where in the log they go. */
type KeptWords = Pick<TextReading, 'facts' | 'place' | 'policy' | 'redactions'>

/** What is in the archive was filtered when it came there. */
async function keptWords(stores: Stores, reading: Reading, told: LogText): Promise<KeptWords> {
  const { log, textFrom, isArchived, standing } = reading
  if (isArchived) return { facts: told.facts, place: standing?.place ?? null, policy: standing?.policy }
  const known = told.isRestarted ? undefined : textFrom
  const policy = await stores.policyFor(told.news.cwd ?? known?.cwd ?? undefined)
  const filter = new FactFilter({
    policy,
    isOfSubAgent: log.agent !== undefined || told.news.spawner !== undefined || (known?.agent ?? null) !== null,
    toolOf: (call) => known && stores.text.toolOf(known, call),
  })
  const facts: Fact[] = []
  for (const fact of told.facts) {
    const kept = filter.kept(fact)
    if (kept) facts.push(kept)
  }
  const redactions = { session: sessionOf(log, told) ?? standing?.session, tools: filter.applied }
  return { facts, place: placeAfter(told.checkpoint), policy: policyFingerprint(policy), redactions }
}

const sessionOf = (log: LogRef, { news }: LogText): SessionId | undefined =>
  log.session ?? news.spawner?.session ?? news.id

function archiveBatch(
  stores: Stores,
  { log, standing }: Reading,
  told: LogText,
  { facts, place, policy }: KeptWords,
): ArchiveBatch {
  const { news, checkpoint, lastAt } = told
  const isWhole = told.isRestarted || standing === undefined
  return {
    log,
    facts,
    from: standing?.place,
    isWhole,
    isOver: stores.isOver(log),
    standing: {
      place,
      stamp: log.stamp,
      size: log.size,
      modified_at: log.modified_at,
      session: sessionOf(log, told),
      policy: isWhole || standing?.policy === policy ? policy : MIXED_POLICIES,
      agent: log.agent ?? news.spawner?.agent,
      cwd: news.cwd,
      last_at: lastAt,
      counters: checkpoint?.counters,
      head: checkpoint?.head,
    },
  }
}
