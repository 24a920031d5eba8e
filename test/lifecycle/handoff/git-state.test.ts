import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type GitRepository, gitState } from '../../../src/lifecycle/handoff/git-state.js'
import { scratch } from '../../home/scratch.js'

const AS = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' }

/** A repository of its own, and `git` in it. */
function repository(): { root: string; home: string; git: (...args: string[]) => string; env: Record<string, string> } {
  const home = scratch()
  const root = join(home, 'repo')
  mkdirSync(root)
  const env = { PATH: process.env.PATH ?? '', HOME: home, ...AS }
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', root, ...args], { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  git('init', '-q', '-b', 'main')
  return { root, home, git, env }
}

const found = async (root: string, env: Record<string, string>): Promise<GitRepository> => {
  const state = await gitState(root, env)
  if ('problem' in state) throw new Error(state.problem)
  return state
}

it('branch, changed and untracked files, stashes, unpushed and recent commits', async () => {
  const { root, home, git, env } = repository()
  writeFileSync(join(root, 'a b\n.txt'), 'one\n')
  writeFileSync(join(root, 'gone'), 'x')
  git('add', '.')
  git('commit', '-qm', 'first')
  execFileSync('git', ['init', '-q', '--bare', join(home, 'remote')])
  git('remote', 'add', 'origin', join(home, 'remote'))
  git('push', '-qu', 'origin', 'main')
  git('commit', '-q', '--allow-empty', '-m', 'second: "quoted" \x1b[31m')
  writeFileSync(join(root, 'a b\n.txt'), 'stashed\n')
  git('stash', 'push', '-qm', 'try it')
  writeFileSync(join(root, 'a b\n.txt'), 'two\n')
  git('rm', '-q', 'gone')
  mkdirSync(join(root, 'new'))
  for (const name of ['x', 'y']) writeFileSync(join(root, 'new', name), name)
  writeFileSync(join(root, '.polecat-checkpoint.json'), '{}') // Skein's own, which is nobody's work
  expect(await found(root, env)).toMatchObject({
    branch: 'main',
    upstream: 'origin/main',
    ahead: 1,
    behind: 0,
    changed: [
      { path: 'a b\n.txt', state: '.M' },
      { path: 'gone', state: 'D.' },
    ],
    untracked: ['new/'],
    stashes: ['On main: try it'],
    unpushed: [{ subject: expect.stringContaining('second') }],
    recent: [{ subject: expect.stringContaining('second') }, { subject: 'first' }],
    missing: [],
  })
})

it('an unborn branch, a detached head, no repository, no directory and no git are each said', async () => {
  const { root, home, git, env } = repository()
  writeFileSync(join(root, 'a'), 'a')
  expect(await found(root, env)).toMatchObject({ branch: 'main', untracked: ['a'], recent: [] })
  expect((await found(root, env)).head).toBeUndefined()
  git('add', '.')
  git('commit', '-qm', 'first')
  git('checkout', '-q', '--detach')
  const detached = await found(root, env)
  expect(detached.branch).toBeUndefined()
  expect(detached).toMatchObject({ head: expect.stringMatching(/^[0-9a-f]{40}$/), recent: [{ subject: 'first' }] })
  expect(detached.unpushed).toBeUndefined() // there is no remote to push to
  expect(await gitState(home, env)).toEqual({ problem: expect.stringMatching(/not a git repository/) })
  expect(await gitState(join(home, 'none'), env)).toEqual({ problem: expect.any(String) })
  expect(await gitState(root, { ...env, PATH: '/nonexistent' })).toEqual({ problem: 'git is not installed' })
})

it('nothing that the configuration of the repository names is run, and nothing is written', async () => {
  const { root, home, git, env } = repository()
  writeFileSync(join(root, '.gitattributes'), '* filter=evil diff=evil\n')
  writeFileSync(join(root, 'a'), 'a\n')
  git('add', '.')
  git('commit', '-qm', 'first')
  const trap = join(home, 'trap.sh')
  const sprung = join(home, 'sprung')
  writeFileSync(trap, `#!/bin/sh\necho "$0 $*" >> ${sprung}\ncat\n`)
  chmodSync(trap, 0o755)
  for (const name of [
    ...[
      'core.fsmonitor',
      'core.pager',
      'core.editor',
      'core.sshCommand',
      'core.askPass',
      'gpg.program',
      'diff.external',
    ],
    ...['filter.evil.clean', 'filter.evil.smudge', 'filter.evil.process', 'diff.evil.textconv', 'diff.evil.command'],
    ...['credential.helper', 'pager.log', 'pager.status', 'alias.status', 'remote.origin.uploadpack'],
  ])
    git('config', name, trap)
  git('config', 'filter.evil.required', 'true')
  git('config', 'log.showSignature', 'true')
  git('config', 'core.hooksPath', home)
  for (const hook of ['post-index-change', 'reference-transaction', 'pre-auto-gc']) {
    writeFileSync(join(home, hook), `#!/bin/sh\necho ${hook} >> ${sprung}\n`)
    chmodSync(join(home, hook), 0o755)
  }
  // Touched, so that git has to compare the content; and an index that it would like to refresh.
  utimesSync(join(root, 'a'), 1_000, 1_000)
  const index = join(root, '.git', 'index')
  const before = readFileSync(index)
  const at = statSync(index).mtimeMs
  await found(root, env)
  expect(existsSync(sprung)).toBe(false)
  expect(readFileSync(index).equals(before)).toBe(true)
  expect(statSync(index).mtimeMs).toBe(at)
  // The trap works: without the protection git runs it.
  spawnSync('git', ['-C', root, '-c', 'core.fsmonitor=false', 'diff', '--no-ext-diff'], { env, stdio: 'ignore' })
  expect(existsSync(sprung)).toBe(true)
})

it('a git that hangs is ended in time', async () => {
  const { root, home, env } = repository()
  const bin = join(home, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'git'), '#!/bin/sh\nexec sleep 60\n')
  chmodSync(join(bin, 'git'), 0o755)
  expect(await gitState(root, { ...env, PATH: `${bin}:${env.PATH}` }, { limitMs: 300 })).toEqual({
    problem: 'git did not answer in time',
  })
})
