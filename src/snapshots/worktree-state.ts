import { join } from 'node:path'
import { textIn, writeAtomic } from '../disk/index.js'
import { readJson } from '../model/index.js'
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

export function readState(store: string, root: string): WorktreeState | undefined {
  const state = readJson(textIn(join(stateDirectory(store), `${keyOf(root)}.json`)) ?? '') as WorktreeState | undefined
  return state?.v === 1 && state.root === root ? state : undefined
}

export function writeState(store: string, state: WorktreeState): void {
  writeAtomic(join(stateDirectory(store), `${keyOf(state.root)}.json`), JSON.stringify(state), { durable: false })
}
