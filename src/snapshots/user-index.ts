import { createHash } from 'node:crypto'
import { existsSync, rmSync, type Stats, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyGuarded, entriesIn, guardedText, ifThere, readGuarded, temporaryName } from '../disk/index.js'
import type { BareStore } from './bare-store.js'
import type { Git } from './git.js'
import { type IndexDetails, PENDING } from './index-details.js'
import { treeOfIndex } from './index-edit.js'
import { GITLINK, type IndexEntry, type IndexFile, readIndex } from './index-file.js'
import { exactStat } from './recent-files.js'
import type { Repository } from './repository.js'
import type { SnapshotRecord } from './snapshot.js'
import { type SeenIndex, stateDirectory } from './worktree-state.js'

const MOST_BYTES = 2 ** 31 - 1

const indexOf = ({ gitDirectory }: Repository): string => join(gitDirectory, 'index')

/** Git ends an index with its hash, unless it is configured to save that time. */
function contentKey(bytes: Buffer, hashBytes: number): string {
  const own = bytes.toString('hex', Math.max(0, bytes.length - hashBytes))
  return /^0*$/.test(own) ? createHash('sha256').update(bytes).digest('hex') : own
}

/** The user's index, read once and never written. */
export class UserIndex {
  /** Names what it says, and what git is in the middle of. */
  readonly key: string
  #file: IndexFile | undefined

  private constructor(
    private readonly repository: Repository,
    private readonly hashBytes: 20 | 32,
    private readonly bytes: Buffer | undefined,
    private readonly stat: Stats | undefined,
  ) {
    const pending = createHash('sha256')
      .update(JSON.stringify(pendingIn(repository)))
      .digest('hex')
      .slice(0, 12)
    this.key = `${bytes ? contentKey(bytes, hashBytes) : 'none'}-${pending}`
  }

  /** Git replaces its index by renaming, so what is read from one open file is one index. */
  static read(repository: Repository, hashBytes: 20 | 32): UserIndex {
    const path = indexOf(repository)
    const stat = statSync(path, { throwIfNoEntry: false })
    const bytes = ifThere(() => readGuarded(path, { mostBytes: MOST_BYTES }))
    return new UserIndex(repository, hashBytes, bytes, stat)
  }

  /** Read only when somebody asks: twenty thousand entries take some milliseconds. */
  get entries(): IndexEntry[] {
    return this.#parsed.entries
  }

  get isSplit(): boolean {
    return this.#parsed.sharedWith !== undefined
  }

  get #parsed(): IndexFile {
    this.#file ??= (this.bytes && readIndex(this.bytes, this.hashBytes)) ?? { entries: [], sharedWith: undefined }
    return this.#file
  }

  /** Whether nobody has replaced it since it was read. */
  get isStill(): boolean {
    const now = statSync(indexOf(this.repository), { throwIfNoEntry: false })
    const stamp = (stat: Stats | undefined): string => `${stat?.ino} ${stat?.size} ${stat?.mtimeMs}`
    return stamp(now) === stamp(this.stat)
  }

  /**
   * Files that were changed within the second in which they were added. Git compares by the second; the index also has the exact times, which
   * show an edit that kept size and time of change.
   */
  youngChanges(entries: readonly IndexEntry[]): string[] {
    const from = Math.floor((this.stat?.mtimeMs ?? 0) / 1_000) - 1
    return entries
      .filter((entry) => {
        if (entry.ctimeSeconds < from || entry.mode === GITLINK || entry.stage > 0) return false
        const stat = exactStat(this.repository.root, entry.path)
        return stat !== undefined && stat.ctimeNs !== entry.ctimeNs
      })
      .map(({ path }) => path)
  }

  get isThere(): boolean {
    return this.bytes !== undefined
  }

  /**
   * A copy for our own use. Its time of change must not be later than that of the original: git rereads files that are as young as the
   * index, and with a later time it would take an edit of the same moment for none.
   */
  async copyTo(path: string, store: BareStore, git: Git): Promise<void> {
    if (!this.bytes) return
    const { sharedWith } = this.#parsed
    if (sharedWith !== undefined) {
      const shared = join(store.directory, sharedWith)
      if (!existsSync(shared)) copyGuarded(join(this.repository.gitDirectory, sharedWith), shared, { noFollow: false })
    }
    writeFileSync(path, this.bytes, { mode: 0o600 })
    if (sharedWith !== undefined)
      await git.run([...store.at(), 'update-index', '--force-write-index'], { env: { GIT_INDEX_FILE: path } })
    const seconds = Math.floor(this.stat?.mtimeMs ?? 0) / 1_000
    utimesSync(path, seconds, seconds)
  }

  /** Writes what the index says into the store. */
  async keep(store: BareStore, git: Git): Promise<SeenIndex> {
    const own = this.#treeWithoutGit(store)
    if (own !== undefined) return this.#seen(store, own, this.entries, [])
    const path = temporaryName(join(stateDirectory(store.directory), 'user-index'))
    try {
      await this.copyTo(path, store, git)
      const entries = !this.isSplit ? this.entries : entriesAt(path, store.hashBytes)
      const unmerged = entries.filter(({ stage }) => stage > 0)
      const env = { GIT_INDEX_FILE: path }
      if (unmerged.length > 0) {
        const zero = '0'.repeat(store.hashBytes * 2)
        const input = [...new Set(unmerged.map((entry) => entry.path))].map((name) => `0 ${zero}\t${name}\0`).join('')
        await git.run([...store.at(), 'update-index', '-z', '--index-info'], {
          env,
          input: Buffer.from(input, 'latin1'),
        })
      }
      const tree = await git.text([...store.at(), 'write-tree', '--missing-ok'], { env })
      return this.#seen(store, tree, entries, unmerged)
    } finally {
      rmSync(path, { force: true })
    }
  }

  /**
   * Undefined when only git can tell. Git remembers the trees of most directories in the index; of a repository that fetches objects when they are
   * needed, those may not be there.
   */
  #treeWithoutGit({ objects, facts }: BareStore): string | undefined {
    const isFetching = entriesIn(join(facts.source, 'objects', 'pack')).some((name) => name.endsWith('.promisor'))
    if (!this.bytes || isFetching) return undefined
    return treeOfIndex(this.bytes, objects)
  }

  #seen(store: BareStore, tree: string, entries: readonly IndexEntry[], unmerged: readonly IndexEntry[]): SeenIndex {
    const details = this.#details(entries, unmerged)
    const gitlinks = entries.filter(({ mode }) => mode === GITLINK).map((entry) => entry.path)
    const stages = unmerged
      .filter(({ mode }) => mode !== GITLINK)
      .map(({ oid }, n) => ({ mode: '100644' as const, name: String(n).padStart(6, '0'), oid }))
    return {
      key: this.key,
      tree,
      gitlinks: [...new Set(gitlinks)],
      ...(isEmpty(details) ? {} : { details: store.objects.blob(JSON.stringify(details)) }),
      ...(stages.length > 0 ? { stages: store.objects.tree(stages) } : {}),
    }
  }

  #details(entries: readonly IndexEntry[], unmerged: readonly IndexEntry[]): IndexDetails {
    const named = (is: (entry: IndexEntry) => boolean): string[] => entries.filter(is).map((entry) => entry.path)
    const skipped = named((entry) => entry.isSkipped)
    const patterns = guardedText(join(this.repository.gitDirectory, 'info', 'sparse-checkout'), MOST_BYTES)
    return {
      stages: unmerged.map(({ mode, oid, stage, path }) => ({ mode: mode.toString(8), oid, stage, path })),
      skipped,
      assumed: named((entry) => entry.isAssumed),
      intents: named((entry) => entry.isIntent),
      ...(skipped.length > 0 && patterns !== undefined ? { sparse: patterns } : {}),
      pending: pendingIn(this.repository),
    }
  }
}

const entriesAt = (path: string, hashBytes: 20 | 32): IndexEntry[] =>
  readIndex(readGuarded(path, { mostBytes: MOST_BYTES }), hashBytes)?.entries ?? []

/** Nothing that a tree could not say. */
function isEmpty({ stages, skipped, assumed, intents, pending }: IndexDetails): boolean {
  return [stages, skipped, assumed, intents, Object.keys(pending)].every((list) => list.length === 0)
}

function pendingIn({ gitDirectory }: Repository): Record<string, string> {
  const files = PENDING.map((name) => [name, guardedText(join(gitDirectory, name), 1_000_000)] as const)
  return Object.fromEntries(files.filter((file): file is [(typeof PENDING)[number], string] => file[1] !== undefined))
}

/** What git is in the middle of. */
export function operationIn({ gitDirectory }: Repository): SnapshotRecord['operation'] {
  const has = (name: string): boolean => existsSync(join(gitDirectory, name))
  if (has('rebase-merge') || has('rebase-apply')) return 'rebase'
  if (has('MERGE_HEAD')) return 'merge'
  if (has('CHERRY_PICK_HEAD')) return 'cherry-pick'
  return has('REVERT_HEAD') ? 'revert' : undefined
}
