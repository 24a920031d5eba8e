import { lstatSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { explainDiskError, realPath, refuseDead } from '../../disk/index.js'
import { parseSessionId, SkeinError } from '../../model/index.js'
import type { SessionEntry } from '../entry.js'

/** `<id>.jsonl`, or `<id>-topic-<topic>.jsonl` for a thread. The id is checked, the topic is escaped: neither can leave the directory. */
export function transcriptName(sessionId: string, topic?: string | number): string {
  const id = parseSessionId(sessionId)
  if (topic === undefined) return `${id}.jsonl`
  const escaped = encodeURIComponent(String(topic))
  if (escaped === '' || escaped.length > 120 || String(topic).includes('\0')) throw badTopic(String(topic))
  return `${id}-topic-${escaped}.jsonl`
}

const badTopic = (topic: string): SkeinError =>
  new SkeinError(
    'bad-id',
    `${JSON.stringify(topic.slice(0, 60))} cannot be a topic id`,
    'Use 1 to 100 printable characters',
  )

/**
 * The transcript of an entry. A path noted in the entry is used only when it is a plain file name of this very directory:
 * entries come from files that others can write.
 */
export function transcriptOf(directory: string, entry: SessionEntry, topic?: string | number): string {
  const usual = join(directory, transcriptName(entry.sessionId, topic))
  const noted = topic === undefined ? entry.sessionFile : undefined
  if (noted === undefined || !/^[A-Za-z0-9][A-Za-z0-9._%-]*\.jsonl$/.test(basename(noted))) return usual
  if (!basename(noted).startsWith(entry.sessionId)) return usual
  const isHere = realPath(dirname(noted)) === realPath(directory)
  const file = join(directory, basename(noted))
  return isHere && !lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ? file : usual
}

/** Every transcript of one session: its own and those of its topics. `names` is what the directory holds. */
export function transcriptsOf(directory: string, sessionId: string, names = namesIn(directory)): string[] {
  const id = parseSessionId(sessionId)
  return names
    .filter((name) => name === `${id}.jsonl` || (name.startsWith(`${id}-topic-`) && name.endsWith('.jsonl')))
    .map((name) => join(directory, name))
}

/** For those who ask about many sessions: read the directory once. */
export function namesIn(directory: string): string[] {
  try {
    refuseDead(directory)
    return readdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw explainDiskError(error, directory)
  }
}

/** `x.jsonl` put away: `x.jsonl.reset.2026-11-15T10-02-11.938Z`. */
export const archiveName = (path: string, why: 'reset' | 'deleted' | 'bak', nowMs: number): string =>
  `${path}.${why}.${new Date(nowMs).toISOString().replaceAll(':', '-')}`
