// Just over 400 lines: one capture from its first look to its commit, in the order in which it must not be interrupted.
import { lstatSync, type Stats } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { followed, guardedText, statOf, writeAtomic } from '../disk/index.js'
import type { Forgetter } from '../privacy/index.js'
import { BareStore } from './bare-store.js'
import { type Git, GitStopped } from './git.js'
import { isWideRoot, type Limits, notThere, refuseWide, tooMuch } from './limits.js'
import type { TreeEntry } from './loose-object.js'
import { copyObjects, pinObjects } from './pins.js'
import { RecentFiles } from './recent-files.js'
import { findRepository, headOf, type Repository, repositoryAt } from './repository.js'
import { isSecretPath } from './secret-paths.js'
import {
  asBytes,
  keyOf,
  MOST_NAMED,
  type Moment,
  messageOf,
  type NestedSnapshot,
  refOf,
  type SkippedPath,
  type Snapshot,
  type SnapshotRecord,
  shown,
  type TurnStart,
} from './snapshot.js'
import { captureConfig, ignoreRules, isIgnoreFile } from './user-config.js'
import { operationIn, UserIndex } from './user-index.js'
import { type Scan, WorktreeIndex } from './worktree-index.js'
import { readState, type WorktreeState, writeState } from './worktree-state.js'

export interface CaptureRequest {
  /** Any directory of the worktree. */
  directory: string
  session: string
  moment: Moment
  turn?: number
  /** The moment that the snapshot is meant to show; now when absent. */
  asOfMs?: number
  start?: TurnStart
}

/** Where snapshots are kept and what they may cost. */
export interface CaptureSetting {
  /** The directory of the stores. */
  snapshots: string
  git: Git
  now: () => number
  /** The user's home directory, for the user's own ignore rules. */
  home: string | undefined
  limits: Limits
  /** What was purged must not come back. */
  forgetter?: Forgetter | undefined
}

/** Longest wait for another process that captures the same repository, or packs its store. */
export const WAIT_MS = 120_000

/** Takes a snapshot of a worktree. Nothing is written into the user's repository, and nothing that it names is run. */
export async function capture(setting: CaptureSetting, request: CaptureRequest): Promise<Snapshot> {
  if (!statOf(request.directory)?.isDirectory()) throw notThere(request.directory)
  const directory = followed(request.directory)
  const repository = findRepository(directory)
  if (!repository) refuseWide(directory, setting.home)
  return captureRoot(setting, request, repository?.root ?? directory, repository, 0)
}

async function captureRoot(
  setting: CaptureSetting,
  request: CaptureRequest,
  root: string,
  repository: Repository | undefined,
  depth: number,
): Promise<Snapshot> {
  const asOfMs = request.asOfMs ?? setting.now()
  const store = BareStore.open(setting.snapshots, { root, repository }, setting.git)
  using _held = await store.hold(WAIT_MS)
  return await captureHeld(setting, { ...request, asOfMs }, { root, repository, store, depth })
}

/** The same for whoever holds the lock of the store. */
export function captureHeld(
  setting: CaptureSetting,
  request: CaptureRequest,
  scene: Omit<CaptureScene, 'startMs'>,
): Promise<Snapshot> {
  return new Capture(setting, request, { ...scene, startMs: setting.now() }).take()
}

interface FoundFile {
  path: string
  bytes: number
}

interface CaptureScene {
  root: string
  repository: Repository | undefined
  store: BareStore
  startMs: number
  depth: number
}

class Capture {
  readonly #state: WorktreeState
  readonly #before: string
  readonly #signal: AbortSignal
  readonly #asOfMs: number
  #isPartial = false
  readonly #skipped: SkippedPath[] = []
  readonly #late = new Set<string>()

  constructor(
    private readonly setting: CaptureSetting,
    private readonly request: CaptureRequest,
    private readonly scene: CaptureScene,
  ) {
    const { root, store, startMs } = scene
    this.#state = readState(store.directory, root) ?? { v: 1, root }
    this.#before = JSON.stringify(this.#state)
    this.#signal = AbortSignal.timeout(setting.limits.budgetMs)
    this.#asOfMs = request.asOfMs ?? startMs
  }

  async take(): Promise<Snapshot> {
    const { repository, store, root, startMs } = this.scene
    const { git } = this.setting
    store.objects.hold()
    const user = repository && UserIndex.read(repository, store.hashBytes)
    const head = repository ? await headOf(repository, git) : {}
    using index = new WorktreeIndex(store, git, root, this.#state)
    const isNew = !index.isSeeded
    const config = isNew && repository ? await captureConfig(repository, this.setting.home, git) : undefined
    if (isNew && user && repository) await index.seed(user, repository, config ?? new Map())
    const scanning = this.#scan(index, user, config)
    scanning.catch(() => {})
    // Beside the comparison, which takes longest.
    const keeping = this.#keepUserIndex(user)
    keeping.catch(() => {})
    const scan = await scanning
    if (scan) await this.#inTime(() => this.#take(scan, index, user))
    const seen = await keeping
    if (isNew && index.isUntouched && seen && seen.details === undefined) index.hasTree(seen.tree)
    const tree = await index.tree()
    // Last, so that it has everything that the trees refer to, also what the user added meanwhile.
    if (repository) await this.#pin(repository, head.commit, [tree, ...(seen ? [seen.tree] : [])])
    if (seen) this.#state.user = seen
    const nested = await this.#nested([...(seen?.gitlinks ?? []), ...(scan?.nested ?? [])])
    const isStill = !user || user.isStill
    const headNow = repository ? await headOf(repository, git) : {}
    if (!isStill || headNow.commit !== head.commit || headNow.branch !== head.branch) this.#late.add('.git')
    const operation = repository && operationIn(repository)
    const snapshot = this.#commit({
      ...(repository ? { git_directory: repository.gitDirectory, index_tree: seen?.tree } : {}),
      ...(head.commit === undefined ? {} : { head: head.commit }),
      ...(head.branch === undefined ? {} : { branch: head.branch }),
      ...(operation === undefined ? {} : { operation }),
      worktree_tree: tree,
      nested,
    } as Pick<SnapshotRecord, 'worktree_tree' | 'nested'>)
    // Behind the objects that it refers to.
    index.save(scan && startMs)
    this.#refer(snapshot)
    return snapshot
  }

  async #pin({ commonDirectory }: Repository, head: string | undefined, trees: readonly string[]): Promise<void> {
    const { store, startMs } = this.scene
    const { git, forgetter } = this.setting
    // In a shallow clone history ends early: our store must know where, or its own upkeep would miss commits.
    const shallow = guardedText(join(commonDirectory, 'shallow'), 1_000_000)
    if (shallow !== undefined) writeAtomic(join(store.directory, 'shallow'), shallow, { durable: false })
    // The user's object files may have what was purged, which must be in no file of ours.
    if (forgetter && !forgetter.isEmpty) return
    const pinned = pinObjects(store.directory, commonDirectory, startMs)
    if (pinned !== 'elsewhere') return
    // Such a store is never repacked.
    store.objects.flush({ mayPack: false })
    await copyObjects(git, store, commonDirectory, head, trees)
  }

  async #keepUserIndex(user: UserIndex | undefined): Promise<WorktreeState['user']> {
    if (!user) return undefined
    return this.#state.user?.key === user.key ? this.#state.user : user.keep(this.scene.store, this.setting.git)
  }

  /** Undefined when the time was up before the files were compared. */
  async #scan(
    index: WorktreeIndex,
    user: UserIndex | undefined,
    config: ReadonlyMap<string, string> | undefined,
  ): Promise<Scan | undefined> {
    const { root, repository } = this.scene
    const { home, snapshots } = this.setting
    const places = { repository, home, ...(config ? { config } : {}) }
    const ours = relative(root, snapshots)
    const own = ours.startsWith('..') ? [] : [`/${ours}`]
    // The user's index is parsed only at first sight: a turn without changes must not pay for it.
    const tracked = this.#state.frozen ? [] : (user?.entries.map(({ path }) => path).filter(isIgnoreFile) ?? [])
    const known = this.#state.frozen ?? ignoreRules(root, tracked, places)
    try {
      // A repository of the whole home or system: only what it tracks is its content.
      const isWide = repository !== undefined && isWideRoot(root, home)
      if (isWide) this.#isPartial = true
      const scan = await index.scan(isWide ? ['*'] : [...known, ...own], this.#signal)
      // Ignore files that are not in the index are known only now.
      this.#state.frozen ??= ignoreRules(root, [...tracked, ...scan.untracked.filter(isIgnoreFile)], places)
      if (scan.isBlind) this.#isPartial = true
      return scan
    } catch (error) {
      if (!(error instanceof GitStopped)) throw error
      this.#isPartial = true
      return undefined
    }
  }

  async #take(scan: Scan, index: WorktreeIndex, user: UserIndex | undefined): Promise<void> {
    const tracked = new Set(user && this.#mayBeMissing(scan, user) ? user.entries.map(({ path }) => path) : [])
    const added = this.#addedByUser(user, index, scan)
    for (const path of scan.deleted) this.#noteLate(path, undefined)
    const files: FoundFile[] = []
    const gone: string[] = []
    const unseen = this.#unseen(scan)
    const changed = new Set([...scan.changed, ...unseen])
    for (const path of [...changed, ...scan.untracked, ...added]) {
      const stat = this.#statOf(path)
      if (!stat) {
        if (changed.has(path)) gone.push(path)
        continue
      }
      if (Math.floor(Math.max(stat.mtimeMs, stat.ctimeMs)) > this.#asOfMs) this.#noteLate(path, stat)
      const isOurs = changed.has(path) && !this.scene.repository
      const reason = this.#reasonToSkip(path, stat, tracked.has(path) || isOurs)
      if (reason === undefined) files.push({ path, bytes: stat.isFile() ? stat.size : 0 })
      else {
        this.#skipped.push({ path: shown(path), reason, bytes: stat.size })
        if (changed.has(path)) gone.push(path)
      }
    }
    if (!this.scene.repository) this.#refuseMuch(files)
    else this.#cut(files, gone, changed)
    const recent = new RecentFiles(this.scene.root, this.scene.startMs)
    const paths = files.map(({ path }) => path)
    this.#state.recent = { ...recent.still(this.#state.recent ?? {}), ...recent.note(paths) }
    const removed = [...scan.deleted, ...gone]
    if (removed.length + paths.length === 0 || index.edit(removed, paths)) return
    // What git takes for unchanged it reads again only as a new file.
    await index.remove([...removed, ...unseen], this.#signal)
    await this.#add(files, index)
  }

  /** Edits of the last moments before the capture before, which left no trace that git looks at. */
  #unseen({ changed, deleted }: Scan): string[] {
    const seen = new Set([...changed, ...deleted])
    const { root, startMs } = this.scene
    const found = new RecentFiles(root, startMs).changed(this.#state.recent ?? {})
    return found.filter((path) => !seen.has(path))
  }

  /** Small files first: when the time is up, the fewest are missing. */
  async #add(files: readonly FoundFile[], index: WorktreeIndex): Promise<void> {
    const left = [...files].sort((a, b) => a.bytes - b.bytes)
    for (let at = 0; at < left.length; ) {
      const batch: string[] = []
      for (let bytes = 0; at < left.length && batch.length < BATCH_FILES && bytes < BATCH_BYTES; at += 1) {
        bytes += left[at]?.bytes ?? 0
        batch.push(left[at]?.path ?? '')
      }
      try {
        for (const path of await index.add(batch, this.#signal)) {
          this.#isPartial = true
          this.#skipped.push({ path: shown(path), reason: 'unreadable' })
        }
      } catch (error) {
        if (!(error instanceof GitStopped)) throw error
        this.#isPartial = true
        for (const path of [...batch, ...left.slice(at).map((file) => file.path)])
          this.#skipped.push({ path: shown(path), reason: 'time' })
        return
      }
    }
  }

  #statOf(path: string): Stats | undefined {
    try {
      return lstatSync(Buffer.concat([Buffer.from(`${this.scene.root}/`), asBytes(path)]), { throwIfNoEntry: false })
    } catch (error) {
      // A file is now in the place of a directory, or the directory may not be entered.
      if (['ENOTDIR', 'EACCES', 'ELOOP', 'ENAMETOOLONG'].includes(String((error as NodeJS.ErrnoException).code)))
        return undefined
      throw error
    }
  }

  /** A file that changed after the moment that is meant; of one that is gone, its directory shows when. */
  #noteLate(path: string, stat: Stats | undefined): void {
    if (stat) this.#late.add(shown(path))
    else {
      const directory = this.#statOf(dirname(path))
      if (directory && Math.floor(directory.mtimeMs) > this.#asOfMs) this.#late.add(shown(path))
    }
  }

  #mayBeMissing(scan: Scan, user: UserIndex): boolean {
    return user.isThere && [...scan.untracked, ...scan.changed].some((path) => isSecretPath(path))
  }

  #reasonToSkip(path: string, stat: Stats, isTracked: boolean): SkippedPath['reason'] | undefined {
    if (isSecretPath(path) && !isTracked) return 'secret'
    if (stat.isFile() && stat.size > this.setting.limits.mostFileBytes) return 'size'
    return this.#isPurged(path) ? 'purged' : undefined
  }

  #isPurged(path: string): boolean {
    const { forgetter, limits } = this.setting
    if (!forgetter || forgetter.isEmpty) return false
    const name = shown(path)
    const text = guardedText(join(this.scene.root, name), limits.mostFileBytes) ?? ''
    return forgetter.text(name).count > 0 || forgetter.text(text).count > 0
  }

  /** Files that the user put into the index although an ignore rule names them. */
  #addedByUser(user: UserIndex | undefined, index: WorktreeIndex, scan: Scan): string[] {
    if (!user || this.#state.user === undefined || this.#state.user.key === user.key) return []
    const known = index.paths()
    const listed = new Set(scan.untracked)
    return user.entries
      .filter(({ path, isSkipped }) => !isSkipped && !known.has(path) && !listed.has(path))
      .map(({ path }) => path)
  }

  /** A repository in which somebody forgot to ignore something must not fill the disk: the smallest files are taken first. */
  #cut(files: FoundFile[], gone: string[], changed: ReadonlySet<string>): void {
    const { mostFiles, mostBytes } = this.setting.limits
    files.sort((a, b) => a.bytes - b.bytes)
    let bytes = 0
    const from = files.findIndex((file, n) => {
      bytes += file.bytes
      return n >= mostFiles || bytes > mostBytes
    })
    if (from < 0) return
    this.#isPartial = true
    for (const file of files.splice(from)) {
      this.#skipped.push({ path: shown(file.path), reason: 'limit', bytes: file.bytes })
      if (changed.has(file.path)) gone.push(file.path)
    }
  }

  async #inTime(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof GitStopped)) throw error
      this.#isPartial = true
    }
  }

  #refuseMuch(files: readonly { bytes: number }[]): void {
    const { mostFiles, mostBytes } = this.setting.limits
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    if (files.length > mostFiles) throw tooMuch(this.scene.root, `${mostFiles} files`)
    if (bytes > mostBytes) throw tooMuch(this.scene.root, `${Math.round(mostBytes / 2 ** 20)} MB`)
  }

  /** Each repository inside has a store of its own. One without a commit is captured too. */
  async #nested(paths: readonly string[]): Promise<NestedSnapshot[]> {
    const { root, depth } = this.scene
    const found: NestedSnapshot[] = []
    for (const path of [...new Set(paths)]) {
      const repository = repositoryAt(join(root, shown(path)))
      if (!repository) continue
      if (depth >= MOST_DEPTH || found.length >= this.setting.limits.mostNested) {
        this.#isPartial = true
        this.#skipped.push({ path: shown(path), reason: 'limit' })
        continue
      }
      const inner = await captureRoot(this.setting, this.request, repository.root, repository, depth + 1)
      found.push({ path: shown(path), store: inner.store, commit: inner.commit })
      if (inner.mode === 'partial') this.#isPartial = true
      for (const late of inner.late) this.#late.add(`${shown(path)}/${late}`)
      for (const one of inner.skipped) this.#skipped.push({ ...one, path: `${shown(path)}/${one.path}` })
    }
    return found
  }

  #commit(taken: Pick<SnapshotRecord, 'worktree_tree' | 'nested'>): Snapshot {
    const { store, root, startMs } = this.scene
    const { session, moment, turn, start } = this.request
    const seq = store.nextSeq(session, this.#kind)
    const taking: SnapshotRecord = {
      v: 1,
      session,
      seq,
      moment,
      ...(turn === undefined ? {} : { turn }),
      at: new Date(startMs).toISOString(),
      as_of: new Date(this.#asOfMs).toISOString(),
      root,
      ...taken,
      skipped: this.#skipped.slice(0, MOST_NAMED),
      skipped_count: this.#skipped.length,
      mode: this.#isPartial ? 'partial' : 'whole',
      exact: this.#late.size === 0,
      late: [...this.#late].slice(0, MOST_NAMED),
      ...(start === undefined ? {} : { start }),
    }
    const record = (this.setting.forgetter?.json(taking).value ?? taking) as SnapshotRecord
    const commit = store.objects.commit(this.#content(record), messageOf(record), startMs)
    store.objects.flush({ mayPack: true })
    return { ...record, store: store.name, commit }
  }

  #refer({ seq, head, commit }: Snapshot): void {
    const { store, root } = this.scene
    const isOther = JSON.stringify(this.#state) !== this.#before
    if (isOther) writeState(store.directory, this.#state)
    // The first ref keeps what our index refers to, the second the user's commit, whatever snapshots are removed later.
    if (isOther) store.setRef(`refs/skein/${keyOf(root)}`, commit)
    if (head !== undefined) store.setRef(`refs/bases/${head}`, head)
    store.setRef(refOf(this.request.session, seq, this.#kind), commit)
  }

  get #kind(): 'turns' | 'inner' {
    return this.scene.depth === 0 ? 'turns' : 'inner'
  }

  #content(record: SnapshotRecord): string {
    const { user } = this.#state
    const tree = (name: string, oid: string | undefined): TreeEntry[] =>
      oid === undefined ? [] : [{ mode: '40000', name, oid }]
    return this.scene.store.objects.tree([
      ...tree('worktree', record.worktree_tree),
      ...tree('index', record.index_tree),
      ...tree('stages', user?.stages),
      ...(user?.details === undefined ? [] : [{ mode: '100644' as const, name: 'details', oid: user.details }]),
    ])
  }
}

const BATCH_FILES = 2_000
const BATCH_BYTES = 64 * 1024 * 1024
const MOST_DEPTH = 4
