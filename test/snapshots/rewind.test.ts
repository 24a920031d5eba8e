import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, linkSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Snapshots } from '../../src/snapshots/snapshots.js'
import { filesOf, ScratchRepository } from './scratch-repository.js'

const of = (repository: ScratchRepository) => ({ directory: repository.root, session: 's-1', moment: 'stop' as const })
const stateOf = (repository: ScratchRepository) => ({
  files: filesOf(repository.root),
  status: repository.status(),
  head: repository.git('rev-parse', 'HEAD'),
})

/** Changes, stages, adds, removes and links files. */
function work(repository: ScratchRepository, round: number): void {
  repository.write('a.txt', `changed ${round}\n`)
  repository.git('add', 'a.txt')
  repository.write('a.txt', `changed again ${round}\n`)
  repository.write(`new-${round}/deep/file.txt`, `new ${round}\n`)
  repository.write(`staged-${round}`, `staged ${round}\n`)
  repository.git('add', `staged-${round}`)
  if (round === 1) {
    repository.remove('b.txt')
    repository.git('rm', '-q', 'gone.txt')
    repository.makeExecutable('src/c.txt')
    repository.link('link', 'a.txt')
  } else repository.remove('new-1')
}

/** Snapshots with a git that writes down what it is asked to do. */
function countingGit(repository: ScratchRepository): { snapshots: Snapshots; started: () => string[] } {
  const [executable, log] = [join(repository.base, 'counting-git'), join(repository.base, 'started')]
  writeFileSync(executable, `#!/bin/sh\nprintf '%s\\n' "$@" >> '${log}'\nexec git "$@"\n`, { mode: 0o755 })
  writeFileSync(log, '')
  const program = { executable, searchPath: process.env.PATH ?? '' }
  const snapshots = new Snapshots({ directory: repository.stores, home: repository.home, program, now: Date.now })
  return { snapshots, started: () => readFileSync(log, 'utf8').split('\n') }
}

function apply(repository: ScratchRepository, { name, what }: { name: string; what: string }, round: number): void {
  const isThere = existsSync(repository.path(name))
  if (what === 'write') repository.write(name, `${name} ${round}\n`)
  else if (what === 'remove' && isThere) repository.remove(name)
  else if (isThere) chmodSync(repository.path(name), what === 'executable' ? 0o755 : 0o644)
}

describe('a rewind', () => {
  it('puts files and index back, exactly, and can be undone', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    work(repository, 1)
    const [one, first] = [stateOf(repository), await snapshots.capture(of(repository))]
    work(repository, 2)
    const two = stateOf(repository)
    const preview = await snapshots.rewind(first, { preview: true })
    expect(preview.isDone).toBe(false)
    expect(stateOf(repository)).toEqual(two)
    expect(preview.changes.map(({ path, status }) => `${status} ${path}`)).toEqual([
      'changed a.txt',
      'added new-1/deep/file.txt',
      'removed new-2/deep/file.txt',
      'removed staged-2',
    ])
    const { safety, isDone } = await snapshots.rewind(first, { preview: false })
    expect([isDone, safety.moment]).toEqual([true, 'safety'])
    expect(stateOf(repository)).toEqual(one)
    expect(existsSync(repository.path('new-2'))).toBe(false)
    await snapshots.rewind(safety, { preview: false })
    expect(stateOf(repository)).toEqual(two)
    await snapshots.rewind(first, { preview: false })
    expect(stateOf(repository)).toEqual(one)
  })

  it('copies nothing into a repository that has it all', { timeout: 120_000 }, async () => {
    using repository = ScratchRepository.withCommits()
    for (let n = 0; n < 1_100; n += 1) repository.write(`many/${n}`, `${n}\n`)
    repository.commit('many files')
    repository.git('gc', '-q')
    const snapshots = repository.snapshots()
    const first = await snapshots.capture(of(repository))
    repository.write('many/7', 'changed\n')
    const packs = readdirSync(repository.path('.git/objects/pack'))
    await snapshots.rewind(first, { preview: false })
    await snapshots.restore(first, { path: join(repository.base, 'restored') })
    expect(readdirSync(repository.path('.git/objects/pack'))).toEqual(packs)
  })

  it('goes back into a conflict and out of it', async () => {
    using repository = ScratchRepository.withCommits()
    repository.git('checkout', '-q', '-b', 'side', 'HEAD~1')
    repository.write('a.txt', 'theirs\n')
    repository.commit('side')
    repository.git('checkout', '-q', 'main')
    const snapshots = repository.snapshots()
    const [clean, before] = [stateOf(repository), await snapshots.capture(of(repository))]
    expect(() => repository.git('merge', 'side')).toThrow()
    const [conflict, within] = [stateOf(repository), await snapshots.capture(of(repository))]
    await snapshots.rewind(before, { preview: false })
    expect(stateOf(repository)).toEqual(clean)
    expect(existsSync(repository.path('.git/MERGE_HEAD'))).toBe(false)
    await snapshots.rewind(within, { preview: false })
    expect(stateOf(repository)).toEqual(conflict)
    repository.git('checkout', '--theirs', 'a.txt')
    repository.commit('merged')
    expect(repository.git('rev-list', '--parents', '-1', 'HEAD').trim().split(' ')).toHaveLength(3)
  })

  it('leaves HEAD and the index alone when HEAD has moved', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    const [{ files }, first] = [stateOf(repository), await snapshots.capture(of(repository))]
    repository.write('a.txt', 'committed since\n')
    repository.commit('since')
    const head = repository.git('rev-parse', 'HEAD')
    const { index } = await snapshots.rewind(first, { preview: false })
    expect([index, repository.git('rev-parse', 'HEAD'), repository.git('diff', '--cached')]).toEqual(['kept', head, ''])
    expect(filesOf(repository.root)).toEqual(files)
  })

  it('leaves alone what the snapshot had left out, also where it is captured now', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots({ mostFileBytes: 1_000 })
    repository.write('.env', 'SECRET=1\n')
    repository.write('large.txt', 'x'.repeat(2_000))
    const first = await snapshots.capture(of(repository))
    expect(first.skipped.map(({ path }) => path).sort()).toEqual(['.env', 'large.txt'])
    repository.write('large.txt', 'small now\n')
    repository.write('new.txt', 'new\n')
    repository.commit('with the secret')
    const { changes, leftAlone } = await snapshots.rewind(first, { preview: false })
    expect(changes.map(({ path }) => path)).toEqual(['new.txt'])
    expect(leftAlone.sort()).toEqual(['.env', 'large.txt'])
    const files = filesOf(repository.root)
    expect([files.get('.env'), files.get('large.txt'), files.get('new.txt')]).toEqual([
      'file SECRET=1\n',
      'file small now\n',
      undefined,
    ])
    expect((await snapshots.capture(of(repository))).worktree_tree).not.toBe(first.worktree_tree)
  })

  it('is refused beside a running git command, and then changes nothing', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    const first = await snapshots.capture(of(repository))
    repository.write('a.txt', 'now\n')
    const now = stateOf(repository)
    writeFileSync(repository.path('.git/index.lock'), '')
    await expect(snapshots.rewind(first, { preview: false })).rejects.toThrow('index is locked')
    rmSync(repository.path('.git/index.lock'))
    expect(stateOf(repository)).toEqual(now)
    // A secret that no snapshot has is never overwritten.
    repository.write('a.txt', 'a.txt is a directory next\n')
    const second = await snapshots.capture(of(repository))
    repository.remove('a.txt')
    repository.write('a.txt/.env', 'a secret')
    const later = stateOf(repository)
    await expect(snapshots.rewind(second, { preview: false })).rejects.toThrow('in the way')
    expect(stateOf(repository)).toEqual(later)
    expect(readdirSync(repository.path('.git')).filter((name) => name.endsWith('.lock'))).toEqual([])
  })

  it('is refused when a file changes after the safety snapshot, and then changes nothing', async () => {
    using repository = ScratchRepository.withCommits()
    const first = await repository.snapshots().capture(of(repository))
    repository.write('a.txt', 'now\n')
    repository.write('src/c.txt', 'now\n')
    let seen = 0
    // The clock is read before and after the capture: by then the file is another one each time.
    const snapshots = new Snapshots({
      ...{ directory: repository.stores, home: repository.home },
      program: { executable: 'git', searchPath: process.env.PATH ?? '' },
      now: () => {
        seen += 1
        repository.write('a.txt', `by a person ${seen}\n`)
        return Date.now()
      },
    })
    await expect(snapshots.rewind(first, { preview: false })).rejects.toThrow('git read-tree')
    expect(filesOf(repository.root).get('a.txt')).toBe(`file by a person ${seen}\n`)
    expect(filesOf(repository.root).get('src/c.txt')).toBe('file now\n')
    expect(readdirSync(repository.path('.git')).filter((name) => name.endsWith('.lock'))).toEqual([])
  })

  it('writes and removes a few files without starting git for it', { timeout: 240_000 }, async () => {
    const names = ['a.txt', 'src/c.txt', 'src/deep/d.txt', 'src/new/e.txt', 'top/f', 'top/deeper/g'] as const
    const edits = fc.array(
      fc.record({ name: fc.constantFrom(...names), what: fc.constantFrom('write', 'remove', 'executable', 'plain') }),
      { minLength: 1, maxLength: 8 },
    )
    await fc.assert(
      fc.asyncProperty(edits, edits, fc.boolean(), async (first, second, isCaptured) => {
        using repository = ScratchRepository.withCommits()
        const { snapshots, started } = countingGit(repository)
        for (const edit of first) apply(repository, edit, 1)
        const [state, snapshot] = [stateOf(repository), await snapshots.capture(of(repository))]
        for (const edit of second) apply(repository, edit, 2)
        const changed = stateOf(repository)
        if (isCaptured) await snapshots.capture(of(repository))
        const { safety } = await snapshots.rewind(snapshot, { preview: false })
        expect(stateOf(repository)).toEqual(state)
        // What the next capture finds is exactly what was restored.
        const after = await snapshots.capture(of(repository))
        expect(after.worktree_tree).toBe(snapshot.worktree_tree)
        await snapshots.rewind(safety, { preview: false })
        expect(stateOf(repository)).toEqual(changed)
        expect(started()).not.toContain('read-tree')
        expect(await snapshots.verify({ full: true })).toMatchObject([{ problems: [], broken: [] }])
      }),
      { numRuns: 10, seed: 18 },
    )
  })

  it('leaves the other names of a file, and what is behind a link, alone', async () => {
    using repository = ScratchRepository.withCommits()
    const { snapshots, started } = countingGit(repository)
    const first = await snapshots.capture(of(repository))
    repository.write('a.txt', 'now\n')
    linkSync(repository.path('a.txt'), join(repository.base, 'another name'))
    await snapshots.rewind(first, { preview: false })
    expect(readFileSync(join(repository.base, 'another name'), 'utf8')).toBe('now\n')
    expect(started()).not.toContain('read-tree')
    // The directory becomes a link to one outside that has the same names.
    const outside = join(repository.base, 'outside')
    cpSync(repository.path('src'), outside, { recursive: true })
    repository.write('src/c.txt', 'in the second snapshot\n')
    const second = await snapshots.capture(of(repository))
    repository.remove('src')
    repository.link('src', outside)
    await snapshots.rewind(second, { preview: false })
    expect(filesOf(repository.root).get('src/c.txt')).toBe('file in the second snapshot\n')
    expect(readFileSync(join(outside, 'c.txt'), 'utf8')).toBe('src/c.txt\n')
  })

  it('works without git', async () => {
    using repository = new ScratchRepository()
    repository.write('a', 'one\n')
    const snapshots = repository.snapshots()
    const first = await snapshots.capture(of(repository))
    repository.write('a', 'two\n')
    repository.write('b', 'new\n')
    const { safety } = await snapshots.rewind(first, { preview: false })
    expect([...filesOf(repository.root)]).toEqual([['a', 'file one\n']])
    await snapshots.rewind(safety, { preview: false })
    expect([...filesOf(repository.root).keys()]).toEqual(['a', 'b'])
  })
})

describe('the difference between two snapshots', () => {
  it('has files, lines and a patch', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    const first = await snapshots.capture(of(repository))
    repository.write('a.txt', 'a, second\nand a third\n')
    repository.write('binary', Buffer.from([0, 1, 2]))
    repository.remove('gone.txt')
    repository.git('mv', 'src/deep/d.txt', 'src/e.txt')
    repository.write('odd\t"name"\n', 'x\n')
    repository.makeExecutable('b.txt')
    const second = await snapshots.capture(of(repository))
    expect(await snapshots.changes(first, second)).toEqual([
      { path: 'a.txt', status: 'changed', added: 1, removed: 0 },
      { path: 'b.txt', status: 'changed', added: 0, removed: 0 },
      { path: 'binary', status: 'added' },
      { path: 'gone.txt', status: 'removed', added: 0, removed: 1 },
      { path: 'odd\t"name"\n', status: 'added', added: 1, removed: 0 },
      { path: 'src/e.txt', from: 'src/deep/d.txt', status: 'renamed', added: 0, removed: 0 },
    ])
    const patch = await snapshots.patch(first, second)
    expect(patch).toContain('+and a third\n')
    expect(patch).toContain('rename to src/e.txt\n')
    expect(await snapshots.changes(second, second)).toEqual([])
    using other = ScratchRepository.withCommits()
    const stranger = await other.snapshots().capture(of(other))
    await expect(snapshots.changes(first, stranger)).rejects.toThrow('different repositories')
  })
})

/** Makes loose objects of the packs of a store's own. */
function unpack(store: string): void {
  const packs = join(store, 'objects', 'pack')
  for (const name of readdirSync(packs).filter((one) => one.endsWith('.pack'))) {
    if (existsSync(join(packs, name.replace('.pack', '.keep')))) continue
    const input = readFileSync(join(packs, name))
    for (const ending of ['.pack', '.idx']) rmSync(join(packs, name.replace('.pack', ending)))
    execFileSync('git', ['--git-dir', store, 'unpack-objects', '-q'], { input })
  }
}

describe('upkeep', () => {
  const restoredAll = async (repository: ScratchRepository, states: Map<number, Map<string, string>>) => {
    const snapshots = repository.snapshots()
    for (const snapshot of await snapshots.list('s-1')) {
      const path = join(repository.base, `restored-${snapshot.seq}-${Math.floor(performance.now())}`)
      await snapshots.restore(snapshot, { path })
      expect([...filesOf(path)]).toEqual([...(states.get(snapshot.seq) ?? [])])
    }
  }

  it('packs, forgets what was removed, and keeps what snapshots need after the user’s own gc', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    const states = new Map<number, Map<string, string>>()
    for (let n = 0; n < 6; n += 1) {
      repository.write('a.txt', `turn ${n}\n`)
      repository.write(`only-${n}`, `only in turn ${n}\n`)
      if (n > 0) repository.remove(`only-${n - 1}`)
      if (n % 2 === 0) repository.commit(`turn ${n}`)
      const { seq } = await snapshots.capture(of(repository))
      states.set(seq, filesOf(repository.root))
    }
    repository.git('reset', '-q', '--soft', 'HEAD~3')
    repository.git('commit', '-q', '-m', 'squashed')
    repository.git('reflog', 'expire', '--expire=now', '--expire-unreachable=now', '--all')
    repository.git('gc', '-q', '--prune=now')
    await snapshots.collect({ onlyDue: false })
    repository.git('gc', '-q', '--prune=now')
    expect(await snapshots.verify({ full: true })).toMatchObject([{ problems: [], broken: [] }])
    await restoredAll(repository, states)
    const all = await snapshots.list('s-1')
    await snapshots.remove(all.filter(({ seq }) => seq < 4))
    await snapshots.collect({ onlyDue: false })
    expect((await snapshots.list('s-1')).map(({ seq }) => seq)).toEqual([4, 5, 6])
    const [store = ''] = readdirSync(repository.stores)
    const objects = repository.gitIn(join(repository.stores, store), 'cat-file', '--batch-all-objects', '--batch-check')
    const kept = repository.git('hash-object', repository.path('a.txt'))
    expect(objects).toContain(kept.trim())
    expect(objects).not.toContain(all[0]?.commit)
    await restoredAll(repository, states)
    repository.write('a.txt', 'after gc\n')
    const { seq } = await snapshots.capture(of(repository))
    states.set(seq, filesOf(repository.root))
    await restoredAll(repository, states)
    expect(await snapshots.stats()).toMatchObject([{ snapshots: 4, sessions: 1, is_source_there: true }])
  })

  it('names the snapshots that are damaged', async () => {
    using repository = ScratchRepository.withCommits()
    const snapshots = repository.snapshots()
    await snapshots.capture(of(repository))
    repository.write('a.txt', 'only in the second snapshot\n')
    const { worktree_tree } = await snapshots.capture(of(repository))
    const [store = ''] = readdirSync(repository.stores)
    const blob = repository.gitIn(join(repository.stores, store), 'rev-parse', `${worktree_tree}:a.txt`).trim()
    unpack(join(repository.stores, store))
    rmSync(join(repository.stores, store, 'objects', blob.slice(0, 2), blob.slice(2)))
    const [check] = await snapshots.verify({ full: false })
    expect(check?.broken).toEqual([{ session: 's-1', seq: 2 }])
    expect(check?.problems.join('\n')).toContain(blob)
  })
})

it('a file that was renamed gets its old name back without git, and is told as renamed', async () => {
  using repository = ScratchRepository.withCommits()
  const { snapshots, started } = countingGit(repository)
  const lines = Array.from({ length: 40 }, (_, n) => `line ${n}\n`).join('')
  repository.write('src/old.txt', lines)
  repository.write('kept.txt', lines)
  const before = await snapshots.capture(of(repository))
  const state = stateOf(repository)
  repository.remove('src/old.txt')
  repository.write('moved/new.txt', `${lines}one more\n`)
  await snapshots.capture(of(repository))
  const { changes, isDone } = await snapshots.rewind(before, { preview: false })
  expect(isDone).toBe(true)
  expect(changes).toEqual([{ path: 'src/old.txt', from: 'moved/new.txt', status: 'renamed', added: 0, removed: 1 }])
  expect(stateOf(repository)).toEqual(state)
  expect(started()).not.toContain('read-tree')
})
