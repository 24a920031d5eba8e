import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LooseObjects } from '../../src/snapshots/loose-object.js'

/** A bare repository whose objects are written without git. */
class Store implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'skein-pack-'))
  readonly objects: LooseObjects

  constructor(readonly format: 'sha1' | 'sha256') {
    this.git(['init', '-q', '--bare', `--object-format=${format}`])
    this.objects = new LooseObjects(this.directory, format)
  }

  git(args: string[], input: string | Buffer = ''): Buffer {
    const env = { PATH: process.env.PATH, HOME: this.directory, GIT_CONFIG_NOSYSTEM: '1' }
    return execFileSync('git', args, { cwd: this.directory, env, input, stdio: ['pipe', 'pipe', 'pipe'] })
  }

  get packs(): string[] {
    return readdirSync(join(this.directory, 'objects', 'pack')).sort()
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true })
  }
}

/** Sizes on both sides of the steps of the size in a pack. */
const contents = fc.array(
  fc
    .tuple(
      fc.constantFrom(0, 1, 15, 16, 17, 2_047, 2_048, 2_049, 40_000),
      fc.uint8Array({ minLength: 1, maxLength: 9 }),
    )
    .map(([size, piece]) => Buffer.alloc(size, piece)),
  { minLength: 3, maxLength: 12 },
)

describe.each(['sha1', 'sha256'] as const)('objects of %s that are written together', (format) => {
  it('are one pack, with the index that git makes of it and the content that was given', () => {
    fc.assert(
      fc.property(contents, (blobs) => {
        using store = new Store(format)
        store.objects.hold()
        const oids = blobs.map((blob) => store.objects.blob(blob))
        const tree = store.objects.tree([{ mode: '100644', name: 'one', oid: oids[0] ?? '' }])
        const commit = store.objects.commit(tree, 'a message', 0)
        expect(store.packs).toEqual([])
        store.objects.flush({ mayPack: true })
        const [index = '', pack = ''] = store.packs
        if (new Set(oids).size > 0)
          expect([index, pack].map((name) => name.replace(/^.*\./, ''))).toEqual(['idx', 'pack'])
        const path = join(store.directory, 'objects', 'pack')
        const own = join(store.directory, 'made-by-git.idx')
        store.git(['index-pack', '-o', own, join(path, pack)])
        expect(readFileSync(join(path, index)).equals(readFileSync(own))).toBe(true)
        store.git(['update-ref', 'refs/heads/main', commit])
        expect(store.git(['fsck', '--strict', '--full', '--no-dangling']).toString()).toBe('')
        for (const [n, blob] of blobs.entries())
          expect(store.git(['cat-file', 'blob', oids[n] ?? '']).equals(blob)).toBe(true)
      }),
      { numRuns: 8, seed: 18 },
    )
  })

  it('are loose files when they are few, or when nobody would ever repack them', () => {
    using store = new Store(format)
    store.objects.hold()
    const few = ['a', 'b'].map((text) => store.objects.blob(text))
    store.objects.flush({ mayPack: true })
    store.objects.hold()
    const many = ['c', 'd', 'e', 'f'].map((text) => store.objects.blob(text))
    store.objects.flush({ mayPack: false })
    expect(store.packs).toEqual([])
    for (const oid of [...few, ...many]) store.git(['cat-file', '-e', oid])
  })
})
