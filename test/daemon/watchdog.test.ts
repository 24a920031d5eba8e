import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { type DaemonAccess, ensureDaemon, stopDaemon } from '../../src/daemon/index.js'
import { lifeOf } from '../../src/disk/index.js'
import type { Home } from '../../src/home/index.js'
import { type AgentRun, AgentRuns } from '../../src/lifecycle/index.js'
import type { Event } from '../../src/model/index.js'
import { BINARY } from '../cli/binary.js'
import { profilesUnder } from '../cli/world.js'
import { context } from '../terminal/scratch.js'
import { pause, scratchHome, until } from './scratch.js'

const FAKE = fileURLToPath(new URL('../workers/fake-agent.mjs', import.meta.url))

interface Yard {
  root: string
  /** What its config file says at first. */
  settings: string
  access: DaemonAccess
  home: Home
  skein(...args: string[]): string
  run(agent: string): Promise<AgentRun>
  kill(agent: string): Promise<AgentRun>
  events(type: string): Promise<Event['payload'][]>
}

/** A home whose agents run the fake program, and whose daemon starts them again. */
async function yard(watchdog: string): Promise<Yard> {
  const { root, access } = scratchHome()
  const project = join(root, 'project')
  mkdirSync(project, { recursive: true })
  const socket = join(root, 'tmux.sock')
  const settings = `[tools.demo]\ncommand = "${process.execPath} ${FAKE}"\nidle_patterns = ["re:^>"]\n[daemon]\nautostart = false\ningest = false\n[notify]\nby = []\n[tmux]\nsocket = "${socket}"\n[recover]\nspacing = 0\n[watchdog]\n${watchdog}`
  writeFileSync(join(root, 'config.toml'), settings)
  const env = { PATH: process.env.PATH ?? '', HOME: root, SKEIN_HOME: root }
  const skein = (...args: string[]): string =>
    execFileSync(process.execPath, [BINARY, ...args], { env, cwd: project, encoding: 'utf8', timeout: 60_000 })
  const home = await profilesUnder(root).open('default')
  const runs = new AgentRuns(home, context)
  onTestFinished(async () => {
    await stopDaemon(access)
    try {
      execFileSync('tmux', ['-S', socket, 'kill-server'], { stdio: 'ignore' })
    } catch {
      // gone with its last agent
    }
    await home[Symbol.asyncDispose]()
  })
  const run = async (name: string): Promise<AgentRun> => {
    const found = await runs.read((await home.roster.agent(name)).id)
    if (!found) throw new Error(`${name} was never started`)
    return found
  }
  return {
    root,
    settings,
    access,
    home,
    skein,
    run,
    kill: async (name) => {
      const found = await run(name)
      process.kill(found.run?.pid ?? 0, 'SIGKILL')
      return found
    },
    events: async (type) => (await home.events.read({ type })).map(({ payload }) => payload),
  }
}

const isUpAgain = async (place: Yard, name: string, before: AgentRun): Promise<boolean> => {
  const { run } = await place.run(name)
  return run !== undefined && run.id !== before.run?.id && run.ended_at === undefined
}

/** A program that is killed before its start is complete did not start, which is no crash: what is killed next has to be through with it. */
const isStartedAgain = async (place: Yard, name: string, before: AgentRun): Promise<boolean> =>
  (await isUpAgain(place, name, before)) && (await place.run(name)).start?.steps.at(-1)?.name === 'verify'

it('a crashed agent is started again after its backoff, linked to what crashed, and is parked when it goes on dying', async () => {
  const place = await yard('respawn = "on-crash"\nbackoff = "1s"\nlimit = 2\n')
  place.skein('start', '.', '--agent', 'toast', '--tool', 'demo')
  await ensureDaemon(place.access)
  const first = await place.kill('toast')
  await until(() => isStartedAgain(place, 'toast', first))
  const second = await place.run('toast')
  expect(second.respawn).toMatchObject({ count: 1, run: first.run?.id })
  const link = await place.home.sessions.get(second.binding?.session ?? ('' as never))
  expect(link).toMatchObject({ parent_id: first.binding?.session, link: 'crash' })
  await place.kill('toast')
  await until(() => isStartedAgain(place, 'toast', second))
  await place.kill('toast')
  const { respawn } = await until(async () => {
    const now = await place.run('toast')
    return now.respawn?.parked ? now : undefined
  })
  expect(respawn?.parked).toMatchObject({ kind: 'loop', reason: 'it ended 3 times, last: killed by signal 9' })
  expect(await place.events('session_death')).toHaveLength(3)
  expect(place.skein('list')).toContain('parked: it ended 3 times')
  const refused = JSON.parse(place.skein('recover', '--dry-run', '--json'))
  expect(refused.receipts).toMatchObject([{ outcome: 'refused', fell: { parked: { kind: 'loop' } } }])
  expect(place.skein('recover', 'toast')).toMatch(/^toast: fresh /)
  expect((await place.run('toast')).respawn).toBeUndefined()
})

it('an agent of an account that was described while the daemon ran is started again with it', async () => {
  const place = await yard('respawn = "on-crash"\nbackoff = "4s"\n')
  await ensureDaemon(place.access)
  const directory = join(place.root, 'work')
  mkdirSync(directory)
  appendFileSync(join(place.root, 'config.toml'), `[accounts.work]\nconfig_dir = "${directory}"\n`)
  const command = `${process.execPath} ${FAKE}`
  place.skein('start', '.', '--agent', 'toast', '--tool', 'claude', '--command', command, '--account', 'work')
  const first = await place.kill('toast')
  const run = await until(async () => {
    const now = await place.run('toast')
    return now.respawn?.parked || (await isUpAgain(place, 'toast', first)) ? now : undefined
  })
  expect(run.respawn).toMatchObject({ count: 1 })
  expect(run.respawn?.parked).toBeUndefined()
  expect(run.recipe.account).toBe('work')
  // Without its account it cannot be as it was: it is parked, which is told like any other way of being parked.
  writeFileSync(join(place.root, 'config.toml'), place.settings)
  await until(() => isStartedAgain(place, 'toast', first))
  await place.kill('toast')
  const { respawn } = await until(async () => {
    const now = await place.run('toast')
    return now.respawn?.parked ? now : undefined
  })
  const parked = { kind: 'refused', reason: 'There is no account named "work"' }
  expect(respawn?.parked).toMatchObject(parked)
  await until(async () => (await place.events('escalation_sent')).length > 0)
  expect(await place.events('escalation_sent')).toMatchObject([parked])
})

it('a program that has outlived its pane is ended and started again; one without a rule is left to its user', async () => {
  const place = await yard('respawn = "never"\nbackoff = "1s"\n[roles.kept]\nrespawn = "on-crash"\n')
  const start = ['--tool', 'demo', '--arg=--stubborn']
  place.skein('start', '.', '--agent', 'left', ...start)
  place.skein('start', '.', '--agent', 'toast', '--role', 'kept', ...start)
  const [left, first] = [await place.run('left'), await place.run('toast')]
  await ensureDaemon(place.access)
  for (const { run } of [left, first])
    execFileSync('tmux', ['-S', join(place.root, 'tmux.sock'), 'kill-pane', '-t', run?.pane ?? ''])
  await until(() => isStartedAgain(place, 'toast', first))
  expect(lifeOf({ pid: first.run?.pid ?? 0 })).toBe('dead')
  const { status, run } = await place.run('left')
  expect(status).toMatchObject({ status: 'error', reason: expect.stringContaining('still runs, without a terminal') })
  expect(lifeOf({ pid: run?.pid ?? 0 })).toBe('alive')
  place.skein('stop', 'left', '--grace', '0s')
  expect(lifeOf({ pid: run?.pid ?? 0 })).toBe('dead')
})

it('what was stopped is not started again, also when it was down already; a mass death is reported once; the daemon may be killed in between', async () => {
  const place = await yard('respawn = "on-crash"\nbackoff = "3s"\n')
  const names = ['a', 'b', 'c', 'stopped', 'given-up']
  place.skein('start', '.', '--agent', 'a', '--tool', 'demo')
  for (const name of names.slice(1)) place.skein('start', '.', '--agent', name, '--tool', 'demo')
  await ensureDaemon(place.access)
  place.skein('stop', 'stopped')
  const before = new Map(
    await Promise.all(['a', 'b', 'c', 'given-up'].map(async (name) => [name, await place.kill(name)] as const)),
  )
  await until(async () => (await place.events('mass_death')).length > 0)
  await until(async () =>
    (await Promise.all([...before.keys()].map((name) => place.run(name)))).every((run) => run.respawn),
  )
  place.skein('stop', 'given-up')
  await stopDaemon(place.access)
  await ensureDaemon(place.access)
  for (const name of ['a', 'b', 'c']) await until(() => isUpAgain(place, name, before.get(name) as AgentRun))
  await pause(500)
  for (const name of ['stopped', 'given-up']) expect((await place.run(name)).run?.ended_at).toBeDefined()
  expect(await place.events('mass_death')).toMatchObject([
    { count: 3, window: '30s', possible_cause: 'killed by signal 9' },
  ])
  const started = (await place.events('agent_started')).map(({ agent_id }) => agent_id)
  expect(started).toHaveLength(names.length + 3)
})

it('one agent that dies again and again is no mass death; two agents are, each once', async () => {
  const place = await yard('respawn = "on-crash"\nbackoff = "1s"\nmass = 2\nmass_window = "10m"\n')
  for (const name of ['looping', 'other']) place.skein('start', '.', '--agent', name, '--tool', 'demo')
  await ensureDaemon(place.access)
  for (const _ of [1, 2]) {
    const killed = await place.kill('looping')
    await until(() => isUpAgain(place, 'looping', killed))
  }
  await place.kill('other')
  await until(async () => (await place.events('mass_death')).length > 0)
  expect(await place.events('mass_death')).toMatchObject([{ count: 2, agents: ['looping', 'other'] }])
})

it('a program that leaves because it cannot log in or has reached a limit is held, not looped; it goes on when the limit ends, or by recover', async () => {
  const place = await yard('respawn = "on-crash"\nbackoff = "1s"\nlimit = 3\n')
  for (const name of ['limited', 'unknown', 'late']) place.skein('start', '.', '--agent', name, '--tool', 'demo')
  await ensureDaemon(place.access)
  const before = new Map<string, AgentRun>()
  for (const [name, words] of [
    ['limited', 'You have hit your usage limit. Try again in 4 seconds.'],
    ['unknown', 'Invalid API key. Please run /login'],
    ['late', 'Usage limit reached. It will reset in 2 hours 5 minutes.'],
  ] as const) {
    before.set(name, await place.run(name))
    place.skein('send', name, `leave ${words}`)
  }
  const parked = async (name: string) => {
    const { respawn } = await until(async () => {
      const now = await place.run(name)
      return now.respawn?.parked ? now : undefined
    })
    return respawn?.parked
  }
  expect(await parked('unknown')).toEqual({
    kind: 'held',
    reason: 'it could not log in: exited 1: Invalid API key. Please run /login',
    next: 'When it can work again: skein recover unknown',
  })
  expect(await parked('late')).toMatchObject({ kind: 'held', until: expect.any(String) })
  // The daemon is killed while they wait.
  await stopDaemon(place.access)
  await ensureDaemon(place.access)
  await until(() => isUpAgain(place, 'limited', before.get('limited') as AgentRun))
  expect((await place.run('limited')).respawn).toMatchObject({ count: 1, parked: { kind: 'held' } })
  for (const name of ['unknown', 'late']) expect((await place.run(name)).run?.ended_at).toBeDefined()
  expect(place.skein('list')).toMatch(/late .*the limit ends in 2h.*, then it is started again/)
  expect(place.skein('why', 'late')).toMatch(/until +.*in 2 ?h[\s\S]*next +When it can work again: skein recover late/)
  expect(place.skein('list', '--all', '--json')).toContain('"until"')
  expect(await place.events('session_death')).toHaveLength(3)
  expect(place.skein('recover', 'unknown')).toMatch(/^unknown: fresh /)
  expect((await place.run('unknown')).respawn).toBeUndefined()
})

it('Gas Town defect 12: a daemon brings every role back with a backoff, and parks each that goes on dying', async () => {
  const names = ['mayor', 'deacon', 'witness', 'refinery']
  const roles = names.map((name) => `[roles.${name}]\nrespawn = "always"\n`).join('')
  const place = await yard(`respawn = "never"\nbackoff = "1s"\nlimit = 1\n${roles}`)
  for (const name of names) place.skein('start', '.', '--agent', name, '--role', name, '--tool', 'demo')
  await ensureDaemon(place.access)
  const before = await Promise.all(names.map((name) => place.kill(name)))
  for (const [at, name] of names.entries()) await until(() => isStartedAgain(place, name, before[at] as AgentRun))
  for (const name of names) expect((await place.run(name)).respawn).toMatchObject({ count: 1, delay_ms: 1_000 })
  for (const name of names) await place.kill(name)
  for (const name of names) await until(async () => (await place.run(name)).respawn?.parked?.kind === 'loop')
  await pause(1_500) // longer than the backoff: nobody comes back
  for (const name of names) expect((await place.run(name)).run?.ended_at).toBeDefined()
  expect(await place.events('agent_started')).toHaveLength(2 * names.length)
})

it('Gas Town defect 13: a run that was calm begins the count anew; only crashes in a row park an agent', async () => {
  const place = await yard('respawn = "on-crash"\nbackoff = "1s"\nmax_backoff = "4s"\nlimit = 1\n')
  place.skein('start', '.', '--agent', 'toast', '--tool', 'demo')
  await ensureDaemon(place.access)
  const first = await place.kill('toast')
  await until(() => isStartedAgain(place, 'toast', first))
  await pause(4_500) // longer than the longest backoff: calm
  const second = await place.kill('toast')
  expect(second.respawn?.count).toBe(1)
  await until(() => isStartedAgain(place, 'toast', second))
  const third = await place.kill('toast')
  expect(third.respawn).toMatchObject({ count: 1, run: second.run?.id })
  const { respawn } = await until(async () => {
    const now = await place.run('toast')
    return now.respawn?.parked ? now : undefined
  })
  expect(respawn).toMatchObject({
    run: third.run?.id,
    parked: { kind: 'loop', reason: expect.stringContaining('2 times') },
  })
})
