import { execFileSync } from 'node:child_process'
import {
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { LooseObjects } from '../../src/snapshots/loose-object.js'
import { Snapshots } from '../../src/snapshots/snapshots.js'
import { filesOf, ScratchRepository } from './scratch-repository.js'

const of = (repository: ScratchRepository) => ({ directory: repository.root, session: 's-1', moment: 'stop' as const })

/** Snapshots with a git that notes what it is asked for. */
function notingGit(repository: ScratchRepository): { snapshots: Snapshots; started: () => string[] } {
  const [executable, log] = [join(repository.base, 'noting-git'), join(repository.base, 'started')]
  const note = `for one in "$@"; do case "$one" in [a-z]*-*) echo "$one" >> '${log}';; esac; done`
  writeFileSync(executable, `#!/bin/sh\n${note}\nexec git "$@"\n`, { mode: 0o755 })
  writeFileSync(log, '')
  const program = { executable, searchPath: process.env.PATH ?? '' }
  const snapshots = new Snapshots({ directory: repository.stores, home: repository.home, program, now: Date.now })
  const known = ['cat-file', 'diff-files', 'diff-tree', 'ls-files', 'read-tree', 'update-index', 'write-tree']
  const started = () => readFileSync(log, 'utf8').split('\n')
  return { snapshots, started: () => known.filter((name) => started().includes(name)) }
}

const storeOf = (repository: ScratchRepository): string =>
  join(repository.stores, readdirSync(repository.stores).find((name) => name.endsWith('.git')) ?? '')

/** What this process has open below a directory, by name. */
function openBelow(directory: string): string[] {
  const link = (name: string): string => {
    try {
      return readlinkSync(join('/proc/self/fd', name))
    } catch {
      return '' // closed meanwhile
    }
  }
  return readdirSync('/proc/self/fd')
    .map(link)
    .filter((path) => path.startsWith(directory))
}

describe.runIf(process.platform === 'linux')('files that a rewind replaces', () => {
  it('are not left open, whether it is done or refused', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    const first = await snapshots.capture(of(repository))
    const files = filesOf(repository.root)
    for (const name of ['a.txt', 'b.txt', 'src/c.txt', 'src/new.txt']) repository.write(name, 'now\n')
    await snapshots.rewind(first, { preview: false })
    expect(filesOf(repository.root)).toEqual(files)
    await vi.waitFor(() => expect(openBelow(repository.root)).toEqual([]))
    // Only git can remove a link: by then the files before it have been opened.
    repository.write('a.txt', 'later\n')
    repository.link('z-link', 'a.txt')
    await snapshots.rewind(first, { preview: false })
    expect(filesOf(repository.root)).toEqual(files)
    await vi.waitFor(() => expect(openBelow(repository.root)).toEqual([]))
  })
})

describe('a rewind of a few files', () => {
  it('asks git only what has changed, also when no snapshot had it yet', async () => {
    using repository = ScratchRepository.withCommits()
    repository.git('gc', '-q')
    const first = await repository.snapshots().capture(of(repository))
    const files = filesOf(repository.root)
    for (const isCaptured of [true, false]) {
      repository.write('a.txt', `now\nand here\n${isCaptured}\n`)
      repository.write('src/new.txt', 'new\n')
      repository.remove('b.txt')
      if (isCaptured) await repository.snapshots().capture(of(repository))
      const { snapshots, started } = notingGit(repository)
      const { changes, safety } = await snapshots.rewind(first, { preview: false })
      expect(started()).toEqual(['diff-files', 'diff-tree', 'ls-files'])
      expect(filesOf(repository.root)).toEqual(files)
      expect(changes).toEqual([
        { path: 'a.txt', status: 'changed', added: 1, removed: 3 },
        { path: 'b.txt', status: 'added', added: 1, removed: 0 },
        { path: 'src/new.txt', status: 'removed', added: 0, removed: 1 },
      ])
      await snapshots.rewind(safety, { preview: false })
      expect(filesOf(repository.root).get('src/new.txt')).toBe('file new\n')
      await snapshots.rewind(first, { preview: false })
    }
  })

  it('is refused when the store has lost what the files are now: it could not be undone', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    const first = await snapshots.capture(of(repository))
    repository.write('a.txt', 'only in the second snapshot\n')
    await snapshots.capture(of(repository))
    const packs = join(storeOf(repository), 'objects', 'pack')
    const blob = repository.git('hash-object', 'a.txt').trim()
    for (const name of readdirSync(packs).filter((one) => one.endsWith('.pack'))) {
      const input = readFileSync(join(packs, name))
      for (const ending of ['pack', 'idx']) rmSync(join(packs, name.replace(/pack$/, ending)))
      execFileSync('git', ['--git-dir', storeOf(repository), 'unpack-objects', '-q'], { input })
    }
    rmSync(join(storeOf(repository), 'objects', blob.slice(0, 2), blob.slice(2)))
    const now = filesOf(repository.root)
    await expect(snapshots.rewind(first, { preview: false })).rejects.toThrow('git diff-tree')
    expect(filesOf(repository.root)).toEqual(now)
  })

  it('writes nothing that a tree from elsewhere puts into the repository itself or outside', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    const first = await snapshots.capture(of(repository))
    const objects = new LooseObjects(storeOf(repository), 'sha1')
    const blob = objects.blob('#!/bin/sh\n')
    const entry = (mode: string, name: string, oid: string): Buffer =>
      Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(oid, 'hex')])
    for (const name of ['.git', '.GIT', '..']) {
      const inner = objects.write('tree', entry('100755', 'planted', blob))
      const worktree_tree = objects.write('tree', entry('40000', name, inner))
      const commit = objects.commit(objects.tree([{ mode: '40000', name: 'worktree', oid: worktree_tree }]), 'x', 0)
      const now = filesOf(repository.root)
      await expect(snapshots.rewind({ ...first, worktree_tree, commit }, { preview: false })).rejects.toThrow('git')
      expect([name, existsSync(repository.path(join(name, 'planted')))]).toEqual([name, false])
      expect(filesOf(repository.root)).toEqual(now)
    }
  })

  it.each([
    ['of version 4', ['update-index', '--index-version', '4']],
    ['that is split', ['update-index', '--split-index']],
    ['with a cache of untracked files', ['update-index', '--force-untracked-cache']],
    ['with files that are left out', ['sparse-checkout', 'set', '--no-cone', '/*', '!gone.txt']],
    ['with converted line ends', ['config', 'core.autocrlf', 'true']],
  ])('leaves an index %s as it is, and misses no edit that keeps size and time', async (_, command) => {
    using repository = ScratchRepository.withCommits()
    repository.git(...command)
    repository.write('crlf.txt', 'one\r\ntwo\r\n')
    repository.git('add', 'crlf.txt')
    repository.write('a.txt', 'aaaa\n')
    const snapshots = repository.snapshots()
    const first = await snapshots.capture(of(repository))
    const [files, status, index] = [
      filesOf(repository.root),
      repository.status(),
      readFileSync(repository.path('.git/index')),
    ]
    const { atime, mtime } = statSync(repository.path('a.txt'))
    for (const text of ['bbbb\n', 'cccc\n']) {
      repository.write('a.txt', text)
      utimesSync(repository.path('a.txt'), atime, mtime)
      repository.write('crlf.txt', 'one\ntwo\r\n\r')
      const { safety } = await snapshots.rewind(first, { preview: false })
      expect(filesOf(repository.root)).toEqual(files)
      await snapshots.rewind(safety, { preview: false })
      expect(filesOf(repository.root).get('a.txt')).toBe(`file ${text}`)
      await snapshots.rewind(first, { preview: false })
      expect(filesOf(repository.root)).toEqual(files)
    }
    expect(readFileSync(repository.path('.git/index')).equals(index)).toBe(true)
    expect(repository.status()).toBe(status)
  })
})
