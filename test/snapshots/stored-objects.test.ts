import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LooseObjects } from '../../src/snapshots/loose-object.js'
import { StoredObjects } from '../../src/snapshots/stored-objects.js'

/** A bare repository whose objects git writes and packs, and that is read without git. */
class Store implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'skein-stored-'))
  readonly objects: LooseObjects

  constructor(format: 'sha1' | 'sha256' = 'sha1') {
    this.git(['init', '-q', '--bare', `--object-format=${format}`])
    this.objects = new LooseObjects(this.directory, format)
  }

  git(args: string[], input: string | Buffer = ''): string {
    const who = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a' }
    const env = { PATH: process.env.PATH, HOME: this.directory, GIT_CONFIG_NOSYSTEM: '1', ...who }
    const options = { cwd: this.directory, env, input, maxBuffer: 2 ** 28 }
    return execFileSync('git', args, { ...options, stdio: ['pipe', 'pipe', 'pipe'], encoding: 'latin1' }).trimEnd()
  }

  commit(tree: string, ref: string): string {
    const commit = this.git(['commit-tree', '-m', 'a', tree])
    this.git(['update-ref', `refs/heads/${ref}`, commit])
    return commit
  }

  get stored(): StoredObjects {
    return new StoredObjects(this.directory, this.objects)
  }

  /** Every object by name and kind. */
  all(): [string, 'blob' | 'tree' | 'commit'][] {
    const lines = this.git(['cat-file', '--batch-all-objects', '--batch-check=%(objectname) %(objecttype)'])
    return lines.split('\n').map((line) => line.split(' ') as [string, 'blob' | 'tree' | 'commit'])
  }

  content(oid: string, kind: string): Buffer {
    return execFileSync('git', ['--git-dir', this.directory, 'cat-file', kind, oid], { maxBuffer: 2 ** 28 })
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true })
  }
}

const lines = (count: number, changed: number): string =>
  Array.from({ length: count }, (_, n) => `line ${n === changed ? `of ${n} changed` : n} ${(n * 7919) % 1000}\n`).join(
    '',
  )

/** A content whose name begins with a zero byte: a name that is none would be looked for among those. */
function firstInOrder({ objects }: Store): string {
  for (let n = 0; ; n += 1) if (objects.oidOf('blob', Buffer.from(`${n}`)).startsWith('00')) return `${n}`
}

/** Versions of one file and one directory: packed, most of them are deltas. */
function withHistory(format: 'sha1' | 'sha256'): Store {
  const store = new Store(format)
  const first = store.objects.blob(firstInOrder(store))
  for (let n = 0; n < 12; n += 1) {
    const large = store.objects.blob(lines(4_000, n * 300))
    const small = store.objects.blob(`${n}`)
    rmSync(join(store.directory, 'index'), { force: true })
    const names = Array.from({ length: 60 }, (_, file) => `100644 ${small}\tdeep/down/${file}`)
    const entries = [`100644 ${large}\tlarge`, `100644 ${first}\tfirst`, ...names]
    store.git(['update-index', '-z', '--index-info'], entries.map((entry) => `${entry}\0`).join(''))
    store.commit(store.git(['write-tree']), `v${n}`)
  }
  return store
}

describe.each(['sha1', 'sha256'] as const)('objects of %s that are read without git', (format) => {
  it('are what git reads: loose, whole in a pack, and as deltas of both kinds', { timeout: 120_000 }, () => {
    using store = withHistory(format)
    const all = store.all()
    const read = (): void => {
      using stored = store.stored
      for (const [oid, kind] of all) {
        expect(stored.read(oid, kind)?.equals(store.content(oid, kind))).toBe(true)
        expect(stored.read(oid, kind === 'tree' ? 'blob' : 'tree')).toBeUndefined()
      }
      expect(stored.read('1'.repeat(all[0]?.[0].length ?? 0), 'blob')).toBeUndefined()
      expect(stored.read('', 'tree')).toBeUndefined()
    }
    read()
    for (const isByPlace of [true, false]) {
      store.git(['-c', `repack.useDeltaBaseOffset=${isByPlace}`, 'repack', '-adfq', '--depth=20', '--window=20'])
      store.git(['prune-packed'])
      const packs = join(store.directory, 'objects', 'pack')
      const pack = readdirSync(packs).find((name) => name.endsWith('.idx')) ?? ''
      expect(store.git(['verify-pack', '-s', join(packs, pack)])).toMatch(/chain length = 1\b/)
      read()
    }
  })
})

it('an object that is damaged, cut off or gone is not found', () => {
  using store = withHistory('sha1')
  store.git(['repack', '-adfq'])
  const all = store.all()
  const packs = join(store.directory, 'objects', 'pack')
  const pack = join(packs, readdirSync(packs).find((name) => name.endsWith('.pack')) ?? '')
  const bytes = readFileSync(pack)
  chmodSync(pack, 0o600)
  /** Never anything else than what git had written. */
  const found = (): number => {
    using stored = store.stored
    return all.filter(([oid, kind]) => {
      const content = stored.read(oid, kind)
      if (content) expect(store.objects.oidOf(kind, content)).toBe(oid)
      return content !== undefined
    }).length
  }
  expect(found()).toBe(all.length)
  fc.assert(
    fc.property(fc.integer({ min: 12, max: bytes.length - 21 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
      const damaged = Buffer.from(bytes)
      damaged[at] = (damaged[at] ?? 0) ^ change
      writeFileSync(pack, damaged)
      expect(found()).toBeLessThan(all.length)
    }),
    { numRuns: 20, seed: 18 },
  )
  writeFileSync(pack, bytes.subarray(0, bytes.length >> 1))
  expect(found()).toBeLessThan(all.length)
  const index = pack.replace(/pack$/, 'idx')
  const names = readFileSync(index)
  chmodSync(index, 0o600)
  for (const damaged of [names.subarray(0, 1_200), Buffer.alloc(0), Buffer.concat([Buffer.from('old'), names])]) {
    writeFileSync(index, damaged)
    expect(found()).toBeLessThan(all.length)
  }
  rmSync(index)
  expect(found()).toBe(0)
})

it('an object in the place of another is not found', () => {
  using store = new Store()
  const [one, other] = [store.objects.blob('one'), store.objects.blob('other')]
  const path = (oid: string): string => join(store.directory, 'objects', oid.slice(0, 2), oid.slice(2))
  rmSync(path(one))
  writeFileSync(path(one), readFileSync(path(other)))
  using stored = store.stored
  expect(stored.read(other, 'blob')?.toString()).toBe('other')
  expect(stored.read(one, 'blob')).toBeUndefined()
})
