import { hash } from 'node:crypto'
import { basename, extname } from 'node:path'
import type { Instant, SessionId } from '../model/index.js'
import type { Counters, Fact, LogRef } from '../tools/index.js'

/** Whose words they are. Never changes for one archived log. */
export interface LogOrigin {
  tool: string
  path: string
  root: string
  /** The session, where one file holds the logs of many or its place tells it; otherwise ''. */
  part: string
}

/** How far a log was read when it was archived, and what was known of it then. */
export interface ReadMark {
  /** A digest of the place in the log; null when its tool gives none. */
  place: string | null
  stamp: string
  size: number
  modified_at: Instant
  session?: SessionId | undefined
  /** Set for the log of a sub-agent. */
  agent?: string | undefined
  cwd?: string | undefined
  last_at?: Instant | undefined
  counters?: Counters | undefined
  head?: { turn: number; abandoned: number[] } | undefined
  /** The fingerprint of the policy that it was filtered by; `mixed` when there were several. */
  policy?: string | undefined
  /** Facts, and their bytes before compression. */
  facts: number
  bytes: number
}

/** What one reading of one log adds, filtered. */
export interface ArchiveBatch {
  log: LogRef
  /** Where the archive stood when the reading began; undefined when it had nothing of this log. */
  from: string | null | undefined
  /** The log was read from its beginning: these facts are all it says. */
  isWhole: boolean
  facts: readonly Fact[]
  standing: Omit<ReadMark, 'facts' | 'bytes'>
  /** Nothing more is to be expected of it soon: it is compressed at once. */
  isOver: boolean
  /** More of the same reading follows. With `isWhole`: these facts are the beginning of all it says. */
  isPart?: boolean | undefined
}

/** The same for a finished log that was not archived yet, compressed: many of them can be held until they are written together. */
export interface SealedBatch extends Omit<ArchiveBatch, 'facts'> {
  sealed: Buffer
}

export const originOf = ({ tool, path, root, session }: LogRef): LogOrigin => ({
  tool,
  path,
  root,
  part: session ?? '',
})

/**
 * The name of a log's files: what its own file is called, for people, and a digest of where it is, for certainty. It follows from
 * the log's place alone, so that it is found without looking into any file.
 */
export function archiveName({ tool, path, part }: Omit<LogOrigin, 'root'>): string {
  const label = (part || basename(path, extname(path))).replace(/[^A-Za-z0-9._-]/g, '_').slice(0, 80)
  const digest = hash('sha1', `${tool}\0${path}\0${part}`, 'hex').slice(0, 12)
  return `${label.replace(/^\.+/, '')}-${digest}`
}
