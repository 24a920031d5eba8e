import { type Archive, type ArchiveKey, FactForgetter, originOf, type ReadMark } from '../../archive/index.js'
import type { Instant } from '../../model/index.js'
import type { Policy, PurgeFilter } from '../../privacy/index.js'
import { type Fact, LOG_TOOLS, type LogRef, type LogTool } from '../../tools/index.js'
import { LogText } from '../text/log-text.js'
import type { StoredText } from '../text/ready-text.js'
import { resumeText } from '../text/resume-text.js'
import { placeAfter, placeOf } from '../text/text-place.js'
import type { TextStore } from '../text/text-store.js'
import { type HistoryStore, type LogReadingDone, resumeOf, type StoredLog } from './history-store.js'
import { LogRows, type ReadingEnd } from './log-rows.js'
import { isPart, partStamp } from './part-stamp.js'
import { partOf } from './stored-stamps.js'

/** What a slice may hold where the log gives no place to stop at: facts, and characters of text. */
const MOST = { facts: 100_000, characters: 16_000_000 }

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
  purgeFilter: PurgeFilter | undefined
  /** Whether nothing was purged since. */
  isCurrent(): boolean
  /** Called with a log before it is read, and after each slice of it. */
  onReading?: ((log: LogRef) => void) | undefined
  /** Whether to stop, between two slices. */
  isStopped?: (() => boolean) | undefined
  /** Finds a directory by the SHA-256 of its path. */
  directoryOf?: ((hash: string) => string | undefined) | undefined
  /** About how much of a log is read and stored at a time; the tool's own measure when absent. */
  sliceBytes?: number | undefined
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

/** One reading of one log, or a slice of one: what it adds to each store that lacked something. */
export interface Reading {
  /** Its stamp is that of a part, unless this is the last slice. */
  log: LogRef
  rows: LogReadingDone | undefined
  text: LogText | undefined
  textFrom: StoredText | undefined
  /** How far the archive goes. */
  standing: ReadMark | undefined
  /** The words were read from the archive: they are filtered already, and not to be archived. */
  isArchived: boolean
  isAgain: boolean
  /** Whether this is the first and the last slice of it. */
  isFirst: boolean
  isLast: boolean
}

/**
 * Reads what the stores lack of a log, a slice at a time, so that the memory it takes does not grow with the log. Whoever asks for the
 * next slice has stored the one before; a reading that another process has overtaken ends there.
 */
export function* readingsOf(stores: Stores, source: LogSource): Generator<Reading, void> {
  if (source.archived) return yield* readArchived(stores, source.log, source.archived)
  const { log, isUnknown = false, isAgain = false } = source
  const { history, text, archive } = stores
  const from = isUnknown ? undefined : history.log(log.path, partOf(log))
  const needsRows = isAgain || from?.stamp !== log.stamp
  const start = isAgain ? undefined : from
  if (!stores.words) {
    if (!needsRows) return
    const textFrom = stores.purgeFilter ? text.log(log.path, partOf(log)) : undefined
    return yield* readSlices(stores, log, {
      start,
      from,
      textFrom,
      standing: undefined,
      rows: true,
      words: false,
      isAgain,
    })
  }
  const key = archive.keyOf(originOf(log))
  const textFrom = isUnknown ? undefined : text.log(log.path, partOf(log))
  const standing = isUnknown ? undefined : archive.standing(key)
  const needsText = isAgain || textFrom?.stamp !== log.stamp
  if (!isAgain && wasCut(log, standing)) return yield* readArchived(stores, log, key)
  // Without a stamp its words are to be read again from the log itself: another policy holds now.
  const isArchived = !isAgain && standing?.stamp === log.stamp && textFrom?.stamp !== ''
  if (!needsRows && !needsText && isArchived) return
  const known = { from, textFrom, standing, isAgain }
  if (isArchived) {
    if (needsRows) yield* readSlices(stores, log, { ...known, start, rows: true, words: false })
    if (!needsText) return
    // What was taken out of the archive on purpose must not come back from the log.
    if (yield* archivedSlices(stores, log, key, { ...known, rows: false, words: true })) return
    const again = { ...known, textFrom: text.log(log.path, partOf(log)) }
    return yield* readSlices(stores, log, { ...again, start: undefined, rows: false, words: true })
  }
  const place = placeOf(start?.resume)
  const isTogether = needsRows && place === (textFrom?.place ?? null) && place === (standing?.place ?? null)
  yield* readSlices(stores, log, { ...known, start: isTogether ? start : undefined, rows: needsRows, words: true })
}

/** What the stores had of a log when a reading of it began. */
interface Known {
  from: StoredLog | undefined
  textFrom: StoredText | undefined
  standing: ReadMark | undefined
  isAgain: boolean
}

/** What is to be made of it. */
interface Wanted {
  rows: boolean
  words: boolean
}

interface Plan extends Known, Wanted {
  /** Where to go on from; undefined to read all of it. */
  start: StoredLog | undefined
}

const toolOf = (log: LogRef): LogTool | undefined => LOG_TOOLS.find((one) => one.name === log.tool)

/** One pass through a log. It is never opened again in between: then it would know less of what came before. */
function* readSlices(stores: Stores, log: LogRef, plan: Plan): Generator<Reading, void> {
  const tool = toolOf(log)
  if (!tool) throw new Error(`no reader for the logs of ${log.tool}`)
  const resume = resumeOf(plan.start)
  const forget = forgetterFor(stores, plan.textFrom)
  const slices = new Slices(stores, log, plan, { isArchived: false, isMore: resume !== undefined })
  const { sliceBytes, directoryOf } = stores
  const options = {
    ...(resume ? { from: resume } : {}),
    ...(sliceBytes ? { checkpointBytes: sliceBytes } : {}),
    ...(directoryOf ? { directoryOf } : {}),
  }
  for (const fact of tool.read(log, options)) {
    if (slices.isFull) {
      if (slices.isFirst && isSessionGone(stores, log, slices)) return
      yield slices.part()
      if (!slices.next()) return
    }
    slices.add(forget.storable(fact))
  }
  if (!slices.isFirst || !isSessionGone(stores, log, slices)) yield slices.last()
}

/** What the archive has. Returns whether that was sound, so that all of it was read. */
function* archivedSlices(
  stores: Stores,
  log: LogRef,
  key: ArchiveKey,
  plan: Known & Wanted,
): Generator<Reading, boolean> {
  using archived = stores.archive.open(key)
  if (!archived) return false
  const slices = new Slices(stores, log, plan, { isArchived: true, isMore: false })
  for (const fact of archived.facts()) {
    if (slices.isFull) {
      yield slices.part()
      if (!slices.next()) return true
    }
    slices.add(fact)
  }
  if (archived.problems.length > 0) return false
  const { counters, head } = archived.standing
  if (counters && head) slices.endAt({ counters, head })
  yield slices.last()
  return true
}

/** Only what is not known at all: what was read while the log was there is never less. */
function* readArchived(stores: Stores, log: LogRef, key: ArchiveKey): Generator<Reading, void> {
  const { history, text, archive } = stores
  const from = history.log(log.path, partOf(log))
  const textFrom = text.log(log.path, partOf(log))
  const [rows, words] = [from, textFrom].map((stored) => !stored || isPart(stored.stamp)) as [boolean, boolean]
  if (!rows && !words) return
  yield* archivedSlices(stores, log, key, {
    from,
    textFrom,
    standing: archive.standing(key),
    isAgain: false,
    rows,
    words,
  })
}

/** Collects what is read of a log until it is enough to be stored. */
class Slices {
  isFirst = true
  isFull = false
  #known: Known
  #rows: LogRows | undefined
  #words: LogText | undefined
  readonly #part: LogRef
  #startedAt: Instant | undefined
  #told = 0

  constructor(
    private readonly stores: Stores,
    private readonly log: LogRef,
    private readonly plan: Known & Wanted,
    private readonly how: { isArchived: boolean; isMore: boolean },
  ) {
    this.#known = plan
    this.#part = { ...log, stamp: partStamp(log.stamp) }
    if (how.isMore && plan.from) this.#startedAt = stores.history.newsOf(plan.from).started_at
    this.#begin(how.isMore)
  }

  get news(): LogText['news'] {
    return this.#rows?.news ?? this.#words?.news ?? {}
  }

  add(fact: Fact): void {
    this.#rows?.add(fact)
    this.#words?.add(fact)
    if (fact.kind === 'checkpoint') {
      // Written down at once: a place may hold lists that grow as the log is read on.
      resumeText(fact.resume)
      this.isFull = true
      return
    }
    if (fact.kind === 'session') this.#startedAt = fact.started_at ?? this.#startedAt
    // Where no checkpoint comes for long, a process that is killed has to begin again. Asked now and then: facts come by the million.
    this.#told += 1
    if (this.#told % 256 === 0 && this.#isMuch()) this.isFull = true
  }

  endAt(end: ReadingEnd): void {
    if (this.#rows) this.#rows.checkpoint = end
    if (this.#words) this.#words.checkpoint = end
  }

  part(): Reading {
    return this.#slice(this.#part, false)
  }

  last(): Reading {
    return this.#slice(this.log, true)
  }

  /** Goes on behind the part that was stored. False when the stores do not have it: another process is at it, or something was purged. */
  next(): boolean {
    const { history, text, archive } = this.stores
    const { path } = this.log
    const part = partOf(this.log)
    const before = this.#known
    const from = this.#rows ? history.log(path, part) : before.from
    const textFrom = this.#words ? text.log(path, part) : before.textFrom
    const isWritten = this.#words && !this.how.isArchived
    const standing = isWritten ? archive.standing(archive.keyOf(originOf(this.log))) : before.standing
    const resume = this.#rows?.checkpoint?.resume
    const place = this.how.isArchived ? null : placeAfter(this.#words?.checkpoint)
    const { stamp } = this.#part
    if (this.#rows && (from?.stamp !== stamp || from.resume !== (resume ? resumeText(resume) : null))) return false
    if (this.#words && (textFrom?.stamp !== stamp || textFrom.place !== place)) return false
    if (isWritten && (standing?.stamp !== stamp || standing.place !== place)) return false
    this.#known = { from, textFrom, standing, isAgain: before.isAgain }
    this.isFirst = false
    this.isFull = false
    this.#begin(true)
    return true
  }

  #begin(isMore: boolean): void {
    const { rows, words } = this.plan
    const { from } = this.#known
    this.#rows = rows
      ? new LogRows(this.log.tool, isMore && from ? this.stores.history.knownRows(from) : undefined)
      : undefined
    if (this.#rows && from && !isMore) this.#rows.isRestarted = true
    this.#words = words ? new LogText() : undefined
    if (this.#words && !isMore) this.#words.isRestarted = true
    if (this.#words && this.#startedAt) this.#words.news.started_at = this.#startedAt
  }

  #slice(log: LogRef, isLast: boolean): Reading {
    const { from, textFrom, standing, isAgain } = this.#known
    const rows = this.#rows && { log, from, rows: this.#rows, usageGoesOn: !toolOf(log)?.usageReader }
    const { isFirst } = this
    return {
      log,
      rows,
      text: this.#words,
      textFrom,
      standing,
      isArchived: this.how.isArchived,
      isAgain,
      isFirst,
      isLast,
    }
  }

  #isMuch(): boolean {
    if (this.#words) return this.#words.facts.length >= MOST.facts || this.#words.length >= MOST.characters
    const rows = this.#rows
    return rows !== undefined && rows.turns.size + rows.calls.size + rows.tellings.size >= MOST.facts
  }
}

function forgetterFor({ purgeFilter, text }: Stores, textFrom: StoredText | undefined): FactForgetter {
  const wasPurged = (call: string): boolean => textFrom !== undefined && text.wasPurged(textFrom, call)
  return new FactForgetter(purgeFilter?.forgetter.isEmpty ? undefined : purgeFilter?.forgetter, wasPurged)
}

function isSessionGone({ purgeFilter }: Stores, log: LogRef, { news }: Pick<LogText, 'news'>): boolean {
  const owner = log.session ?? news.spawner?.session ?? news.id
  return owner !== undefined && (purgeFilter?.isSessionGone(owner) ?? false)
}

/** Whether the archive has more of a log than the log itself, which was cut. */
export function wasCut(log: LogRef, standing: Pick<ReadMark, 'place' | 'stamp'> | undefined): boolean {
  if (standing?.place !== null || standing.stamp !== log.stamp) return false
  return toolOf(log)?.can.append.yes ?? false
}
