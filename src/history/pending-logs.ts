import { type Archive, type ArchiveEntry, type ArchiveKey, keyAt, originOf } from '../archive/index.js'
import { type HistoryStore, isPart, type LogSource, type TextStore } from '../ingest/index.js'
import { isSessionId, type SessionId } from '../model/index.js'
import { LOG_TOOLS, type LogRef } from '../tools/index.js'

export interface OpenStores {
  history: HistoryStore
  text: TextStore
  archive: Archive
}

export interface Pending {
  /** These are all the logs there are: then also what the archive has of deleted ones is read, where a database has been lost. */
  isWholeLook: boolean
  /** False when only turns, tool calls and cost are wanted. */
  words: boolean
}

/**
 * What has to be read: logs that have changed, or that one of the stores lacks. Oldest first: text that is stored in the order of time
 * is quicker to search.
 */
export function pendingSources(
  logs: readonly LogRef[],
  stores: OpenStores,
  { isWholeLook, words }: Pending,
): LogSource[] {
  const { archive } = stores
  if (!words) {
    const counted = stores.history.stamps()
    return logs.filter((log) => counted.get(placeName(log)) !== log.stamp).map((log) => ({ log }))
  }
  const known = [stores.history.stamps(), stores.text.stamps()]
  const files = isWholeLook ? new Set(archive.keys().map(pathOf)) : undefined
  const names = logs.map((log) => pathOf(archive.keyOf(originOf(log))))
  const isArchived = (at: number, log: LogRef): boolean =>
    files ? files.has(names[at] ?? '') : archive.isThere(archive.keyOf(originOf(log)))
  const isKnown = (log: LogRef): boolean => known.every((stamps) => stamps.get(placeName(log)) === log.stamp)
  const isUnknown = (log: LogRef): boolean => known.every((stamps) => !stamps.has(placeName(log)))
  const changed = logs.flatMap((log, at): LogSource[] => {
    const isKept = isArchived(at, log)
    if (isKnown(log) && isKept) return []
    return [!isKept && isUnknown(log) ? { log, isUnknown: true } : { log }]
  })
  const gone = files ? goneSources(stores, files, new Set(names)) : []
  return [...changed, ...gone].sort((a, b) => (a.log.modified_at < b.log.modified_at ? -1 : 1))
}

function goneSources({ history, text, archive }: OpenStores, files: Set<string>, there: Set<string>): LogSource[] {
  const deleted = [...files].filter((file) => !there.has(file))
  if (deleted.length === 0) return []
  const whole = (places: readonly (Parameters<Archive['keyOf']>[0] & { stamp: string })[]): Set<string> =>
    new Set(places.filter(({ stamp }) => !isPart(stamp)).map((log) => pathOf(archive.keyOf(log))))
  const stored = [history, text].map((store) => whole(store.places()))
  const lacking = deleted.filter((file) => !stored.every((names) => names.has(file)))
  return lacking.flatMap((file) => {
    const key = keyAt(file)
    const entry = archive.entry(key)
    // A log that is there but was not found this time (a root that is not mounted) is read when it is.
    return entry && !logOfEntry(entry) ? [{ log: logOf(entry), archived: key }] : []
  })
}

/** Forks that were read before the logs of what they were forked from, which are there now. */
export function completedForks(history: HistoryStore): LogSource[] {
  return history.lackingHistory().flatMap(({ path, part, tool }) => {
    const reader = LOG_TOOLS.find((one) => one.name === tool)
    const log = reader?.logAt(path, sessionIn(part))
    return log && reader?.lacksHistory?.(log) === false ? [{ log, isAgain: true }] : []
  })
}

/** The log itself, if its tool still has it. */
export function logOfEntry({ origin: { tool, path, part } }: Pick<ArchiveEntry, 'origin'>): LogRef | undefined {
  const reader = LOG_TOOLS.find((one) => one.name === tool)
  return reader?.logAt(path, sessionIn(part))
}

/** The log as it was when it was archived last. */
function logOf({ origin, standing }: ArchiveEntry): LogRef {
  const session = sessionIn(origin.part)
  const { stamp, size, modified_at, agent } = standing
  const { tool, path, root } = origin
  return { tool, path, root, stamp, size, modified_at, ...(session ? { session } : {}), ...(agent ? { agent } : {}) }
}

const sessionIn = (part: string): SessionId | undefined => (isSessionId(part) ? part : undefined)
const placeName = ({ path, session }: LogRef): string => `${path}\0${session ?? ''}`
const pathOf = ({ tool, name }: ArchiveKey): string => `${tool}/${name}`
