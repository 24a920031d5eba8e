import { execFileSync } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ensureDaemon, stopDaemon } from '../../src/daemon/index.js'
import { TurnBranches } from '../../src/lifecycle/index.js'
import type { Agent } from '../../src/model/index.js'
import { Herd } from './herd.js'
import { pause, until } from './scratch.js'
import { working } from './working-agent.js'

const [FIRST, SECOND] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'] as const

/** A repository with one commit, and a bare one beside it, that go away with the test. */
function repository(): { root: string; bare: string; git: (...args: string[]) => string } {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'skein-branches-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const [root, bare] = [join(base, 'project'), join(base, 'remote.git')]
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']
  const env = { PATH: process.env.PATH, HOME: base, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', root, ...identity, ...args], {
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim()
  execFileSync('git', ['init', '-q', '-b', 'main', root], { env })
  writeFileSync(join(root, 'a.txt'), 'one\n')
  git('add', '-A')
  git('commit', '-qm', 'one')
  git('remote', 'add', 'origin', bare)
  return { root, bare, git }
}

const branchOf = (herd: Herd, agent: Agent) => new TurnBranches(herd.home.paths.agents).of(agent.id)
const committed = (herd: Herd, agent: Agent, turns: number) =>
  until(async () => {
    const branch = branchOf(herd, agent)
    return branch && branch.turns >= turns && branch
  })

async function turn(herd: Herd, agent: Agent, session: string, change: () => void): Promise<void> {
  const count = (await herd.home.snapshots.list(session)).length
  const taken = (n: number) => until(async () => (await herd.home.snapshots.list(session)).length >= count + n)
  await pause(2_100) // two prompts of one moment are one
  herd.works(agent)
  await taken(1)
  change()
  herd.finishes(agent)
  await taken(2)
}

it('commits every turn of every agent on a branch of its own and pushes it, and a remote that is not there holds nothing up', async () => {
  const herd = await Herd.make()
  herd.settings('[notify]\nby = []\n[turns]\ncommit = true\npush = true\n')
  const { root, bare, git } = repository()
  const toast = await working(herd, 'web/toast', { cwd: root, session: FIRST })
  const jam = await working(herd, 'web/jam', { cwd: root, session: SECOND })
  await ensureDaemon(herd.access)
  const head = git('symbolic-ref', 'HEAD')
  await turn(herd, toast, FIRST, () => writeFileSync(join(root, 'a.txt'), 'toast\n'))
  const first = await committed(herd, toast, 1)
  expect(first.branch).toBe(`skein/session/${toast.id.slice(0, 8)}`)
  expect(git('log', '-1', '--format=%B', first.branch)).toContain(
    `Skein-Session: ${FIRST}\nSkein-Turn: 1\nSkein-Agent: web/toast`,
  )
  expect(git('show', `${first.branch}:a.txt`)).toBe('toast')
  // The remote is missing: that is shown, with the next try, and the turn is committed all the same.
  const failed = await until(async () => branchOf(herd, toast)?.push)
  expect([failed.outcome, failed.tries, failed.next_at !== undefined]).toEqual(['failed', 1, true])
  await turn(herd, jam, SECOND, () => writeFileSync(join(root, 'jam.txt'), 'jam\n'))
  const other = await committed(herd, jam, 1)
  expect(git('ls-tree', '--name-only', first.branch)).toBe('a.txt')
  expect(git('ls-tree', '--name-only', other.branch)).toBe('a.txt\njam.txt')
  expect([
    git('symbolic-ref', 'HEAD'),
    git('rev-list', '--count', 'main'),
    git('diff', '--cached', '--name-only'),
  ]).toEqual([head, '1', ''])
  // It comes back, and the next attempt brings all turns; a daemon that is started again makes it.
  execFileSync('git', ['init', '-q', '--bare', bare])
  await stopDaemon(herd.access)
  for (const agent of [toast, jam])
    new TurnBranches(herd.home.paths.agents).update(agent.id, ({ push, ...one }) => {
      if (!push) return one
      const { next_at: _due, ...kept } = push
      return { ...one, push: kept }
    })
  await ensureDaemon(herd.access)
  await until(
    async () => branchOf(herd, toast)?.push?.outcome === 'pushed' && branchOf(herd, jam)?.push?.outcome === 'pushed',
  )
  const there = execFileSync('git', ['-C', bare, 'for-each-ref', '--format=%(refname:short) %(objectname)'], {
    encoding: 'utf8',
  })
  expect(there.trim().split('\n').sort()).toEqual(
    [first, other].map(({ branch, commit }) => `${branch} ${commit}`).sort(),
  )
  // Switched off in the middle: no more commits, and none later for the turns of that time.
  herd.settings('[notify]\nby = []\n')
  await turn(herd, toast, FIRST, () => writeFileSync(join(root, 'a.txt'), 'unwanted\n'))
  const seqs = (await herd.home.snapshots.list(FIRST)).map(({ seq }) => seq)
  await until(async () => branchOf(herd, toast)?.done[FIRST] === Math.max(...seqs))
  herd.settings('[notify]\nby = []\n[turns]\ncommit = true\n')
  await turn(herd, toast, FIRST, () => writeFileSync(join(root, 'a.txt'), 'wanted\n'))
  const last = await committed(herd, toast, 2)
  expect(git('log', '--format=%s', `main..${last.branch}`).split('\n')).toHaveLength(2)
  expect(git('show', `${last.branch}:a.txt`)).toBe('wanted')
}, 120_000)

it('pushes again by itself once the time has come, and a push that the remote rejects waits for the next turn', async () => {
  const herd = await Herd.make()
  herd.settings('[notify]\nby = []\n[turns]\ncommit = true\npush = true\n')
  const { root, bare, git } = repository()
  const toast = await working(herd, 'web/toast', { cwd: root, session: FIRST })
  await ensureDaemon(herd.access)
  await turn(herd, toast, FIRST, () => writeFileSync(join(root, 'a.txt'), 'toast\n'))
  const failed = await until(async () => branchOf(herd, toast)?.push)
  expect(failed).toMatchObject({ outcome: 'failed', tries: 1, next_at: expect.any(String) })
  // Nobody does anything but the daemon's timer.
  execFileSync('git', ['init', '-q', '--bare', bare])
  const pushed = await until(async () => {
    const { push } = branchOf(herd, toast) ?? {}
    return push?.outcome === 'pushed' && push
  })
  expect(pushed.tries).toBe(0)
  expect(Date.parse(pushed.at)).toBeGreaterThanOrEqual(Date.parse(failed.next_at ?? ''))
  const { branch, commit } = await committed(herd, toast, 1)
  const there = (): string => git('ls-remote', bare, `refs/heads/${branch}`).split('\t')[0] ?? ''
  expect(there()).toBe(commit)

  // Somebody else has moved the branch there.
  const other = git('commit-tree', '-m', 'another', '-p', 'main', 'main^{tree}')
  git('push', '-q', '--force', bare, `${other}:refs/heads/${branch}`)
  await turn(herd, toast, FIRST, () => writeFileSync(join(root, 'a.txt'), 'jam\n'))
  const rejected = await until(async () => {
    const { push } = branchOf(herd, toast) ?? {}
    return push?.outcome === 'rejected' && push
  })
  expect(rejected.next_at).toBeUndefined()
  expect(there()).toBe(other)
  git('push', '-q', bare, `:refs/heads/${branch}`)
  await turn(herd, toast, FIRST, () => writeFileSync(join(root, 'a.txt'), 'cheese\n'))
  await until(async () => branchOf(herd, toast)?.push?.outcome === 'pushed')
  expect(there()).toBe(git('rev-parse', branch))
}, 120_000)
