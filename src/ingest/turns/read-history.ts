import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  type ArchiveBatch,
  type ArchiveKey,
  FactFilter,
  isCut,
  originOf,
  type SealedBatch,
} from '../../archive/index.js'
import type { SessionId } from '../../model/index.js'
import { policyFingerprint } from '../../privacy/index.js'
import { type Fact, LOG_TOOLS, type LogRef } from '../../tools/index.js'
import { LogText } from '../text/log-text.js'
import { type KnownPassage, type ReadyText, readyText, type TextReading } from '../text/ready-text.js'
import { placeAfter } from '../text/text-place.js'
import { MIXED_POLICIES } from '../text/text-store.js'
import { type LogReadingDone, resumeOf } from './history-store.js'
import { type LogSource, type Reading, readingsOf, type Stores } from './log-readings.js'
import { LogRows } from './log-rows.js'

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

/** A reading in the shape in which each store keeps it. A batch of these takes a fraction of the memory that what was read does. */
interface ReadyReading {
  rows: LogReadingDone | undefined
  batch: ArchiveBatch | SealedBatch | undefined
  text: ReadyText | undefined
  /** It was the last of several slices: now it is known whether the log lacks what it said before. */
  settles?: ArchiveKey | undefined
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
    if (stores.isStopped?.()) break
    report.logs += 1
    stores.onReading?.(source.log)
    try {
      let isNew = true
      for (const reading of readingsOf(stores, source)) {
        if (isNew) report.read += 1
        isNew = false
        batch.push(await ready(stores, reading))
        size.characters += reading.text?.length ?? 0
        size.rows += count(report, reading)
        if (reading.isLast) continue
        await flush()
        onLog(report)
        stores.onReading?.(source.log)
        await nextTurn()
        if (stores.isStopped?.()) break
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

/** Returns how many rows it has. */
function count(report: HistoryReading, { rows: done, isFirst }: Reading): number {
  if (!done) return 0
  const { rows, from } = done
  const before = rows.isRestarted ? undefined : resumeOf(from)
  report.bytes += Math.max(0, (rows.checkpoint?.resume?.offset ?? 0) - (before?.offset ?? 0))
  // What a slice goes on with was counted with the one before.
  report.turns += isFirst ? rows.turns.size : rows.added.turns
  report.tool_calls += isFirst ? rows.calls.size : rows.added.calls
  return rows.turns.size + rows.calls.size
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
  const settles = reading.isLast && !reading.isFirst && batch ? stores.archive.keyOf(originOf(log)) : undefined
  return { rows, batch, text, settles }
}

/**
 * A log that was cut has nothing to add, and what it said before is still kept: then only how it looks now is noted. Without a place to go
 * on from it is read from its beginning as soon as it says something else, and replaced like any other that was rewritten.
 */
function cutReading(stores: Stores, reading: Reading, told: LogText, kept: KeptWords): ReadyReading | undefined {
  const { log, rows, textFrom, standing, isArchived, isAgain } = reading
  const from = rows?.from
  const isWhole = told.isRestarted && reading.isFirst && reading.isLast
  if (!isWhole || isArchived || isAgain || !from || !textFrom || !standing) return undefined
  if (standing.policy !== kept.policy || !LOG_TOOLS.find((one) => one.name === log.tool)?.can.append.yes)
    return undefined
  using before = stores.archive.open(stores.archive.keyOf(originOf(log)))
  if (!before || !isCut(before.facts(), kept.facts) || before.problems.length > 0) return undefined
  const { counters, head, facts: _facts, bytes: _bytes, ...known } = standing
  const unchanged = new LogRows(log.tool, stores.history.knownRows(from))
  if (counters && head) unchanged.checkpoint = { counters, head }
  const { stamp, size, modified_at } = log
  const noted = { ...known, counters, head, place: null, stamp, size, modified_at }
  const { policy } = kept
  const nothing = { log, from: textFrom, text: new LogText(), facts: [], place: null, policy }
  return {
    rows: { ...rows, rows: unchanged },
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
  const generation = stores.purgeFilter?.generation ?? 0
  const rows = ours.flatMap((reading) => reading.rows ?? [])
  if (rows.length > 0) history.record(rows, generation)
  const texts = ours.flatMap((reading) => reading.text ?? [])
  if (texts.length > 0) text.record(texts, { run: stores.run, generation })
  for (const { settles } of ours) if (settles) await archive.settle(settles)
}

/** What may be kept of the words of a reading, what made it so, and up to where in the log they go. */
type KeptWords = Pick<TextReading, 'facts' | 'place' | 'policy' | 'redactions'>

/** What is in the archive was filtered when it came there. */
async function keptWords(stores: Stores, reading: Reading, told: LogText): Promise<KeptWords> {
  const { log, textFrom, isArchived, standing } = reading
  if (isArchived) {
    const place = reading.isLast ? (standing?.place ?? null) : null
    return { facts: told.facts, place, policy: standing?.policy }
  }
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
  { log, standing, isLast }: Reading,
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
    isOver: isLast && stores.isOver(log),
    isPart: !isLast,
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
