import { createHash } from 'node:crypto'
import { readJson, SkeinError } from '../model/index.js'

/** When a snapshot was taken: as a prompt was sent, as the turn ended, or before something that changes files in place. */
export const MOMENTS = ['prompt', 'stop', 'safety'] as const
export type Moment = (typeof MOMENTS)[number]

/** Why a path is not in a snapshot. */
export type SkipReason = 'size' | 'secret' | 'purged' | 'time' | 'unreadable' | 'limit' | 'nested'

export interface SkippedPath {
  path: string
  reason: SkipReason
  bytes?: number
}

/** A repository inside the worktree, with a snapshot of its own. */
export interface NestedSnapshot {
  /** Relative to the worktree. */
  path: string
  /** The name of its store, and its commit there. */
  store: string
  commit: string
}

/** What reproduces the start of a turn, beside the files. */
export interface TurnStart {
  tool?: string
  tool_version?: string
  model?: string
  permission_mode?: string
  /** Without secrets. */
  arguments?: string[]
  /** Of the instruction and settings files in force. */
  settings_hash?: string
}

/** What the message of a snapshot's commit says, as one line of JSON. */
export interface SnapshotRecord {
  v: 1
  session: string
  seq: number
  moment: Moment
  turn?: number
  /** When the files were read, and the moment that they are meant to show. */
  at: string
  as_of: string
  root: string
  /** Of the user's repository; absent without git. */
  git_directory?: string
  head?: string
  branch?: string
  /** What git was in the middle of. */
  operation?: 'merge' | 'cherry-pick' | 'revert' | 'rebase'
  worktree_tree: string
  index_tree?: string
  nested: NestedSnapshot[]
  /** The first ones; `skipped_count` counts all. */
  skipped: SkippedPath[]
  skipped_count: number
  /** A partial snapshot lacks files for want of time or of access; a skipped secret or large file is no such lack. */
  mode: 'whole' | 'partial'
  /** False when a file changed between `as_of` and the reading. */
  exact: boolean
  late: string[]
  start?: TurnStart
}

export interface Snapshot extends SnapshotRecord {
  /** The name of the store, and the commit in it. */
  store: string
  commit: string
}

/** Paths that a message names; a details object of the commit has the rest. */
export const MOST_NAMED = 200

export function messageOf(record: SnapshotRecord): string {
  return `Snapshot ${record.seq} (${record.moment})\n\n${JSON.stringify(record)}`
}

/** The record in a commit's message. Undefined when there is none, or one of a later version. */
export function recordIn(message: string): SnapshotRecord | undefined {
  const line = message.split('\n').find((text) => text.startsWith('{'))
  const value = line === undefined ? undefined : readJson(line)
  if (typeof value !== 'object' || value === null) return undefined
  const record = value as SnapshotRecord
  const isWhole = record.v === 1 && typeof record.session === 'string' && typeof record.worktree_tree === 'string'
  return isWhole ? record : undefined
}

/** Turns of a session, or repositories inside its worktree. Git allows neither `..` nor `.lock` in the name of a ref. */
export function refOf(session: string, seq: number | string, kind: 'turns' | 'inner' = 'turns'): string {
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(session))
    throw new SkeinError('bad-id', `"${session}" cannot be the id of a session`, 'Use the id that `skein list` shows')
  return `refs/${kind}/${session.replaceAll('.', '%2E')}/${seq}`
}

/** A name for a place on the disk that is short, legible and unlike that of any other place. */
export function keyOf(path: string): string {
  const name = path.replace(/\/\.git$/, '').replace(/^.*\//, '')
  const legible = name.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 40)
  return `${legible === '' ? 'root' : legible}-${createHash('sha256').update(path).digest('hex').slice(0, 12)}`
}

/** Paths of git are bytes; those of people are text. */
export const shown = (path: string): string => Buffer.from(path, 'latin1').toString('utf8')
export const asBytes = (path: string): Buffer => Buffer.from(path, 'latin1')
