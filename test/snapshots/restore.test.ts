import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { filesOf, ScratchRepository } from './scratch-repository.js'

interface State {
  name: string
  /** Brings the repository into the state. */
  prepare: (repository: ScratchRepository) => void
  make?: () => ScratchRepository
  /** What is in the worktree and in no snapshot. */
  skip?: (path: string) => boolean
}

const isIgnored = (path: string): boolean => path.startsWith('ignored') || path.endsWith('.log')

const STATES: State[] = [
  {
    name: 'a directory with an odd name',
    make: () => ScratchRepository.withCommits('"odd"\nname # \\ ü'),
    prepare: (repository) => repository.write('a.txt', 'unstaged\n'),
  },
  { name: 'nothing changed', prepare: () => {} },
  {
    name: 'staged',
    prepare: (repository) => {
      repository.write('a.txt', 'staged\n')
      repository.write('new.txt', 'staged and new\n')
      repository.git('add', 'a.txt', 'new.txt')
    },
  },
  { name: 'unstaged', prepare: (repository) => repository.write('a.txt', 'unstaged\n') },
  {
    name: 'staged and changed again',
    prepare: (repository) => {
      repository.write('a.txt', 'staged\n')
      repository.git('add', 'a.txt')
      repository.write('a.txt', 'staged, then changed\n')
    },
  },
  {
    name: 'deleted, staged and not',
    prepare: (repository) => {
      repository.remove('gone.txt')
      repository.git('rm', '-q', 'b.txt')
      repository.git('rm', '-q', '--cached', 'src/c.txt')
    },
  },
  {
    name: 'renamed in the index',
    prepare: (repository) => {
      repository.git('mv', 'a.txt', 'moved.txt')
      repository.write('moved.txt', 'a, second\nand more\n')
    },
  },
  {
    name: 'untracked, in new directories and with odd names',
    prepare: (repository) => {
      repository.write('new/deep/file.txt', 'untracked\n')
      repository.write(' leading and trailing ', 'blank\n')
      repository.write('new\nline "quoted" \\ back', 'odd\n')
      repository.write('-dash', 'dash\n')
      repository.write('ümläut ☃', 'utf8\n')
      writeFileSync(Buffer.concat([Buffer.from(`${repository.root}/`), Buffer.from([0xff, 0xfe, 0x41])]), 'bytes')
      repository.write('empty', '')
      repository.write('binary', Buffer.from([0, 1, 2, 255, 13, 10]))
      repository.write('ignored/kept-out', 'no')
      repository.write('x.log', 'no')
    },
    skip: isIgnored,
  },
  {
    name: 'executable bit',
    prepare: (repository) => {
      repository.makeExecutable('a.txt')
      repository.write('run.sh', '#!/bin/sh\n')
      repository.makeExecutable('run.sh')
      repository.makeExecutable('b.txt')
      repository.git('add', 'b.txt')
    },
  },
  {
    name: 'symbolic links, also dangling and in the place of a file or directory',
    prepare: (repository) => {
      repository.link('link', 'a.txt')
      repository.link('dangling', '/no/such/place')
      repository.remove('b.txt')
      repository.link('b.txt', 'a.txt')
      repository.remove('src')
      repository.link('src', 'new-source')
      repository.write('new-source/c.txt', 'behind the link\n')
    },
  },
  {
    name: 'a file in the place of a directory and the other way round',
    prepare: (repository) => {
      repository.remove('src')
      repository.write('src', 'now a file\n')
      repository.remove('a.txt')
      repository.write('a.txt/inside', 'now a directory\n')
    },
  },
  {
    name: 'merge conflict',
    prepare: (repository) => {
      repository.git('checkout', '-q', '-b', 'side', 'HEAD~1')
      repository.write('a.txt', 'theirs\n')
      repository.write('src/c.txt', 'theirs too\n')
      repository.git('rm', '-q', 'b.txt')
      repository.commit('side')
      repository.git('checkout', '-q', 'main')
      repository.write('b.txt', 'ours\n')
      repository.commit('three')
      expect(() => repository.git('merge', 'side')).toThrow()
      repository.write('a.txt', 'half resolved\n')
      repository.write('untracked', 'beside a conflict')
    },
  },
  {
    name: 'unborn HEAD',
    make: () => {
      const repository = new ScratchRepository()
      repository.git('init', '-q', '-b', 'main')
      return repository
    },
    prepare: (repository) => {
      repository.write('staged', 'staged\n')
      repository.git('add', 'staged')
      repository.write('untracked', 'untracked\n')
    },
  },
  {
    name: 'unborn HEAD without an index',
    make: () => {
      const repository = new ScratchRepository()
      repository.git('init', '-q', '-b', 'main')
      return repository
    },
    prepare: (repository) => repository.write('untracked', 'untracked\n'),
  },
  {
    name: 'detached HEAD',
    prepare: (repository) => {
      repository.git('checkout', '-q', '--detach', 'HEAD~1')
      repository.write('a.txt', 'changed while detached\n')
    },
  },
  {
    name: 'sparse checkout',
    prepare: (repository) => {
      repository.git('sparse-checkout', 'set', '--no-cone', '/a.txt', '/.gitignore')
      repository.write('a.txt', 'changed in a sparse checkout\n')
    },
  },
  {
    name: 'sparse index',
    prepare: (repository) => {
      repository.git('sparse-checkout', 'set', '--cone', '--sparse-index', 'src/deep')
      repository.write('src/deep/d.txt', 'changed beside a sparse index\n')
    },
  },
  {
    name: 'intent to add, assume unchanged, skip worktree',
    prepare: (repository) => {
      repository.write('intended', 'only its name is in the index\n')
      repository.git('add', '-N', 'intended')
      repository.git('update-index', '--assume-unchanged', 'a.txt')
      repository.write('a.txt', 'git does not look\n')
      repository.git('update-index', '--skip-worktree', 'b.txt')
      repository.write('b.txt', 'nor here\n')
    },
  },
  {
    name: 'split index',
    prepare: (repository) => {
      repository.git('update-index', '--split-index')
      repository.write('a.txt', 'staged\n')
      repository.git('add', 'a.txt')
      repository.write('b.txt', 'unstaged\n')
    },
  },
  {
    name: 'index of version 4',
    prepare: (repository) => {
      repository.git('update-index', '--index-version', '4')
      repository.write('src/c.txt', 'unstaged\n')
    },
  },
  {
    name: 'a file that is ignored and in the index',
    prepare: (repository) => {
      repository.write('ignored/forced', 'in the index all the same\n')
      repository.git('add', '-f', 'ignored/forced')
    },
  },
  {
    name: 'line ends and filters',
    prepare: (repository) => {
      repository.git('config', 'filter.upper.clean', 'tr a-z A-Z')
      repository.git('config', 'filter.upper.smudge', 'tr A-Z a-z')
      repository.write('.gitattributes', '*.crlf text eol=crlf\n*.up filter=upper\n*.id ident\n')
      repository.write('dos.crlf', 'one\r\ntwo\r\n')
      repository.write('word.up', 'small letters\n')
      repository.write('me.id', '$Id$\n')
      repository.commit('attributes')
      repository.write('dos.crlf', 'one\r\ntwo\r\nthree\r\n')
      repository.write('other.up', 'untracked and filtered\n')
    },
  },
  {
    name: 'sha256 objects',
    make: () => {
      const repository = new ScratchRepository()
      repository.git('init', '-q', '-b', 'main', '--object-format=sha256')
      repository.write('a.txt', 'a\n')
      repository.commit('one')
      return repository
    },
    prepare: (repository) => {
      repository.write('a.txt', 'staged\n')
      repository.git('add', 'a.txt')
      repository.write('b.txt', 'untracked\n')
    },
  },
]

/** Repositories with others beside or inside them. */
const AROUND: (State & { directory?: (repository: ScratchRepository) => string })[] = [
  {
    name: 'linked worktree',
    prepare: (repository) => {
      repository.git('worktree', 'add', '-q', '-b', 'linked', join(repository.base, 'linked'))
      repository.write('a.txt', 'changed in the main worktree\n')
      repository.git('add', 'a.txt')
      writeFileSync(join(repository.base, 'linked', 'b.txt'), 'changed in the linked worktree\n')
      writeFileSync(join(repository.base, 'linked', 'new.txt'), 'new in the linked worktree\n')
      repository.gitIn(join(repository.base, 'linked'), 'add', 'new.txt')
    },
    directory: (repository) => join(repository.base, 'linked'),
  },
  {
    name: 'submodule, clean',
    prepare: (repository) => addSubmodule(repository),
  },
  {
    name: 'submodule with changed, staged and untracked files and another commit',
    prepare: (repository) => {
      addSubmodule(repository)
      repository.write('sub/inner.txt', 'committed inside\n')
      repository.gitIn(repository.path('sub'), 'commit', '-qam', 'inside')
      repository.write('sub/inner.txt', 'changed inside\n')
      repository.write('sub/new.txt', 'untracked inside\n')
      repository.write('sub/staged.txt', 'staged inside\n')
      repository.gitIn(repository.path('sub'), 'add', 'staged.txt')
    },
  },
  {
    name: 'nested repositories that git does not know, with and without a commit',
    prepare: (repository) => {
      for (const name of ['vendor/with', 'vendor/without']) {
        repository.write(`${name}/file.txt`, `${name}\n`)
        repository.gitIn(repository.path(name), 'init', '-q', '-b', 'inner')
      }
      repository.gitIn(repository.path('vendor/with'), 'add', '-A')
      repository.gitIn(repository.path('vendor/with'), 'commit', '-qm', 'inner')
      repository.write('vendor/with/file.txt', 'changed\n')
      repository.write('vendor/beside.txt', 'beside them\n')
    },
  },
  {
    name: 'shallow clone',
    prepare: (repository) => {
      repository.git('clone', '-q', '--depth', '1', `file://${repository.root}`, join(repository.base, 'shallow'))
      writeFileSync(join(repository.base, 'shallow', 'a.txt'), 'changed in the shallow clone\n')
    },
    directory: (repository) => join(repository.base, 'shallow'),
  },
  {
    name: 'a subdirectory of the worktree',
    prepare: (repository) => repository.write('src/new.txt', 'new\n'),
    directory: (repository) => repository.path('src'),
  },
]

function addSubmodule(repository: ScratchRepository): void {
  const other = join(repository.base, 'other')
  repository.git('init', '-q', '-b', 'main', other)
  writeFileSync(join(other, 'inner.txt'), 'inner\n')
  repository.gitIn(other, 'add', '-A')
  repository.gitIn(other, 'commit', '-qm', 'inner')
  repository.git('submodule', '--quiet', 'add', other, 'sub')
  repository.commit('with a submodule')
}

const HAS_LFS = spawnSync('git', ['lfs', 'version']).status === 0

describe('a snapshot restored into a new worktree', () => {
  it.each(AROUND)('is what the worktree was: $name', async ({ prepare, directory = ({ root }) => root }) => {
    using repository = ScratchRepository.withCommits()
    prepare(repository)
    const root = repository.gitIn(directory(repository), 'rev-parse', '--show-toplevel').trim()
    const inner = [...filesOf(root).keys()].filter((path) => path.endsWith('/file.txt') || path === 'sub/inner.txt')
    const stateOf = (at: string) => ({
      files: filesOf(at),
      status: repository.status(at),
      inner: inner.map((path) => repository.status(dirname(join(at, path)))),
      heads: inner.map((path) => headIn(repository, dirname(join(at, path)))),
    })
    const state = stateOf(root)
    const snapshots = repository.snapshots()
    const snapshot = await snapshots.capture({ directory: directory(repository), session: 's-1', moment: 'stop' })
    expect([snapshot.mode, snapshot.root]).toEqual(['whole', root])
    const path = join(repository.base, 'restored')
    await snapshots.restore(snapshot, { path, branch: 'restored' })
    expect(stateOf(path)).toEqual(state)
    expect(stateOf(root)).toEqual(state)
  })

  it('is what it was after the program that filters its files has lost its own copies', async () => {
    using repository = ScratchRepository.withCommits()
    const kept = join(repository.base, 'large')
    // What LFS does: the repository has a name, the content is elsewhere.
    writeFileSync(
      join(repository.base, 'clean'),
      `#!/bin/sh\nmkdir -p ${kept}; t=$(mktemp); cat > $t; h=$(sha1sum < $t | cut -c1-40); cp $t ${kept}/$h; rm $t; echo $h\n`,
      { mode: 0o755 },
    )
    writeFileSync(join(repository.base, 'smudge'), `#!/bin/sh\nread h; cat ${kept}/$h\n`, { mode: 0o755 })
    repository.git('config', 'filter.large.clean', join(repository.base, 'clean'))
    repository.git('config', 'filter.large.smudge', join(repository.base, 'smudge'))
    repository.write('.gitattributes', '*.bin filter=large\n')
    repository.write('model.bin', 'large content\n'.repeat(1000))
    repository.commit('large')
    const status = repository.status()
    const files = filesOf(repository.root)
    const snapshots = repository.snapshots()
    const snapshot = await snapshots.capture({ directory: repository.root, session: 's-1', moment: 'stop' })
    rmSync(kept, { recursive: true })
    const path = join(repository.base, 'restored')
    await snapshots.restore(snapshot, { path })
    expect(filesOf(path)).toEqual(files)
    expect(repository.status(path)).toBe(status)
  })

  it.skipIf(!HAS_LFS)('is what it was after git lfs prune (needs git-lfs)', async () => {
    using repository = ScratchRepository.withCommits()
    repository.git('lfs', 'install', '--local', '--skip-repo')
    repository.write('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n')
    repository.write('model.bin', 'first\n'.repeat(1_000))
    repository.commit('first')
    const states = new Map<string, { files: unknown; status: string }>()
    const snapshots = repository.snapshots()
    const take = async (name: string) => {
      states.set(name, { files: filesOf(repository.root), status: repository.status() })
      return snapshots.capture({ directory: repository.root, session: 's-1', moment: 'stop' })
    }
    const committed = await take('committed')
    repository.write('model.bin', 'second\n'.repeat(1_000))
    const changed = await take('changed')
    repository.git('add', 'model.bin')
    const staged = await take('staged')
    repository.write('model.bin', 'third\n'.repeat(1_000))
    repository.git('add', 'model.bin')
    repository.git('commit', '-q', '--amend', '-m', 'amended')
    repository.git('reflog', 'expire', '--expire=now', '--all')
    repository.git('gc', '-q', '--prune=now')
    const objects = repository.path('.git/lfs/objects')
    const before = filesOf(objects).size
    // Only what a remote has is pruned, unless its store is emptied.
    repository.git('-c', 'lfs.pruneoffsetdays=0', '-c', 'lfs.fetchrecentrefsdays=0', 'lfs', 'prune', '--force')
    expect(filesOf(objects).size).toBeLessThan(before)
    for (const [name, snapshot] of Object.entries({ committed, changed, staged })) {
      const path = join(repository.base, `restored-${name}`)
      await snapshots.restore(snapshot, { path })
      expect({ name, files: filesOf(path) }).toEqual({ name, files: states.get(name)?.files })
      expect({ name, status: repository.status(path) }).toEqual({ name, status: states.get(name)?.status })
    }
  })

  it('is what it was although store and repository are on different file systems, and the user pruned', async () => {
    using repository = ScratchRepository.withCommits()
    const elsewhere = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'skein-elsewhere-'))
    try {
      const snapshots = repository.snapshots({}, undefined, join(elsewhere, 'snapshots'))
      const states: { snapshot: Awaited<ReturnType<typeof snapshots.capture>>; files: unknown; status: string }[] = []
      for (let n = 0; n < 3; n += 1) {
        repository.write('a.txt', `committed ${n}\n`)
        repository.commit(`commit ${n}`)
        repository.write('b.txt', `staged ${n}\n`)
        repository.git('add', 'b.txt')
        repository.write('c.txt', `untracked ${n}\n`)
        const state = { files: filesOf(repository.root), status: repository.status() }
        states.push({
          ...state,
          snapshot: await snapshots.capture({ directory: repository.root, session: 's', moment: 'stop' }),
        })
      }
      loseEverything(repository)
      await snapshots.collect({ onlyDue: false })
      for (const [n, { snapshot, files, status }] of states.entries()) {
        const path = join(repository.base, `restored-${n}`)
        await snapshots.restore(snapshot, { path })
        expect([filesOf(path), repository.status(path)]).toEqual([files, status])
      }
    } finally {
      rmSync(elsewhere, { recursive: true })
    }
  })

  it('is a plain directory without git', async () => {
    using repository = new ScratchRepository()
    repository.write('notes/a.txt', 'a\n')
    repository.write('run', '#!/bin/sh\n')
    repository.makeExecutable('run')
    repository.link('link', 'run')
    const files = filesOf(repository.root)
    const snapshots = repository.snapshots()
    const first = await snapshots.capture({ directory: repository.root, session: 's-1', moment: 'prompt' })
    repository.remove('notes')
    repository.write('run', 'changed\n')
    const second = await snapshots.capture({ directory: repository.root, session: 's-1', moment: 'stop' })
    const [before, after] = [join(repository.base, 'before'), join(repository.base, 'after')]
    await snapshots.restore(first, { path: before })
    await snapshots.restore(second, { path: after })
    expect(filesOf(before)).toEqual(files)
    expect(filesOf(after)).toEqual(filesOf(repository.root))
  })

  it('is refused where something is, and leaves nothing when it fails', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    const snapshot = await snapshots.capture({ directory: repository.root, session: 's-1', moment: 'stop' })
    await expect(snapshots.restore(snapshot, { path: repository.root })).rejects.toThrow('already there')
    const path = join(repository.base, 'restored')
    const lost = { ...snapshot, worktree_tree: '1'.repeat(40) }
    await expect(snapshots.restore(lost, { path, branch: 'restored' })).rejects.toThrow('git read-tree')
    expect(existsSync(path)).toBe(false)
    expect(repository.git('branch', '--list', 'restored')).toBe('')
    expect(repository.git('worktree', 'list').trim().split('\n')).toHaveLength(1)
    await expect(snapshots.restore(snapshot, { path, branch: 'main' })).rejects.toThrow('already there')
    expect(repository.git('branch', '--list', 'main')).toContain('main')
  })

  it.each(STATES)(
    'is what the worktree was: $name',
    async ({ prepare, make = () => ScratchRepository.withCommits(), skip }) => {
      using repository = make()
      prepare(repository)
      const status = repository.status()
      const files = filesOf(repository.root, skip)
      const head = readFileSync(repository.path('.git/HEAD'), 'utf8')
      const snapshots = repository.snapshots()
      const snapshot = await snapshots.capture({
        directory: repository.root,
        session: 's-1',
        moment: 'prompt',
        turn: 1,
      })
      expect([snapshot.mode, snapshot.exact, snapshot.late, snapshot.skipped]).toEqual(['whole', true, [], []])
      const path = join(repository.base, 'restored')
      await snapshots.restore(snapshot, { path })
      expect(filesOf(path)).toEqual(files)
      expect(repository.status(path)).toBe(status)
      expect(readFileSync(repository.path('.git/HEAD'), 'utf8')).toBe(head)
      expect(repository.status()).toBe(status)
    },
  )

  it.each(STATES)('is what it was after the user changed everything: $name', async (state) => {
    const { prepare, make = () => ScratchRepository.withCommits(), skip } = state
    using repository = make()
    prepare(repository)
    const status = repository.status()
    const files = filesOf(repository.root, skip)
    const snapshots = repository.snapshots()
    const first = await snapshots.capture({ directory: repository.root, session: 's-1', moment: 'prompt' })
    loseEverything(repository)
    const second = await snapshots.capture({ directory: repository.root, session: 's-1', moment: 'stop' })
    expect(second.worktree_tree).not.toBe(first.worktree_tree)
    const path = join(repository.base, 'restored')
    await snapshots.restore(first, { path, branch: 'skein/session/one' })
    expect(filesOf(path)).toEqual(files)
    expect(repository.status(path)).toBe(status)
  })
})

function headIn(repository: ScratchRepository, directory: string): string {
  try {
    return repository.gitIn(directory, 'rev-parse', 'HEAD')
  } catch {
    return 'unborn'
  }
}

/** Commits, amends, drops every old commit and object, and removes every file. */
function loseEverything(repository: ScratchRepository): void {
  for (const operation of ['merge', 'rebase'])
    try {
      repository.git(operation, '--abort')
    } catch {}
  repository.git('config', 'core.sparseCheckout', 'false')
  rmSync(repository.path('.git/index'), { force: true })
  for (const name of filesOf(repository.root).keys())
    if (!/[^ -~]/.test(name)) rmSync(repository.path(name), { force: true })
  repository.write('other', 'all is different\n')
  repository.git('checkout', '-q', '--orphan', 'another')
  repository.git('add', '-A', '--sparse')
  repository.git('commit', '-q', '-m', 'another beginning')
  for (const branch of ['main', 'side'])
    try {
      repository.git('branch', '-q', '-D', branch)
    } catch {}
  for (const name of ['ORIG_HEAD', 'FETCH_HEAD']) rmSync(repository.path(`.git/${name}`), { force: true })
  repository.git('reflog', 'expire', '--expire=now', '--expire-unreachable=now', '--all')
  repository.git('gc', '-q', '--prune=now')
  const left = repository.git('rev-list', '--all', '--count').trim()
  expect(left).toBe('1')
}
