import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryName } from '../disk/index.js'
import { forgetInFile } from '../erasure/index.js'
import type { Forgetter } from '../privacy/index.js'
import type { BareStore } from './bare-store.js'
import type { Git } from './git.js'
import { shown } from './snapshot.js'
import { stateDirectory } from './worktree-state.js'

/** Blobs that are looked into at once. */
const BATCH_BYTES = 64 * 1024 * 1024

/** Finds and removes words in the trees of a store: a name that has them goes with its file, a text loses the words. */
export class TreeEraser {
  /** What each affected blob becomes; undefined for one that is no text and goes as a whole. */
  readonly #texts = new Map<string, string | undefined>()
  readonly #done = new Map<string, string>()
  readonly #names = new Map<string, boolean>()
  count = 0

  constructor(
    private readonly git: Git,
    private readonly store: BareStore,
    private readonly forgetter: Forgetter,
  ) {}

  /** Looks into every object that these commits lead to, and at every name in their trees. */
  async look(commits: readonly string[], trees: readonly string[]): Promise<void> {
    if (commits.length === 0) return
    const input = commits.map((commit) => `${commit}\n`).join('')
    const listed = await this.git.text(
      [...this.store.at(), 'rev-list', '--objects', '--missing=allow-any', '--stdin'],
      {
        input,
      },
    )
    const oids = listed.split('\n').map((line) => line.split(' ', 1)[0] ?? '')
    for (const batch of await this.#batches(oids.filter((oid) => oid !== ''))) await this.#lookInto(batch)
    // git names each object once; a name is looked for in every tree that may have it.
    for (const tree of new Set(trees)) for (const { path } of await this.#entries(tree)) this.#isNamed(path)
    this.count += [...this.#names.values()].filter((isNamed) => isNamed).length
  }

  async #batches(oids: readonly string[]): Promise<string[][]> {
    const lines = await this.git.text([...this.store.at(), 'cat-file', '--batch-check', '--buffer'], {
      input: oids.map((oid) => `${oid}\n`).join(''),
    })
    const batches: string[][] = [[]]
    let bytes = 0
    for (const line of lines.split('\n')) {
      const [oid = '', kind = '', size = '0'] = line.split(' ')
      if (kind !== 'blob') continue
      if (bytes > BATCH_BYTES) {
        batches.push([])
        bytes = 0
      }
      batches.at(-1)?.push(oid)
      bytes += Number(size)
    }
    return batches.filter((batch) => batch.length > 0)
  }

  async #lookInto(oids: readonly string[]): Promise<void> {
    const bytes = await this.git.bytes([...this.store.at(), 'cat-file', '--batch', '--buffer'], {
      input: oids.map((oid) => `${oid}\n`).join(''),
    })
    for (let at = 0; at < bytes.length; ) {
      const end = bytes.indexOf(10, at)
      const [oid = '', , size = '0'] = bytes.toString('latin1', at, end).split(' ')
      const content = bytes.subarray(end + 1, end + 1 + Number(size))
      at = end + 1 + Number(size) + 1
      const text = content.toString('utf8')
      const { value, count } = forgetInFile(text, this.forgetter)
      if (count === 0) continue
      this.count += count
      this.#texts.set(oid, Buffer.from(text).equals(content) ? value : undefined)
    }
  }

  #isNamed(path: string): boolean {
    const known = this.#names.get(path)
    if (known !== undefined) return known
    const isNamed = this.forgetter.text(shown(path)).count > 0
    this.#names.set(path, isNamed)
    return isNamed
  }

  async #entries(tree: string): Promise<{ mode: string; oid: string; path: string }[]> {
    const lines = await this.git.fields([...this.store.at(), 'ls-tree', '-r', '-z', '--full-tree', tree])
    return lines.map((line) => {
      const [mode = '', , oid = ''] = line.slice(0, line.indexOf('\t')).split(' ')
      return { mode, oid, path: line.slice(line.indexOf('\t') + 1) }
    })
  }

  /** The tree without what must go; itself when it has none of it. */
  async without(tree: string): Promise<string> {
    const done = this.#done.get(tree)
    if (done !== undefined) return done
    const changes = (await this.#entries(tree)).flatMap(({ mode, oid, path }) => {
      const text = this.#texts.get(oid)
      if (this.#isNamed(path) || (this.#texts.has(oid) && text === undefined))
        return [`0 ${'0'.repeat(oid.length)}\t${path}\0`]
      return text === undefined ? [] : [`${mode} ${this.store.objects.blob(text)} 0\t${path}\0`]
    })
    const result = changes.length === 0 ? tree : await this.#written(tree, changes.join(''))
    this.#done.set(tree, result)
    return result
  }

  async #written(tree: string, changes: string): Promise<string> {
    const index = temporaryName(join(stateDirectory(this.store.directory), 'erasing'))
    const env = { GIT_INDEX_FILE: index }
    try {
      await this.git.run([...this.store.at(), 'read-tree', tree], { env })
      const args = [...this.store.at(), 'update-index', '-z', '--index-info']
      await this.git.run(args, { env, input: Buffer.from(changes, 'latin1') })
      return await this.git.text([...this.store.at(), 'write-tree', '--missing-ok'], { env })
    } finally {
      rmSync(index, { force: true })
    }
  }

  /** The details of a snapshot, without what must go. Unresolved entries go as a whole: their objects may have the words. */
  async details(commit: string): Promise<string | undefined> {
    const { code, stdout } = await this.git.run([...this.store.at(), 'cat-file', 'blob', `${commit}:details`], {
      accept: [128],
    })
    if (code !== 0) return undefined
    const details = this.forgetter.json({ ...(JSON.parse(stdout.toString()) as object), stages: [] }).value
    return this.store.objects.blob(JSON.stringify(details))
  }
}
