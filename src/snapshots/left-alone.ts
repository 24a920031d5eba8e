import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryName } from '../disk/index.js'
import { SkeinError } from '../model/index.js'
import type { BareStore } from './bare-store.js'
import type { Git } from './git.js'
import type { MovedFile, MovePlan } from './move-plan.js'
import { type Snapshot, shown } from './snapshot.js'
import { stateDirectory } from './worktree-state.js'

/**
 * The files that a rewind would change although the snapshot left them out: secrets, large ones, what it had no time for. They were there, and
 * nobody knows as what, so they stay as they are.
 */
export function leftAlone({ files }: MovePlan, snapshot: Snapshot): MovedFile[] {
  if (snapshot.skipped_count === 0) return []
  const skipped = snapshot.skipped.map(({ path }) => path)
  const isSkipped = (path: string): boolean => skipped.some((one) => path === one || path.startsWith(`${one}/`))
  const left = files.filter(({ path }) => isSkipped(shown(path)))
  const isRemoving = files.some((file) => !file.after && !left.includes(file))
  if (isRemoving && snapshot.skipped_count > skipped.length) throw tooManySkipped(snapshot)
  return left
}

/** The tree of the snapshot, with these files as they are now. */
export async function treeWithout(
  git: Git,
  store: BareStore,
  { worktree_tree }: Snapshot,
  left: readonly MovedFile[],
): Promise<string> {
  const index = temporaryName(join(stateDirectory(store.directory), 'left'))
  const call = { env: { GIT_INDEX_FILE: index } }
  const none = '0'.repeat(worktree_tree.length)
  const entries = left.map(({ path, before }) => `${before?.mode ?? '0'} ${before?.oid ?? none}\t${path}\0`)
  try {
    await git.run([...store.at(), 'read-tree', worktree_tree], call)
    const input = Buffer.from(entries.join(''), 'latin1')
    await git.run([...store.at(), 'update-index', '-z', '--index-info'], { ...call, input })
    return await git.text([...store.at(), 'write-tree'], call)
  } finally {
    rmSync(index, { force: true })
  }
}

const tooManySkipped = ({ skipped_count }: Snapshot): SkeinError =>
  new SkeinError(
    'snapshot-refused',
    `The snapshot left out ${skipped_count} files, too many to tell which of those that are there now to keep`,
    'Fork the turn: its files come into a directory of their own',
  )
