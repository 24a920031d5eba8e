import { copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { ScratchDirectory } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import { BareStore } from '../bare-store.js'
import { makeBorrower } from '../borrower.js'
import type { Git } from '../git.js'
import { nestedSnapshot, setIndex } from '../restore.js'
import { keyOf, type Snapshot } from '../snapshot.js'

interface ScratchSetting {
  snapshots: string
  git: Git
}

/**
 * A worktree that shows one snapshot after another. It has a repository of its own, which borrows the objects of the store: the user's
 * repository has no trace of it. HEAD, index and files are those of the snapshot; HEAD is detached.
 */
export class ScratchWorktree implements Disposable {
  /** Paths that stay when another snapshot is shown, as patterns. */
  #kept: string[] = []

  private constructor(
    private readonly setting: ScratchSetting,
    private readonly scratch: ScratchDirectory,
    /** Where the files are. The directory has the name that the user's has. */
    readonly path: string,
  ) {}

  static async make(setting: ScratchSetting, { root }: Pick<Snapshot, 'root'>): Promise<ScratchWorktree> {
    const scratch = await ScratchDirectory.make()
    const path = join(scratch.path, 'tree', basename(root) || 'root')
    mkdirSync(path, { recursive: true, mode: 0o700 })
    return new ScratchWorktree(setting, scratch, path)
  }

  /** Files that git ignores stay; all others become those of the snapshot. */
  async show(snapshot: Snapshot): Promise<void> {
    await showIn(this.setting, snapshot, { indexes: this.scratch.path, path: this.path, kept: this.#kept })
  }

  /** What is there now beside the snapshot's files stays from now on. */
  async keepExtras(snapshot: Snapshot): Promise<void> {
    const { git } = this.setting
    const store = storeOf(this.setting, snapshot.store)
    const args = ['ls-files', '-z', '--others', '--directory', '--no-empty-directory', '--exclude-standard']
    const call = { cwd: this.path, env: { GIT_INDEX_FILE: indexOf(this.scratch.path, this.path) } }
    const extras = await git.fields([...store.at(this.path), ...args], call)
    this.#kept = extras.map((path) => `/${path.replace(/[*?[\]\\!#\s]/g, '\\$&')}`)
  }

  [Symbol.dispose](): void {
    this.scratch[Symbol.dispose]()
  }
}

interface Place {
  /** Where our own indexes are: outside the files, so that no command that runs there changes them. */
  indexes: string
  path: string
  kept: readonly string[]
}

async function showIn(setting: ScratchSetting, snapshot: Snapshot, { indexes, path, kept }: Place): Promise<void> {
  const { git } = setting
  const store = storeOf(setting, snapshot.store)
  const index = indexOf(indexes, path)
  const call = { cwd: path, env: { GIT_INDEX_FILE: index } }
  const at = store.at(path)
  // Whatever a command made of it: removed without following it, and made again below.
  rmSync(join(path, '.git'), { recursive: true, force: true })
  await git.run([...at, 'read-tree', '--reset', '-u', snapshot.worktree_tree], call)
  await git.run([...at, 'clean', '-ffdq', ...kept.flatMap((pattern) => ['-e', pattern])], call)
  if (snapshot.git_directory !== undefined) await makeRepository(git, store, snapshot, path, index)
  for (const { path: inner, store: name, commit } of snapshot.nested) {
    const place = join(path, inner)
    mkdirSync(place, { recursive: true })
    await showIn(setting, await nestedSnapshot(setting, name, commit), { indexes, path: place, kept: [] })
  }
}

/** HEAD and index as the user had them. */
async function makeRepository(
  git: Git,
  store: BareStore,
  snapshot: Snapshot,
  path: string,
  files: string,
): Promise<void> {
  const own = join(path, '.git')
  const head = snapshot.head ?? `ref: refs/heads/${snapshot.branch ?? 'main'}`
  makeBorrower(own, store, head, { bare: false })
  const index = join(own, 'index')
  copyFileSync(files, index)
  await setIndex(git, store, snapshot, path, index)
}

const indexOf = (indexes: string, path: string): string => join(indexes, `${keyOf(path)}.index`)

function storeOf({ snapshots, git }: ScratchSetting, name: string): BareStore {
  const store = BareStore.named(snapshots, name, git)
  if (store) return store
  throw new SkeinError('snapshot-not-found', `The store ${name} is not there`, 'Run `skein snapshots verify`')
}
