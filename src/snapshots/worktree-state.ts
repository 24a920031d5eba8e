import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { textIn, writeAtomic } from '../disk/index.js'
import { readJson, shapes } from '../model/index.js'
import { keyOf } from './snapshot.js'

/** The user's index, as it was last seen. */
export interface SeenIndex {
  /** Names its content. */
  key: string
  tree: string
  /** Blob with what a tree cannot say; absent when there is nothing. */
  details?: string
  /** Tree that keeps the objects of unresolved entries. */
  stages?: string
  /** Paths of submodules. */
  gitlinks: string[]
}

/** What a file was when it was read. A file system may give two edits of one moment the same times. */
export interface RecentFile {
  stamp: string
  /** Of the content, when the last change was so recent that even the exact times may not show the next one. */
  hash?: string
}

/** What a store remembers of one worktree between two captures. */
export interface WorktreeState {
  v: 1
  root: string
  /** The tree of our index, and the stamp of the file that it belongs to: a file with another stamp has another tree. */
  tree?: { oid: string; stamp: string }
  /** Ignore patterns as they were at first sight. */
  frozen?: string[]
  user?: SeenIndex
  /** Files that were read soon after they had been changed, by path. */
  recent?: Record<string, RecentFile>
}

export const stateDirectory = (store: string): string => join(store, 'skein', 'worktrees')

const { isObject, misfit, shape, shaped, text, texts } = shapes
const oid: (value: unknown) => boolean = (value) => typeof value === 'string' && /^[0-9a-f]{40,64}$/.test(value)
const stamp: (value: unknown) => boolean = (value) => typeof value === 'string' && /^(-?\d+ ){3}-?\d+$/.test(value)
const RECENT = shaped(shape({ stamp, 'hash?': text }))
const STATE = shape({
  v: (value) => value === 1,
  root: text,
  'tree?': shaped(shape({ oid, stamp: text })),
  'frozen?': texts,
  'user?': shaped(shape({ key: text, tree: oid, 'details?': oid, 'stages?': oid, gitlinks: texts })),
  'recent?': (value) => isObject(value) && Object.values(value).every(RECENT),
})

/** A damaged one is as good as none: the next capture looks at every file again. */
export function readState(store: string, root: string): WorktreeState | undefined {
  const state = readJson(textIn(join(stateDirectory(store), `${keyOf(root)}.json`)) ?? '')
  if (!isObject(state)) return undefined
  const { sum, ...rest } = state
  const isWhole = misfit(rest, STATE) === undefined && rest.root === root && (sum === undefined || sum === sumOf(rest))
  return isWhole ? (rest as unknown as WorktreeState) : undefined
}

export function writeState(store: string, state: WorktreeState): void {
  const content = JSON.stringify({ ...state, sum: sumOf(state) })
  writeAtomic(join(stateDirectory(store), `${keyOf(state.root)}.json`), content, { durable: false })
}

/** A changed character in the name of a tree would make a snapshot of other files, or of none. */
const sumOf = (state: object): string => createHash('sha256').update(JSON.stringify(state)).digest('hex')
