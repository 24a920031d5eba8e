import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Snapshot } from '../../src/snapshots/index.js'
import { ScratchRepository } from './scratch-repository.js'

let repository: ScratchRepository
let ran: string
beforeEach(() => {
  repository = ScratchRepository.withCommits()
  ran = join(repository.base, 'ran')
})
afterEach(() => repository[Symbol.dispose]())

const BRANCH = 'skein/session/11111111'
const git = (...args: string[]): string => repository.git(...args)
const at = (moment: 'prompt' | 'stop' = 'stop'): Promise<Snapshot> =>
  repository.snapshots({}).capture({ directory: repository.root, session: 's', moment })
const commit = async (message = 'Turn 1: try', worktree?: string) =>
  repository.snapshots().commitTurn({ snapshot: await at(), branch: BRANCH, message, worktree })
const everything = () => ({
  status: repository.status(),
  head: readFileSync(join(repository.root, '.git/HEAD'), 'utf8'),
  index: readFileSync(join(repository.root, '.git/index')),
  main: git('rev-parse', 'main'),
})
/** A program that leaves a trace, as a hook, a filter or whatever else a repository names. */
function trap(): string {
  const path = join(repository.base, 'trap.sh')
  writeFileSync(path, `#!/bin/sh\necho "$0 $@" >> ${ran}\ncat\n`)
  chmodSync(path, 0o755)
  return path
}

describe('a branch with one commit per turn', () => {
  it('is made at HEAD and moved beside the branch of the user, whose HEAD, index and files stay as they are', async () => {
    repository.write('staged.txt', 'staged\n')
    git('add', 'staged.txt')
    const before = everything()
    expect(await repository.snapshots().makeBranch(repository.root, BRANCH)).toEqual({
      branch: BRANCH,
      head: git('rev-parse', 'HEAD').trim(),
    })
    expect(everything()).toEqual(before)
    repository.write('a.txt', 'by the agent\n')
    repository.write('new.txt', 'new\n')
    repository.remove('gone.txt')
    repository.makeExecutable('b.txt')
    symlinkSync('a.txt', repository.path('link'))
    const dirty = everything()
    const { commit: made } = await commit('Turn 1: first\n\nSkein-Turn: 1')
    expect(everything()).toEqual(dirty)
    expect(git('log', '--format=%s|%an|%P', BRANCH).split('\n')[0]).toBe(
      `Turn 1: first|skein|${git('rev-parse', 'main').trim()}`,
    )
    expect(git('diff', '--name-status', 'main', BRANCH).trim().split('\n')).toEqual([
      'M\ta.txt',
      'M\tb.txt',
      'D\tgone.txt',
      'A\tlink',
      'A\tnew.txt',
      'A\tstaged.txt',
    ])
    // A turn without a change is a commit, too: turns and commits stay one to one.
    await commit('Turn 2')
    expect(git('rev-list', '--count', `main..${BRANCH}`).trim()).toBe('2')
    expect(git('rev-parse', `${BRANCH}^`).trim()).toBe(made)
    expect(git('fsck', '--strict', '--no-dangling')).toBe('')
  })

  it('takes another name where the branch is there, and grows on whatever the user made of it', async () => {
    git('branch', BRANCH)
    expect((await repository.snapshots().makeBranch(repository.root, BRANCH)).branch).toBe(`${BRANCH}-2`)
    await commit('Turn 1')
    git('branch', '-f', BRANCH, 'main~1')
    await commit('Turn 2')
    expect(git('rev-parse', `${BRANCH}^`)).toBe(git('rev-parse', 'main~1'))
    git('branch', '-D', BRANCH)
    await commit('Turn 3')
    expect(git('rev-parse', `${BRANCH}^`)).toBe(git('rev-parse', 'main'))
  })

  it('begins with its first turn where HEAD has no commit', async () => {
    using empty = new ScratchRepository('empty')
    empty.git('init', '-q', '-b', 'main')
    const snapshots = empty.snapshots()
    expect(await snapshots.makeBranch(empty.root, BRANCH)).toEqual({ branch: BRANCH })
    expect(empty.git('branch', '--list').trim()).toBe('')
    empty.write('a.txt', 'a\n')
    const snapshot = await snapshots.capture({ directory: empty.root, session: 's', moment: 'stop' })
    await snapshots.commitTurn({ snapshot, branch: BRANCH, message: 'Turn 1' })
    expect(empty.git('ls-tree', '--name-only', BRANCH).trim()).toBe('a.txt')
    expect(empty.status()).toBe('? a.txt\n')
  })

  it('refuses to move a branch that is checked out, being rebased, or shadowed by another name, and changes nothing', async () => {
    await commit()
    const other = join(repository.base, 'other')
    git('worktree', 'add', '-q', other, BRANCH)
    await expect(commit('Turn 2')).rejects.toThrow(`checked out in ${other}`)
    repository.gitIn(other, 'checkout', '-q', '--detach')
    mkdirSync(join(repository.root, '.git/worktrees/other/rebase-merge'))
    writeFileSync(join(repository.root, '.git/worktrees/other/rebase-merge/head-name'), `refs/heads/${BRANCH}\n`)
    await expect(commit('Turn 2')).rejects.toThrow('is being rebased')
    expect(git('log', '--format=%s', BRANCH).split('\n')[0]).toBe('Turn 1: try')
    using blocked = ScratchRepository.withCommits('blocked')
    blocked.git('branch', 'skein')
    await expect(blocked.snapshots().makeBranch(blocked.root, BRANCH)).rejects.toThrow('cannot be made')
  })

  it('a rebase of the user in the same worktree changes nothing for it', async () => {
    git('checkout', '-q', '-b', 'topic', 'main~1')
    repository.write('a.txt', 'topic\n')
    repository.commit('topic')
    expect(() => git('rebase', '-q', 'main')).toThrow()
    const before = everything()
    await commit('Turn 1')
    expect(everything()).toEqual(before)
    git('rebase', '--abort')
    expect(git('show', `${BRANCH}:a.txt`)).toContain('<<<<<<<')
  })

  it('runs no hook, filter, signing program or other program that the repository names', async () => {
    const program = trap()
    for (const hook of [
      'pre-commit',
      'commit-msg',
      'post-commit',
      'reference-transaction',
      'post-index-change',
      'pre-push',
      'post-checkout',
    ])
      writeFileSync(join(repository.root, '.git/hooks', hook), `#!/bin/sh\necho ${hook} >> ${ran}\n`, { mode: 0o755 })
    repository.write('.gitattributes', '*.bin filter=trap\n')
    git('-c', 'core.hooksPath=/dev/null', 'add', '.gitattributes')
    git('-c', 'core.hooksPath=/dev/null', 'commit', '-qm', 'attributes')
    for (const [key, value] of [
      ['filter.trap.clean', program],
      ['filter.trap.smudge', program],
      ['filter.trap.process', program],
      ['commit.gpgsign', 'true'],
      ['gpg.program', program],
      ['core.fsmonitor', program],
      ['core.editor', program],
    ])
      git('-c', 'core.hooksPath=/dev/null', 'config', key as string, value as string)
    repository.write('a.bin', 'raw bytes\n')
    repository.write('a.txt', 'changed\n')
    await repository.snapshots().makeBranch(repository.root, BRANCH)
    await commit('Turn 1')
    const tree = await repository.snapshots().makeWorktree(repository.root, 'trapped')
    await repository.snapshots().removeWorktree(tree)
    expect(existsSync(ran)).toBe(false)
    const show = (...args: string[]): string =>
      git('-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false', ...args)
    expect(show('ls-tree', '--name-only', BRANCH)).not.toContain('a.bin')
    expect(show('log', '-1', '--format=%B', BRANCH)).toContain('not in this commit (a filter converts them):\n  a.bin')
    expect(show('show', `${BRANCH}:a.txt`)).toBe('changed\n')
  })

  it('has line ends as git would commit them, and keeps files that are not in the snapshot as they were', async () => {
    repository.write('.gitattributes', '*.txt text eol=crlf\n')
    repository.write('large.dat', 'x'.repeat(2_000))
    repository.write('.env', 'SECRET=committed\n')
    git('add', '-Af')
    git('commit', '-qm', 'three')
    repository.write('crlf.txt', 'one\r\ntwo\r\n')
    repository.write('b.txt', 'b.txt\r\n')
    repository.write('.env', 'SECRET=changed\n')
    repository.write('id_rsa', 'key\n')
    git('add', '-f', 'id_rsa')
    repository.write('large.dat', 'y'.repeat(3_000))
    const snapshots = repository.snapshots({ mostFileBytes: 1_000 })
    const snapshot = await snapshots.capture({ directory: repository.root, session: 's', moment: 'stop' })
    await snapshots.commitTurn({ snapshot, branch: BRANCH, message: 'Turn 1' })
    expect(git('show', `${BRANCH}:crlf.txt`)).toBe('one\ntwo\n')
    expect(git('diff', '--name-status', 'HEAD', BRANCH).trim().split('\n')).toEqual(['A\tcrlf.txt'])
    expect(git('log', '-p', BRANCH)).not.toContain('changed')
  })

  it('keeps what a sparse checkout leaves out, and submodules', async () => {
    using inner = ScratchRepository.withCommits('inner')
    git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.root, 'sub')
    git('commit', '-qm', 'sub')
    git('sparse-checkout', 'set', '--no-cone', '/*', '!/src/')
    repository.write('a.txt', 'changed\n')
    repository.write('sub/new.txt', 'inside\n')
    await commit()
    expect(git('diff', '--name-only', 'HEAD', BRANCH).trim()).toBe('a.txt')
  })

  it('a partial snapshot is never committed: it would delete what it lacks', async () => {
    const snapshot = await at()
    const partial = { ...snapshot, mode: 'partial' as const }
    await expect(
      repository.snapshots().commitTurn({ snapshot: partial, branch: BRANCH, message: 'Turn 1' }),
    ).rejects.toThrow('partial')
    expect(git('branch', '--list', BRANCH)).toBe('')
  })

  it('a worktree that is taken back takes nothing else along, not even one on a disk that is not mounted', async () => {
    const unmounted = join(repository.base, 'unmounted')
    git('worktree', 'add', '-q', '--detach', unmounted)
    renameSync(unmounted, `${unmounted}.disk`)
    const made = await repository.snapshots().makeWorktree(repository.root, 'own')
    expect(git('worktree', 'list')).toContain(made.directory)
    await repository.snapshots().removeWorktree(made)
    expect(git('worktree', 'list')).not.toContain(made.directory)
    expect(git('worktree', 'list')).toContain(unmounted)
    expect([existsSync(made.directory), git('branch', '--list', made.branch)]).toEqual([false, ''])
  })

  it('in a worktree of its own HEAD and index follow, and the worktree is clean after every turn', async () => {
    const snapshots = repository.snapshots()
    const made = await snapshots.makeWorktree(repository.root, 'own')
    expect(made.directory).toBe(`${repository.root}.worktrees/own`)
    const inside = (...args: string[]): string => repository.gitIn(made.directory, ...args)
    expect([inside('branch', '--show-current').trim(), inside('status', '--porcelain')]).toEqual([
      'skein/session/own',
      '',
    ])
    writeFileSync(join(made.directory, 'a.txt'), 'agent\n')
    writeFileSync(join(made.directory, 'new.txt'), 'new\n')
    inside('add', 'new.txt')
    const take = () => snapshots.capture({ directory: made.directory, session: 's', moment: 'stop' })
    const turn = { branch: made.branch, worktree: made.directory }
    await snapshots.commitTurn({ snapshot: await take(), message: 'Turn 1', ...turn })
    expect([inside('status', '--porcelain'), inside('log', '-1', '--format=%s').trim()]).toEqual(['', 'Turn 1'])
    // The agent commits by itself, on its branch.
    writeFileSync(join(made.directory, 'b.txt'), 'mine\n')
    inside('commit', '-qam', 'by the agent')
    await snapshots.commitTurn({ snapshot: await take(), message: 'Turn 2', ...turn })
    expect(inside('log', '-3', '--format=%s').trim().split('\n')).toEqual(['Turn 2', 'by the agent', 'Turn 1'])
    // And leaves it for another: the branch goes on beside it.
    inside('checkout', '-q', '-b', 'feature')
    writeFileSync(join(made.directory, 'c.txt'), 'feature\n')
    await snapshots.commitTurn({ snapshot: await take(), message: 'Turn 3', ...turn })
    expect([inside('status', '--porcelain').trim(), inside('log', '-1', '--format=%s').trim()]).toEqual([
      '?? c.txt',
      'Turn 2',
    ])
    expect(git('log', '-1', '--format=%s', made.branch).trim()).toBe('Turn 3')
  })
})

it('a new worktree begins at the commit of a turn, which is found by its session and number', async () => {
  const snapshots = repository.snapshots()
  const turn = async (number: number) => {
    writeFileSync(join(repository.root, 'a.txt'), `turn ${number}\n`)
    writeFileSync(join(repository.root, `new-${number}.txt`), 'new\n')
    const snapshot = await at()
    const message = `Turn ${number}\n\nSkein-Session: one\nSkein-Turn: ${number}\nSkein-Agent: web`
    const { commit: made } = await snapshots.commitTurn({ snapshot, branch: BRANCH, message })
    return { snapshot, made }
  }
  const first = await turn(1)
  git('add', 'a.txt')
  const last = await turn(12)
  const find = (session: string, number: number) =>
    snapshots.findTurn(repository.root, BRANCH, { session, turn: number })
  expect(await find('one', 1)).toBe(first.made)
  expect(await find('one', 12)).toBe(last.made)
  for (const [session, number] of [
    ['one', 2],
    ['on', 1],
    ['another', 1],
  ] as const)
    expect(await find(session, number)).toBeUndefined()
  expect(await snapshots.findTurn(repository.root, 'nowhere', { session: 'one', turn: 1 })).toBeUndefined()

  const path = join(repository.base, 'again')
  const restored = await snapshots.restore(first.snapshot, { path, branch: 'again', base: first.made })
  expect(restored).toMatchObject({ head: first.made, branch: 'again' })
  const inside = (...args: string[]): string => repository.gitIn(path, ...args).trim()
  expect([inside('status', '--porcelain'), inside('rev-parse', 'HEAD'), inside('branch', '--show-current')]).toEqual([
    ...['', first.made, 'again'],
  ])
  expect(inside('show', 'HEAD:a.txt')).toBe('turn 1')
  // The same without a commit to begin at is as it was: at HEAD, with what was changed.
  const other = join(repository.base, 'other')
  await snapshots.restore(last.snapshot, { path: other, branch: 'other' })
  expect(repository.gitIn(other, 'status', '--porcelain').trimEnd().split('\n')).toEqual([
    ...['MM a.txt', '?? new-1.txt', '?? new-12.txt'],
  ])
})

describe('a push of such a branch', () => {
  const remote = (): string => {
    const bare = join(repository.base, 'remote.git')
    execFileSync('git', ['init', '-q', '--bare', bare])
    return bare
  }
  const push = (name = 'origin', directory = repository.root) =>
    repository.snapshots().pushBranch({
      directory,
      branch: BRANCH,
      remote: name,
      env: { HOME: repository.home, PATH: process.env.PATH },
      limitMs: 20_000,
    })

  it('brings each turn to a bare remote, never by force, and says why not', async () => {
    const bare = remote()
    git('remote', 'add', 'origin', bare)
    await commit('Turn 1')
    expect(await push()).toMatchObject({ outcome: 'pushed', commit: git('rev-parse', BRANCH).trim() })
    await commit('Turn 2')
    expect((await push()).outcome).toBe('pushed')
    expect(repository.gitIn(bare, 'rev-parse', BRANCH)).toBe(git('rev-parse', BRANCH))
    expect(repository.gitIn(bare, 'for-each-ref', '--format=%(refname)').trim()).toBe(`refs/heads/${BRANCH}`)
    const other = git('commit-tree', '-m', 'somebody else', '-p', `${BRANCH}~1`, 'main^{tree}').trim()
    git('push', '-q', '--force', 'origin', `${other}:refs/heads/${BRANCH}`)
    const rejected = await push()
    expect(rejected.outcome).toBe('rejected')
    expect(rejected.reason).toMatch(/rejected/)
    expect(repository.gitIn(bare, 'rev-parse', BRANCH).trim()).toBe(other)
    expect((await push('upstream')).reason).toBe('there is no remote named upstream')
    git('remote', 'add', 'gone', join(repository.base, 'nowhere.git'))
    expect((await push('gone')).outcome).toBe('failed')
    git('remote', 'add', 'dead', 'http://user:hunter2@127.0.0.1:9/x.git')
    const dead = await push('dead')
    expect(dead.outcome).toBe('failed')
    expect(dead.reason).not.toContain('hunter2')
  })

  it('finds a remote with a relative address from any worktree', async () => {
    const bare = remote()
    git('remote', 'add', 'origin', '../remote.git')
    await commit('Turn 1')
    const deep = join(repository.base, 'some', 'where', 'else')
    git('worktree', 'add', '-q', '--detach', deep)
    expect((await push('origin', deep)).outcome).toBe('pushed')
    expect(repository.gitIn(bare, 'rev-parse', BRANCH)).toBe(git('rev-parse', BRANCH))
  })

  it('runs nothing that the repository or a remote of this machine names', async () => {
    const bare = remote()
    const program = trap()
    git('remote', 'add', 'origin', bare)
    await commit('Turn 1')
    for (const directory of [join(repository.root, '.git'), bare]) {
      for (const hook of [
        'pre-push',
        'pre-receive',
        'update',
        'post-receive',
        'post-update',
        'reference-transaction',
        'push-to-checkout',
        'proc-receive',
      ])
        writeFileSync(join(directory, 'hooks', hook), `#!/bin/sh\necho ${hook} >> ${ran}\n`, { mode: 0o755 })
      for (const key of ['credential.helper', 'core.askPass', 'core.alternateRefsCommand', 'gpg.program'])
        execFileSync('git', ['--git-dir', directory, 'config', key, program])
    }
    git('config', 'push.gpgSign', 'true')
    expect((await push()).outcome).toBe('pushed')
    expect(existsSync(ran)).toBe(false)
    for (const [key, value, why] of [
      ['remote.origin.receivepack', program, 'remote.origin.receivepack, which is not run'],
      ['core.sshCommand', program, 'core.sshcommand, which is not run'],
      ['remote.origin.vcs', 'trap', 'remote.origin.vcs, which is not run'],
      ['remote.origin.url', `ext::${program}`, 'needs a helper program'],
      ['remote.origin.url', '--upload-pack=x', 'is not one'],
    ] as const) {
      const before = git('config', '--default', '', '--get', key).trim()
      git('config', key, value)
      const end = await push()
      expect([end.outcome, end.reason]).toEqual(['refused', expect.stringContaining(why)])
      if (before === '') git('config', '--unset', key)
      else git('config', key, before)
    }
    expect(existsSync(ran)).toBe(false)
    // What the user's own configuration names is the user's.
    writeFileSync(join(repository.home, '.gitconfig'), `[core]\n\tsshCommand = ${program}\n`)
    git('config', 'core.sshCommand', program)
    expect((await push()).outcome).toBe('pushed')
  })
})
