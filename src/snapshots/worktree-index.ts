import { existsSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyGuarded, readPlain, temporaryName } from '../disk/index.js'
import type { BareStore } from './bare-store.js'
import { convertedPaths } from './converted-paths.js'
import { filesToAdd } from './files-to-add.js'
import type { Git } from './git.js'
import { editIndex } from './index-edit.js'
import { readIndex } from './index-file.js'
import type { Repository } from './repository.js'
import { keyOf } from './snapshot.js'
import type { UserIndex } from './user-index.js'
import { stateDirectory, type WorktreeState } from './worktree-state.js'

/** What differs between our index and the files. Paths are latin1. */
export interface Scan {
  changed: string[]
  deleted: string[]
  untracked: string[]
  /** Repositories inside the worktree that the index does not have. */
  nested: string[]
  /** A directory could not be listed. */
  isBlind: boolean
}

/** Files younger than this when they were read are read again: an edit of the same moment may leave no other trace. */
const RACY_MS = 3_000
/** Files that are not older than the index are read in every scan; an index that was not written for so long is dated anew. */
const OUTDATED_MS = 30_000

/**
 * Our own index of one worktree: it remembers what each file looked like, so that a scan reads only what changed. Changes are made in a
 * copy, which `save` puts in its place: whatever a killed process left running can write only into a copy of its own.
 */
export class WorktreeIndex implements Disposable {
  readonly #saved: string
  #copy: string | undefined
  #isTouched = false

  constructor(
    private readonly store: BareStore,
    private readonly git: Git,
    private readonly root: string,
    private readonly state: WorktreeState,
  ) {
    this.#saved = join(stateDirectory(store.directory), `${keyOf(root)}.index`)
  }

  get isSeeded(): boolean {
    return existsSync(this.#saved)
  }

  get #path(): string {
    return this.#copy ?? this.#saved
  }

  /** The file to change. Its time must not be later than that of the original, see `UserIndex.copyTo`. */
  #writable(): string {
    if (this.#copy !== undefined) return this.#copy
    this.#copy = temporaryName(this.#saved)
    const stat = statSync(this.#saved, { throwIfNoEntry: false })
    if (stat) {
      copyGuarded(this.#saved, this.#copy, { noFollow: true })
      setTime(this.#copy, Math.floor(stat.mtimeMs))
    }
    return this.#copy
  }

  /**
   * Puts the changed index in its place, dated before the scan that it comes from. Git reads a file again when it is not older than the
   * index, so an edit that came so soon after the scan that neither size nor time of the file shows it is found by the next one. Without a
   * completed scan nothing is known of the files, and git's own date remains.
   */
  save(scanStartMs: number | undefined): void {
    const isKnown = this.state.tree?.stamp === this.#stamp()
    const isSaved = this.#copy !== undefined && existsSync(this.#copy)
    if (this.#copy !== undefined && isSaved) renameSync(this.#copy, this.#saved)
    this.#copy = undefined
    const stat = statSync(this.#saved, { throwIfNoEntry: false })
    if (!stat || scanStartMs === undefined) return
    const ms = Math.floor(scanStartMs) - RACY_MS
    if (isSaved || ms - stat.mtimeMs > OUTDATED_MS) setTime(this.#saved, ms)
    if (this.state.tree && isKnown) this.state.tree = { oid: this.state.tree.oid, stamp: this.#stamp() }
  }

  [Symbol.dispose](): void {
    if (this.#copy !== undefined) rmSync(this.#copy, { force: true })
    this.#copy = undefined
  }

  /** Begins with the user's index: then only what differs from it has to be read. */
  async seed(user: UserIndex, repository: Repository, config: ReadonlyMap<string, string>): Promise<void> {
    if (!user.isThere) return
    await user.copyTo(this.#writable(), this.store, this.git)
    const entries = user.isSplit ? this.#entries() : user.entries
    const named = (is: (entry: (typeof entries)[number]) => boolean): string[] =>
      entries.filter(is).map((one) => one.path)
    // A sparse checkout leaves files out on purpose; our tree is what is there.
    await this.#updateFlag(
      '--no-skip-worktree',
      named((entry) => entry.isSkipped),
    )
    await this.#updateFlag(
      '--no-assume-unchanged',
      named((entry) => entry.isAssumed),
    )
    // The user's index has what a filter made of such a file; ours must read the file itself.
    const converted = [
      ...user.youngChanges(entries),
      ...(await convertedPaths(entries, repository, this.store, this.git, config)),
    ]
    const byPath = new Map(entries.map((entry) => [entry.path, entry]))
    const lines = converted.map((path) => {
      const { mode = 0, oid = '' } = byPath.get(path) ?? {}
      return `${mode.toString(8)} ${oid} 0\t${path}\0`
    })
    if (lines.length === 0) return
    await this.#update(['--index-info'], Buffer.from(lines.join(''), 'latin1'))
  }

  #entries(): ReturnType<typeof entriesOf> {
    return entriesOf(this.#path, this.store.hashBytes)
  }

  /** Every path in our index. */
  paths(): Set<string> {
    return new Set(this.#entries().map(({ path }) => path))
  }

  /**
   * Compares the files with the index, and lists those that it does not have. The two halves run side by side. No process is started in a
   * submodule: its own snapshot has its files.
   */
  async scan(ignored: readonly string[], signal: AbortSignal): Promise<Scan> {
    const call = { cwd: this.root, env: { GIT_INDEX_FILE: this.#path }, signal }
    const at = this.store.at(this.root)
    const patterns = ignored.flatMap((pattern) => ['-x', pattern])
    const listing = ['ls-files', '-o', '-z', '--exclude-per-directory=.gitignore', ...patterns]
    // What takes longer is started first.
    const [others, differing] = await Promise.all([
      this.git.run([...at, ...listing], call),
      this.git.fields([...at, 'diff-files', '-z', '--name-status', '--ignore-submodules=dirty'], call),
    ])
    const changed = new Set<string>()
    const deleted = new Set<string>()
    for (let n = 0; n + 1 < differing.length; n += 2)
      (differing[n] === 'D' ? deleted : changed).add(differing[n + 1] ?? '')
    const listed = others.stdout.toString('latin1').split('\0').slice(0, -1)
    return {
      changed: [...changed],
      deleted: [...deleted],
      untracked: listed.filter((path) => !path.endsWith('/')),
      nested: listed.filter((path) => path.endsWith('/')).map((path) => path.slice(0, -1)),
      isBlind: /could not open directory/.test(others.stderr),
    }
  }

  /** Reads these files into the store. Returns those that could not be read. */
  async add(paths: readonly string[], signal: AbortSignal): Promise<string[]> {
    if (paths.length === 0) return []
    try {
      await this.#update(['--add', '--remove', '--replace', '--stdin'], bytesOf(paths), signal)
      return []
    } catch (error) {
      if (signal.aborted || !isPathTrouble(error)) throw error
      if (paths.length === 1) return [...paths]
      // git stops at the first file that it cannot read: halving finds them all.
      const half = paths.length >> 1
      return [...(await this.add(paths.slice(0, half), signal)), ...(await this.add(paths.slice(half), signal))]
    }
  }

  /**
   * Both at once, for a few files, without starting git. False when something about them is left to git, and then nothing has been done.
   */
  edit(removed: readonly string[], added: readonly string[]): boolean {
    const bytes = readPlain(this.#path)
    const set = bytes && filesToAdd(this.root, added, this.store.objects)
    const edited = set && editIndex(bytes, { removed, set }, this.store.objects)
    if (!edited) return false
    this.#put(edited)
    return true
  }

  async remove(paths: readonly string[], signal?: AbortSignal): Promise<void> {
    if (paths.length > 0) await this.#update(['--force-remove', '--stdin'], bytesOf(paths), signal)
  }

  /**
   * Changes the files from one tree to another. The index must be the first; git checks before it writes anything that each file is what the index
   * says, and that no other file is in the way.
   */
  async move(from: string, to: string): Promise<void> {
    const env = { GIT_INDEX_FILE: this.#writable() }
    await this.git.run([...this.store.at(this.root), 'read-tree', '-m', '-u', from, to], { cwd: this.root, env })
    this.hasTree(to)
  }

  #put({ bytes, tree }: { bytes: Buffer; tree: string }): void {
    this.#isTouched = true
    this.#copy ??= temporaryName(this.#saved)
    writeFileSync(this.#copy, bytes, { mode: 0o600 })
    this.hasTree(tree)
  }

  /** For whoever knows the tree of an index that was only copied. */
  hasTree(oid: string): void {
    this.state.tree = { oid, stamp: this.#stamp() }
  }

  /** Whether nothing was changed since the index was copied from the user's. */
  get isUntouched(): boolean {
    return !this.#isTouched
  }

  /** The tree of the index; quick when nothing was added or removed since the last one. */
  async tree(): Promise<string> {
    if (this.state.tree && this.state.tree.stamp === this.#stamp()) return this.state.tree.oid
    const args = [...this.store.at(), 'write-tree', '--missing-ok']
    const oid = await this.git.text(args, { env: { GIT_INDEX_FILE: this.#writable() } })
    this.state.tree = { oid, stamp: this.#stamp() }
    return oid
  }

  #stamp(): string {
    const stat = statSync(this.#path, { throwIfNoEntry: false })
    return stat ? `${stat.ino}-${stat.size}-${stat.mtimeMs}` : 'none'
  }

  async #updateFlag(flag: string, paths: readonly string[]): Promise<void> {
    if (paths.length > 0) await this.#update([flag, '--stdin'], bytesOf(paths))
  }

  async #update(args: readonly string[], input: Buffer, signal?: AbortSignal): Promise<void> {
    this.#isTouched = true
    const call = { cwd: this.root, env: { GIT_INDEX_FILE: this.#writable() }, input, signal }
    await this.git.run([...this.store.at(this.root), 'update-index', '-z', ...args], call)
  }
}

const setTime = (path: string, ms: number): void => utimesSync(path, ms / 1_000, ms / 1_000)

const entriesOf = (path: string, hashBytes: 20 | 32) => {
  const bytes = readPlain(path)
  return (bytes && readIndex(bytes, hashBytes)?.entries) ?? []
}

const bytesOf = (paths: readonly string[]): Buffer => Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1')

/** A file that cannot be read, or that is in the way of another: git names it and stops. */
const isPathTrouble = (error: unknown): boolean =>
  error instanceof Error &&
  'details' in error &&
  /process path|unable to index|is beyond a symbolic/.test(String(error.details))
