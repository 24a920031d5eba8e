import { spawnSync } from 'node:child_process'
import { existsSync, lstatSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inflateSync } from 'node:zlib'
import { readPlain, writeAtomic } from '../disk/index.js'
import { type Erasable, filesUnder, isUnder, type Meaning, type SoughtWords, type Sweep } from '../erasure/index.js'
import type { Forgetter } from '../privacy/index.js'
import { BareStore } from './bare-store.js'
import { WAIT_MS } from './capture.js'
import { CLEAN, Git, type GitProgram } from './git.js'
import { messagesOf } from './messages.js'
import { messageOf, recordIn, type SnapshotRecord } from './snapshot.js'
import { TreeEraser } from './tree-eraser.js'
import { dropRefs, repack } from './upkeep.js'
import { stateDirectory, type WorktreeState } from './worktree-state.js'

interface Named {
  ref: string
  commit: string
  record: SnapshotRecord
}

/** Erases from snapshots: sessions, paths and words, in files, names and messages, in every snapshot of every repository. */
export class SnapshotsErasure implements Erasable {
  readonly name = 'snapshots'
  readonly #git: Git

  constructor(
    private readonly directory: string,
    private readonly program: GitProgram,
  ) {
    this.#git = new Git(program)
  }

  owns(path: string): boolean {
    return isUnder(path, this.directory)
  }

  async erase(sweep: Sweep): Promise<void> {
    for (const store of BareStore.all(this.directory, this.#git)) {
      using _held = await store.hold(WAIT_MS)
      await this.#eraseIn(store, sweep)
    }
  }

  async #eraseIn(store: BareStore, sweep: Sweep): Promise<void> {
    const named = await this.#named(store)
    const gone = named.filter(({ record }) => sweep.sessions.has(record.session))
    const left = named.filter((one) => !gone.includes(one))
    const eraser = new TreeEraser(this.#git, store, sweep.forgetter)
    const count = sweep.forgetter.isEmpty ? 0 : await countIn(left, eraser, sweep.forgetter)
    sweep.found(store.directory, gone.length + count)
    const mark = join(store.directory, 'skein', 'erasing')
    if (sweep.dryRun || (gone.length + count === 0 && !existsSync(mark))) return
    // Refs change first; what they no longer lead to is removed by whoever comes next, should this process be killed in between.
    writeFileSync(mark, '', { mode: 0o600 })
    await dropRefs(
      this.#git,
      store,
      gone.map(({ ref }) => ref),
    )
    if (count > 0) await this.#rewrite(store, left, eraser, sweep.forgetter)
    await this.#forgetObjects(store, sweep.forgetter)
    rmSync(mark)
  }

  async #rewrite(store: BareStore, named: readonly Named[], eraser: TreeEraser, forgetter: Forgetter): Promise<void> {
    for (const { ref, commit, record } of named) {
      const worktree = await eraser.without(record.worktree_tree)
      const index = record.index_tree === undefined ? undefined : await eraser.without(record.index_tree)
      const { value, count } = forgetter.json(record)
      if (worktree === record.worktree_tree && index === record.index_tree && count === 0) continue
      const next: SnapshotRecord = { ...(value as SnapshotRecord), worktree_tree: worktree }
      if (index !== undefined) next.index_tree = index
      const details = await eraser.details(commit)
      const tree = store.objects.tree([
        { mode: '40000', name: 'worktree', oid: worktree },
        ...(index === undefined ? [] : [{ mode: '40000' as const, name: 'index', oid: index }]),
        ...(details === undefined ? [] : [{ mode: '100644' as const, name: 'details', oid: details }]),
      ])
      store.setRef(ref, store.objects.commit(tree, messageOf(next), Date.parse(record.at)))
    }
  }

  /**
   * Removes every object that no snapshot needs. The user's object files lose their second name for good, because they hold what the user
   * committed; a snapshot of before then depends on the user's repository for what the user had committed.
   */
  async #forgetObjects(store: BareStore, forgetter: Forgetter): Promise<void> {
    const { directory } = store
    await dropRefs(
      this.#git,
      store,
      (await store.commits('refs/bases')).map(({ ref }) => ref),
    )
    for (const path of filesUnder(join(directory, 'objects')))
      if ((lstatSync(path, { throwIfNoEntry: false })?.nlink ?? 1) > 1 || path.endsWith('.keep'))
        rmSync(path, { force: true })
    writeAtomic(join(directory, 'skein', 'pins.json'), JSON.stringify({ v: 1, packs: [], loose: {}, isOff: true }), {
      durable: true,
    })
    // Indexes are made again by the next capture; the frozen rules stay.
    for (const path of filesUnder(stateDirectory(directory))) {
      const state = path.endsWith('.json')
        ? (JSON.parse(readPlain(path)?.toString() ?? '{}') as WorktreeState)
        : undefined
      if (!state) rmSync(path, { force: true })
      else {
        const { v, root, frozen } = state
        writeAtomic(path, JSON.stringify(forgetter.json({ v, root, frozen }).value), { durable: true })
      }
    }
    for (const name of ['FETCH_HEAD', 'ORIG_HEAD', 'logs'])
      rmSync(join(directory, name), { recursive: true, force: true })
    await repack(this.#git, store)
  }

  async #named(store: BareStore): Promise<Named[]> {
    const refs = (await store.commits('refs/')).filter(({ ref }) => !ref.startsWith('refs/bases/'))
    const messages = await messagesOf(
      this.#git,
      store,
      refs.map(({ commit }) => commit),
    )
    const records = new Map(messages.map(({ commit, message }) => [commit, recordIn(message)]))
    return refs.flatMap(({ ref, commit }) => {
      const record = records.get(commit)
      return record ? [{ ref, commit, record }] : []
    })
  }

  meaning(path: string, head: Buffer, { forgetter, raw }: SoughtWords): Meaning | 'unreadable' | undefined {
    // Also of another profile, whose files are proved by this one's stores.
    if (!/\/snapshots\/[^/]+\.git\//.test(path)) return undefined
    if (/\.(?:idx|rev|keep|bitmap)$/.test(path)) return { bytes: 0, count: 0 }
    const texts = head.toString('latin1', 0, 4) === 'PACK' ? this.#packed(path) : loose(path)
    if (texts === undefined || texts === 'unreadable') return texts
    let [bytes, count] = [0, 0]
    for (const text of texts) {
      bytes += text.length
      count += Math.max(forgetter.text(text).count, raw.countIn(text))
    }
    return { bytes, count }
  }

  /** The objects of a pack, wherever git finds them: an object is its content. */
  #packed(path: string): string[] | 'unreadable' {
    const index = readPlain(path.replace(/\.pack$/, '.idx'))
    if (!index) return 'unreadable'
    const run = (args: readonly string[], input: Buffer): Buffer =>
      spawnSync(this.program.executable, args, {
        env: { ...CLEAN, PATH: this.program.searchPath },
        input,
        maxBuffer: 2 ** 31 - 1,
      }).stdout
    const oids = run(['show-index'], index)
      .toString()
      .split('\n')
      .flatMap((line) => line.split(' ')[1] ?? [])
    const store = path.slice(0, path.indexOf('/objects/pack/'))
    const bytes = run(['--git-dir', store, 'cat-file', '--batch', '--buffer'], Buffer.from(oids.join('\n')))
    return [bytes.toString('utf8')]
  }
}

/** A loose object; undefined for any other file. */
function loose(path: string): string[] | 'unreadable' | undefined {
  if (!/\/objects\/[0-9a-f]{2}\/[0-9a-f]{38,62}$/.test(path)) return undefined
  const bytes = readPlain(path)
  if (!bytes) return 'unreadable'
  try {
    return [inflateSync(bytes).toString('utf8')]
  } catch {
    return 'unreadable'
  }
}

async function countIn(named: readonly Named[], eraser: TreeEraser, forgetter: Forgetter): Promise<number> {
  await eraser.look(
    named.map(({ commit }) => commit),
    named.flatMap(({ record }) => [
      record.worktree_tree,
      ...(record.index_tree === undefined ? [] : [record.index_tree]),
    ]),
  )
  let count = eraser.count
  for (const { record } of named) count += forgetter.json(record).count
  return count
}
