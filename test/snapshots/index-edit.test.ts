import { execFileSync } from 'node:child_process'
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editIndex, treeOfIndex } from '../../src/snapshots/index-edit.js'
import { LooseObjects } from '../../src/snapshots/loose-object.js'

/** A repository whose index is changed without git, and then by git. */
class Edited implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), 'skein-index-'))
  readonly objects: LooseObjects

  constructor(format: 'sha1' | 'sha256' = 'sha1') {
    this.git('init', '-q', `--object-format=${format}`)
    this.objects = new LooseObjects(join(this.root, '.git'), format)
  }

  git(...args: string[]): string {
    const env = { PATH: process.env.PATH, HOME: this.root, GIT_CONFIG_NOSYSTEM: '1' }
    const who = ['-c', 'user.name=t', '-c', 'user.email=t@example.org']
    return execFileSync('git', [...who, ...args], {
      cwd: this.root,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim()
  }

  write(path: string, content: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true })
    writeFileSync(join(this.root, path), content)
  }

  get index(): string {
    return join(this.root, '.git', 'index')
  }

  /** The same as `git update-index --add --remove` of these paths; undefined when it is left to git. */
  edit(set: readonly string[], removed: readonly string[]): string | undefined {
    const files = set.map((path) => {
      const stat = lstatSync(join(this.root, path), { bigint: true })
      const target = stat.isSymbolicLink() ? 'nowhere' : readFileSync(join(this.root, path))
      return { path, stat, oid: this.objects.blob(target) }
    })
    const edited = editIndex(readFileSync(this.index), { set: files, removed }, this.objects)
    if (edited) writeFileSync(this.index, edited.bytes)
    return edited?.tree
  }

  [Symbol.dispose](): void {
    rmSync(this.root, { recursive: true, force: true })
  }
}

const NAMES = ['a', 'a.b', 'a-b/c', 'b/a', 'b/b/c', 'b/b.c', 'b/b/d/e', 'c/0', 'c/z/1', 'z'] as const

describe.each(['sha1', 'sha256'] as const)('an index of %s that is changed without git', (format) => {
  it('is what git makes of the same files, and so are its trees', { timeout: 120_000 }, () => {
    const edits = fc.array(
      fc.record({ name: fc.constantFrom(...NAMES), what: fc.constantFrom('write', 'remove', 'executable', 'link') }),
      { minLength: 1, maxLength: 6 },
    )
    fc.assert(
      fc.property(
        fc.subarray([...NAMES], { minLength: 2 }),
        fc.array(edits, { minLength: 1, maxLength: 3 }),
        (first, rounds) => {
          using scratch = new Edited(format)
          for (const name of first) scratch.write(name, `${name}\n`)
          scratch.git('add', '-A')
          scratch.git('write-tree')
          for (const [round, some] of rounds.entries()) {
            const set = new Set<string>()
            const removed = new Set<string>()
            for (const { name, what } of some) {
              const path = join(scratch.root, name)
              rmSync(path, { force: true })
              set.delete(name)
              removed.delete(name)
              if (what === 'remove') removed.add(name)
              else {
                if (what === 'link') {
                  mkdirSync(dirname(path), { recursive: true })
                  symlinkSync('nowhere', path)
                } else scratch.write(name, `${name} ${round}\n`)
                if (what === 'executable') chmodSync(path, 0o755)
                set.add(name)
              }
            }
            const tree = scratch.edit([...set], [...removed])
            expect(tree).toBeDefined()
            const entries = scratch.git('ls-files', '-s', '--debug')
            expect(scratch.git('diff-files', '--name-status')).toBe('')
            expect(scratch.git('ls-files', '-o')).toBe('')
            expect(scratch.git('write-tree')).toBe(tree)
            expect(scratch.git('fsck', '--strict', '--no-dangling')).toBe('')
            // From nothing: git reads every file again and makes every tree.
            rmSync(scratch.index)
            scratch.git('add', '-A')
            expect(scratch.git('write-tree')).toBe(tree)
            expect(scratch.git('ls-files', '-s', '--debug')).toBe(entries)
          }
        },
      ),
      { numRuns: 12, seed: 18 },
    )
  })
})

describe.each(['sha1', 'sha256'] as const)('the tree of an index of %s', (format) => {
  it('is the one that git writes, whatever was staged since the last commit', { timeout: 120_000 }, () => {
    const staging = fc.array(fc.record({ name: fc.constantFrom(...NAMES), isGone: fc.boolean() }), { maxLength: 4 })
    fc.assert(
      fc.property(fc.subarray([...NAMES], { minLength: 3 }), staging, (first, rounds) => {
        using scratch = new Edited(format)
        for (const name of first) scratch.write(name, `${name}\n`)
        scratch.git('add', '-A')
        const link = `160000,${'1'.repeat(scratch.objects.hashBytes * 2)},sub`
        scratch.git('update-index', '--add', '--cacheinfo', link)
        scratch.git('write-tree')
        for (const [round, { name, isGone }] of rounds.entries()) {
          if (isGone) scratch.git('rm', '-q', '-f', '--cached', '--ignore-unmatch', name)
          else {
            scratch.write(name, `${name} ${round}\n`)
            scratch.git('add', name)
          }
        }
        scratch.git('update-index', '--assume-unchanged', scratch.git('ls-files').split('\n')[0] ?? '')
        const before = readFileSync(scratch.index)
        const tree = treeOfIndex(before, scratch.objects)
        expect(scratch.git('fsck', '--strict', '--no-dangling', tree ?? '')).toBe('')
        expect(readFileSync(scratch.index).equals(before)).toBe(true)
        expect(scratch.git('write-tree')).toBe(tree)
      }),
      { numRuns: 12, seed: 18 },
    )
  })
})

describe('an index that only git understands', () => {
  it.each([
    ['of version 4', ['update-index', '--index-version', '4']],
    ['that is split', ['update-index', '--split-index']],
    ['with a file that is left out', ['update-index', '--skip-worktree', 'a']],
    ['with a file of which only the name is there', ['add', '-N', 'new']],
  ])('%s is left to git', (_, args) => {
    using scratch = new Edited()
    for (const name of ['a', 'b/c']) scratch.write(name, name)
    scratch.git('add', '-A')
    scratch.git('write-tree')
    scratch.write('new', 'new')
    scratch.git(...args)
    const before = readFileSync(scratch.index)
    expect(treeOfIndex(before, scratch.objects)).toBeUndefined()
    expect(scratch.edit(['b/c'], [])).toBeUndefined()
    expect(readFileSync(scratch.index).equals(before)).toBe(true)
  })

  it('is one where a file takes the place of a directory, or a directory that of a file', () => {
    using scratch = new Edited()
    for (const name of ['a', 'b/c']) scratch.write(name, name)
    scratch.git('add', '-A')
    scratch.git('write-tree')
    rmSync(join(scratch.root, 'a'))
    scratch.write('a/x', 'x')
    expect(scratch.edit(['a/x'], ['a'])).toBeUndefined()
    rmSync(join(scratch.root, 'b'), { recursive: true })
    scratch.write('b', 'b')
    expect(scratch.edit(['b'], ['b/c'])).toBeUndefined()
  })

  it('is one that is cut off anywhere', () => {
    using scratch = new Edited()
    for (const name of NAMES) scratch.write(name, name)
    scratch.git('add', '-A')
    scratch.git('write-tree')
    const whole = readFileSync(scratch.index)
    for (let length = 0; length < whole.length; length += 7)
      expect(editIndex(whole.subarray(0, length), { set: [], removed: ['a'] }, scratch.objects)).toBeUndefined()
  })
})
