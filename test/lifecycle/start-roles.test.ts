import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { prime } from '../../src/lifecycle/prime/prime.js'
import { START_STEPS, type StartStepName } from '../../src/lifecycle/run/start-steps.js'
import { agentsDown, type OperationContext } from '../../src/operations/index.js'
import type { ToolRunner } from '../../src/tools/index.js'
import { scratch } from '../home/scratch.js'
import { fakeTool } from './fake-tool.js'
import { eventually, type Workshop, workshop } from './workshop.js'

const TOWN = `[roles]
preset = "gastown"
root = "<root>/town"
prefixes = { gastown = "gt" }
[roles.crew]
tool = "fake"
args = ["--delay", "1"]
`

/** A workshop with these settings; `<root>` in them is its directory. */
async function shopWith(settings: string, options: Parameters<typeof workshop>[0] = {}): Promise<Workshop> {
  const root = scratch()
  writeFileSync(join(root, 'config.toml'), settings.replaceAll('<root>', root))
  return workshop({ ...options, root })
}

/** The environment of a process. */
const environmentOf = (pid: number): Record<string, string> =>
  Object.fromEntries(
    readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .filter((line) => line.includes('='))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )

const tmuxEnvironment = (shop: Workshop, session: string): Record<string, string> =>
  Object.fromEntries(
    shop
      .tmux('show-environment', '-t', `=${session}`)
      .split('\n')
      .filter((line) => /^[A-Z_]+=/.test(line))
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  )

describe('an agent with a role', () => {
  it.each([
    ['deacon', 'boot'],
    ['boot', 'deacon'],
  ])('may be named like the group of others where the preset says so: %s, then %s', async (first, second) => {
    const shop = await shopWith(`${TOWN}[roles.deacon]\ntool = "fake"\n[roles.boot]\ntool = "fake"\n`)
    for (const place of ['deacon', 'deacon/dogs/boot']) mkdirSync(join(shop.root, 'town', place), { recursive: true })
    for (const role of [first, second]) await shop.agents.start({ role, here: shop.project })
    const seen = async () =>
      (await shop.agents.list({ all: true })).map(({ address, tmux_session }) => [address, tmux_session]).sort()
    expect(await seen()).toEqual([
      ['deacon', 'hq-deacon'],
      ['deacon/boot', 'hq-boot'],
    ])
    expect((await shop.home.roster.agents({ group: 'deacon' })).map(({ address }) => address)).toEqual(['deacon/boot'])
    expect((await shop.home.roster.agent('deacon')).address).toBe('deacon')
    expect((await shop.home.index.check()).problems).toEqual([])
    await shop.home.index.rebuild()
    expect((await shop.home.roster.agents()).map(({ address }) => address).sort()).toEqual(['deacon', 'deacon/boot'])
    // Anything else still names one thing.
    await expect(shop.home.roster.add({ address: 'mayor/x', tool: 'fake' })).resolves.toBeDefined()
    await expect(shop.home.roster.add({ address: 'mayor', tool: 'fake' })).rejects.toMatchObject({
      code: 'group-exists',
    })
    await shop.home.roster.renameGroup('deacon', 'priest')
    expect((await shop.home.roster.agents()).map(({ address }) => address).sort()).toEqual([
      'deacon',
      'mayor/x',
      'priest/boot',
    ])
  })

  it('and a group of its name go away and come back in any order and by any command', async () => {
    const { home } = await shopWith(
      `${TOWN}[roles.lead]\naddress = "{group}/lead"\n[roles.aide]\naddress = "{group}/lead/{name}"\n`,
    )
    const { roster } = home
    const seen = async () => (await roster.agents()).map(({ address }) => address).sort()
    for (const address of ['deacon/boot', 'deacon', 'web/lead', 'web/lead/ada'])
      await roster.add({ address, tool: 'fake' })
    await roster.rename('deacon', 'priest')
    await roster.rename('priest', 'deacon')
    await roster.move('deacon', 'gastown')
    await roster.move('gastown/deacon', undefined)
    await roster.renameGroup('deacon', 'priests')
    await roster.renameGroup('priests', 'deacon')
    await roster.deleteGroup('deacon', { moveTo: 'gastown' })
    await roster.createGroup('deacon')
    await roster.deleteGroup('deacon')
    await roster.move('gastown/boot', 'deacon')
    expect(await seen()).toEqual(['deacon', 'deacon/boot', 'web/lead', 'web/lead/ada'])
    // What is taken stays taken, and so does a path that no role shares.
    await expect(roster.add({ address: 'deacon', tool: 'fake' })).rejects.toMatchObject({ code: 'agent-exists' })
    await expect(roster.createGroup('deacon')).rejects.toMatchObject({ code: 'group-exists' })
    await expect(roster.createGroup('deacon/boot')).rejects.toMatchObject({ code: 'agent-exists' })
    await expect(roster.add({ address: 'web', tool: 'fake' })).rejects.toMatchObject({ code: 'group-exists' })
    expect((await home.index.check()).problems).toEqual([])
  })

  it('of every kind that the preset has runs beside all the others, under the names of the seed, and is stopped in its order', async () => {
    const places = ['mayor', 'deacon/dogs/boot', 'deacon/dogs/rex', 'gastown/witness', 'gastown/refinery/rig']
    const named = ['gastown/crew/max', 'gastown/polecats/Toast']
    const all = ['mayor', 'deacon', 'boot', 'overseer', 'dog', 'witness', 'refinery', 'crew', 'polecat']
    const shop = await shopWith(
      `${TOWN.split('[roles.crew]')[0]}${all.map((role) => `[roles.${role}]\ntool = "fake"\n`).join('')}`,
    )
    for (const place of [...places, ...named]) mkdirSync(join(shop.root, 'town', place), { recursive: true })
    for (const role of ['boot', 'overseer', 'deacon', 'mayor']) await shop.agents.start({ role, here: shop.project })
    for (const role of ['refinery', 'witness']) await shop.agents.start({ role, group: 'gastown', here: shop.project })
    await shop.agents.start({ role: 'crew', group: 'gastown', agent: 'max', here: shop.project })
    await shop.agents.start({ role: 'polecat', group: 'gastown', agent: 'Toast', here: shop.project })
    await shop.agents.start({ role: 'dog', agent: 'rex', here: shop.project })
    const town = (path: string): string => join(shop.root, 'town', path)
    const views = await shop.agents.list()
    expect(views.every(({ status }) => status !== 'stopped' && status !== 'error')).toBe(true)
    expect(
      views.map(({ role, tmux_session, address, project_path }) => [role, tmux_session, address, project_path]).sort(),
    ).toEqual([
      ['boot', 'hq-boot', 'deacon/boot', town('deacon/dogs/boot')],
      ['crew', 'gt-crew-max', 'gastown/crew/max', town('gastown/crew/max')],
      ['deacon', 'hq-deacon', 'deacon', town('deacon')],
      ['dog', 'hq-dog-rex', 'deacon/dogs/rex', town('deacon/dogs/rex')],
      ['mayor', 'hq-mayor', 'mayor', town('mayor')],
      ['overseer', 'hq-overseer', 'overseer', town('deacon')],
      ['polecat', 'gt-Toast', 'gastown/polecats/Toast', town('gastown/polecats/Toast')],
      ['refinery', 'gt-refinery', 'gastown/refinery', town('gastown/refinery/rig')],
      ['witness', 'gt-witness', 'gastown/witness', town('gastown/witness')],
    ])
    // Each gets its own mail, though two share a path with a group and two a directory.
    const { work } = shop.home
    for (const { address, id } of views) await work.send({ to: { address, id }, subject: address, body: '' })
    for (const { address, id } of views)
      expect((await work.inbox({ address, id })).mail.map(({ subject }) => subject)).toEqual([address])
    // As in `gt down`: boot before the deacon, which it would start again.
    const context = { home: async () => shop.home, agents: async () => shop.agents } as unknown as OperationContext
    const { receipts } = await agentsDown.run({ group: undefined, graceful: 2_000 }, context)
    const order = ['polecat', 'dog', 'crew', 'refinery', 'witness', 'mayor', 'boot', 'deacon', 'overseer']
    expect(receipts.map(({ agent }) => agent.role)).toEqual(order)
  })

  it('has its names, its directory, its tool and its arguments from the role', async () => {
    const shop = await shopWith(TOWN)
    const cwd = join(shop.root, 'town', 'gastown', 'crew', 'max')
    mkdirSync(cwd, { recursive: true })
    const { agent } = await shop.agents.start({ role: 'crew', group: 'gastown', agent: 'max', here: shop.project })
    expect(agent).toMatchObject({
      address: 'gastown/crew/max',
      role: 'crew',
      tool: 'fake',
      project_path: cwd,
      tmux_session: 'gt-crew-max',
    })
    expect((await shop.agents.runs())[0]?.recipe).toMatchObject({ cwd, args: ['--delay', '1'] })
    expect(shop.tmux('list-sessions', '-F', '#{session_name}')).toContain('gt-crew-max')
  })

  it('is known by its address alone, and options that are given win over the role', async () => {
    const shop = await shopWith(TOWN)
    const { agent } = await shop.agents.start({ agent: 'gastown/crew/max', cwd: shop.project, args: ['--delay', '2'] })
    expect(agent).toMatchObject({ role: 'crew', project_path: shop.project, tmux_session: 'gt-crew-max' })
    expect((await shop.agents.runs())[0]?.recipe.args).toEqual(['--delay', '2'])
  })

  it('is named by the directory that the role has for it', async () => {
    const shop = await shopWith(TOWN)
    const cwd = join(shop.root, 'town', 'gastown', 'crew', 'joe', 'src')
    mkdirSync(cwd, { recursive: true })
    expect((await shop.agents.spawn({ role: 'crew', here: cwd })).address).toBe('gastown/crew/joe')
  })

  it.each([
    [{ role: 'polecat', agent: 'gastown/crew/max' }, /is the address of the role crew, not of polecat/],
    [{ role: 'polecat', group: 'gastown', agent: 'crew-x' }, /reads as crew x/],
    [{ role: 'polecat', group: 'other', agent: 'x' }, /The group other has no prefix/],
    [{ role: 'crew', group: 'gastown' }, /needs a name/],
    [{ role: 'mayor' }, /There is no directory .*town\/mayor/],
    [{ role: 'crew', group: 'gastown', agent: 'max', cwd: '/', topic: 'no topic' }, /is not a topic/],
    [{ role: 'crew', group: 'gastown', agent: 'max', cwd: '/', account: 'work' }, /no account named "work"/],
  ])('%j is refused, and nothing has changed', async (options, message) => {
    const shop = await shopWith(TOWN)
    await expect(shop.agents.start({ here: shop.project, ...options })).rejects.toThrow(message)
    expect(await shop.home.roster.agents()).toEqual([])
    expect(await shop.home.roster.groups()).toEqual([])
    expect(await shop.home.events.read({})).toEqual([])
  })

  it('that is not configured keeps its word and is started as ever', async () => {
    const shop = await shopWith(TOWN)
    const { agent } = await shop.agents.start({ role: 'philosopher', agent: 'web/toast', cwd: shop.project })
    expect(agent).toMatchObject({ role: 'philosopher', tmux_session: 'web/toast' })
  })

  it('is told its beacon first, then its prompt; its session says why it began, and by whom', async () => {
    const shop = await shopWith(TOWN)
    const begun = await shop.agents.start({
      agent: 'gastown/crew/max',
      cwd: shop.project,
      prompt: 'mend the roof',
      topic: 'assigned',
    })
    const told = shop.log().flatMap(({ prompt }) => (typeof prompt === 'string' ? [prompt] : []))
    expect(told).toHaveLength(1)
    expect(told[0]).toMatch(
      /^\[GAS TOWN\] crew max \(rig: gastown\) <- human • \d{4}-\d\d-\d\dT\d\d:\d\d • assigned\n\nRun `skein prime` and begin work on your hook\.\n\nmend the roof$/,
    )
    expect(begun.session).toMatchObject({ topic: 'assigned', sender: 'human', role: 'crew' })
    await shop.agents.restart('max') // the conversation goes on: nothing is said again
    expect(shop.log().filter(({ prompt }) => prompt !== undefined)).toHaveLength(1)
    await shop.agents.restart('max', { fresh: true })
    const again = shop.log().flatMap(({ prompt }) => (typeof prompt === 'string' ? [prompt] : []))
    expect(again[1]).toMatch(/ • cold-start\n\nCheck your hook and mail/)
  })
})

it('the beacon names the plan of the work on the hook, until a handoff has taken it off', async () => {
  const shop = await shopWith(TOWN)
  const max = await shop.home.roster.add({ address: 'gastown/crew/max', tool: 'fake' })
  const unit = await shop.home.work.add({ title: 'a unit', molecule_id: 'gt-abc12' })
  await shop.home.work.hook(unit.id, max)
  await shop.agents.start({ agent: 'gastown/crew/max', cwd: shop.project, topic: 'assigned' })
  const told = () => shop.log().flatMap(({ prompt }) => (typeof prompt === 'string' ? [prompt.split('\n')[0]] : []))
  expect(told()).toEqual([expect.stringMatching(/ • assigned:gt-abc12$/)])
  await shop.agents.handoff({ agent: 'gastown/crew/max', message: 'on' })
  await eventually(told, (lines) => lines.length === 2)
  expect(told()[1]).toMatch(/ • handoff$/)
})

describe('who an agent is', () => {
  it('is in its environment and in that of its tmux session, in the names of Gas Town as well with its preset', async () => {
    const shop = await shopWith(TOWN, { env: { SECRET_KEY: 'hush' } })
    const { agent } = await shop.agents.start({
      agent: 'gastown/crew/max',
      cwd: shop.project,
      env: { ANTHROPIC_API_KEY: 'sk-secret' },
    })
    const root = join(shop.root, 'town')
    const identity = {
      SKEIN_AGENT: 'gastown/crew/max',
      SKEIN_ROLE: 'crew',
      SKEIN_SESSION: agent.session_id,
      SKEIN_HOME: shop.root,
      SKEIN_PROFILE: 'default',
      GT_ROLE: 'gastown/crew/max',
      GT_RIG: 'gastown',
      GT_CREW: 'max',
      GT_ROOT: root,
      GT_TOWN_ROOT: root,
      GT_SESSION: 'gt-crew-max',
      GT_SESSION_UUID: agent.session_id,
      GT_AGENT: 'fake',
      BD_ACTOR: 'gastown/crew/max',
      BEADS_AGENT_NAME: 'gastown/max',
      GIT_AUTHOR_NAME: 'max',
      GIT_CEILING_DIRECTORIES: root,
    }
    const own = environmentOf(agent.pid ?? 0)
    expect(own).toMatchObject(identity)
    expect(own.ANTHROPIC_API_KEY).toBe('sk-secret')
    for (const name of ['GT_POLECAT', 'GT_DOG_NAME', 'BD_DOLT_AUTO_COMMIT']) expect(own).not.toHaveProperty(name)
    // The mark of a run must not be on a shell that its user opens beside it: those processes are ended with the run.
    expect(tmuxEnvironment(shop, 'gt-crew-max')).toEqual(identity)
  })

  it.each([
    ['mayor', { GT_ROLE: 'mayor', BD_ACTOR: 'mayor', GIT_AUTHOR_NAME: 'mayor' }],
    ['deacon/boot', { GT_ROLE: 'deacon/boot', BD_ACTOR: 'deacon-boot', GIT_AUTHOR_NAME: 'boot' }],
    ['deacon/dogs/rex', { GT_ROLE: 'dog', GT_DOG_NAME: 'rex', BD_ACTOR: 'deacon/dogs/rex', GIT_AUTHOR_NAME: 'rex' }],
    [
      'gastown/witness',
      {
        GT_ROLE: 'gastown/witness',
        GT_RIG: 'gastown',
        BD_ACTOR: 'gastown/witness',
        GIT_AUTHOR_NAME: 'gastown/witness',
      },
    ],
    [
      'gastown/polecats/Toast',
      {
        GT_ROLE: 'gastown/polecats/Toast',
        GT_POLECAT: 'Toast',
        BD_DOLT_AUTO_COMMIT: 'off',
        BEADS_AGENT_NAME: 'gastown/Toast',
      },
    ],
  ])("%s has Gas Town's variables", async (address, expected) => {
    const shop = await shopWith(TOWN)
    const { agent } = await shop.agents.start({ agent: address, cwd: shop.project, tool: 'fake' })
    expect(environmentOf(agent.pid ?? 0)).toMatchObject(expected)
  })

  it('without a preset has no name of Gas Town, and an agent passes none of its own on', async () => {
    const shop = await workshop({
      env: { SKEIN_RUN: 'r', SKEIN_ROLE: 'crew', GT_ROLE: 'x', GT_CREW: 'max', BD_ACTOR: 'x' },
    })
    const { agent } = await shop.agents.start({ agent: 'toast', cwd: shop.project })
    const own = environmentOf(agent.pid ?? 0)
    for (const name of ['SKEIN_ROLE', 'GT_ROLE', 'GT_CREW', 'BD_ACTOR']) expect(own).not.toHaveProperty(name)
    expect(own).toMatchObject({ SKEIN_AGENT: 'toast', SKEIN_SESSION: agent.session_id, SKEIN_HOME: shop.root })
  })

  it('follows the conversation: a restart, a cleared one and a rename change the tmux session as well', async () => {
    const shop = await shopWith(TOWN)
    const { agent } = await shop.agents.start({ agent: 'gastown/crew/max', cwd: shop.project })
    await shop.agents.restart('max', { fresh: true })
    const fresh = (await shop.agents.list())[0]
    expect(fresh?.session_id).not.toBe(agent.session_id)
    expect(tmuxEnvironment(shop, 'gt-crew-max')).toMatchObject({
      SKEIN_SESSION: fresh?.session_id,
      GT_SESSION_UUID: fresh?.session_id,
    })
    await shop.agents.send('max', 'clear')
    const cleared = await eventually(
      async () => (await shop.agents.list())[0],
      (seen) => seen?.session_id !== fresh?.session_id,
    )
    expect(tmuxEnvironment(shop, 'gt-crew-max')).toMatchObject({
      SKEIN_SESSION: cleared?.session_id,
      GT_SESSION_UUID: cleared?.session_id,
    })
  })
})

const stateOf = async (shop: Workshop) => ({
  agents: await shop.home.roster.agents(),
  groups: await shop.home.roster.groups(),
  runs: (await shop.agents.runs()).map(({ start: _start, ...run }) => run),
  files: existsSync(shop.home.paths.agents)
    ? readdirSync(shop.home.paths.agents, { recursive: true }).filter((name) => !/\.lock$|^launch$/.test(String(name)))
    : [],
  active: (await shop.home.sessions.query({ outcome: 'active', limit: 50 })).sessions.map(({ id }) => id),
})

const sessionsOf = (shop: Workshop): string[] => {
  try {
    return shop
      .tmux('list-sessions', '-F', '#{session_name}')
      .split('\n')
      .filter((name) => name !== '' && name !== '_skein')
  } catch {
    return []
  }
}

const ROLE = `[roles.worker]
address = "{group}/workers/{name}"
session_name = "w-{name}"
beacon = true
theme = "ocean"
[roles.worker.start]
accept_startup_dialogs = true
ready_delay_ms = 50
`

describe('a start whose step fails', () => {
  /** Steps that are done in a start of a new agent of this role; those that only note something cannot fail. */
  const FAILING = START_STEPS.filter((name) => name !== 'auto-respawn')

  it.each(FAILING)('leaves nothing of a new agent behind: %s', async (name) => {
    const shop = await shopWith(ROLE)
    const before = await stateOf(shop)
    const pids: string[] = []
    const onStep = (step: StartStepName): void => {
      if (step === 'wait') pids.push(shop.tmux('list-panes', '-a', '-F', '#{session_name} #{pane_pid}'))
      if (step === name) throw new Error(`no ${name} today`)
    }
    const started = shop.agents.start({
      role: 'worker',
      group: 'lab/deep',
      agent: 'ada',
      cwd: shop.project,
      tool: 'fake',
      onStep,
    })
    await expect(started).rejects.toThrow(`no ${name} today`)
    expect(await stateOf(shop)).toEqual(before)
    expect(sessionsOf(shop)).toEqual([])
    const pid = /^w-ada (\d+)$/m.exec(pids[0] ?? '')?.[1]
    if (pid)
      expect(existsSync(`/proc/${pid}`) && readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[2] !== 'Z').toBe(false)
    // The same start without the fault works.
    const { agent } = await shop.agents.start({
      role: 'worker',
      group: 'lab/deep',
      agent: 'ada',
      cwd: shop.project,
      tool: 'fake',
    })
    expect(agent).toMatchObject({
      address: 'lab/deep/workers/ada',
      status: expect.stringMatching(/idle|running|waiting/),
    })
  })

  it.each(['environment', 'settings', 'session', 'theme', 'record', 'wait', 'ready', 'verify'] as const)(
    'leaves an agent that was there before as it was, with its conversation: %s',
    async (name) => {
      const shop = await shopWith(ROLE)
      const options = { role: 'worker', group: 'lab', agent: 'ada', cwd: shop.project, tool: 'fake' } as const
      const { agent } = await shop.agents.start(options)
      await shop.agents.stop('ada')
      const { runs, ...before } = await stateOf(shop)
      const onStep = (step: StartStepName): void => {
        if (step === name) throw new Error(`no ${name} today`)
      }
      const again = shop.agents.start({ agent: 'lab/workers/ada', env: { KEY: 'new' }, onStep })
      await expect(again).rejects.toThrow(`no ${name} today`)
      const after = await stateOf(shop)
      expect({ ...after, runs: undefined, files: after.files.filter((file) => !/\//.test(String(file))) }).toEqual({
        ...before,
        runs: undefined,
        files: before.files.filter((file) => !/\//.test(String(file))),
      })
      expect(after.runs[0]).toMatchObject({
        recipe: runs[0]?.recipe,
        binding: runs[0]?.binding,
        status: { status: 'stopped' },
      })
      expect(sessionsOf(shop)).toEqual([])
      const { start } = await shop.agents.why('ada')
      if (name !== 'environment')
        expect(start?.steps.at(-1)).toMatchObject({ name, outcome: 'failed', note: `no ${name} today` })
      expect((await shop.agents.start({ agent: 'lab/workers/ada' })).agent.session_id).toBe(agent.session_id)
    },
  )

  it('for real: no directory of its own, no program, no tmux, a program that ends at once', async () => {
    const shop = await shopWith(ROLE)
    const before = await stateOf(shop)
    const options = { role: 'worker', group: 'lab', agent: 'ada', cwd: shop.project, tool: 'fake' } as const
    for (const [bad, message] of [
      [{ cwd: join(shop.root, 'gone') }, /There is no directory/],
      [{ command: 'no-such-program-here' }, /was not found/],
      [{ args: ['--die', '3', '--because', 'the key is wrong'] }, /exited 3/],
    ] as const) {
      await expect(shop.agents.start({ ...options, ...bad })).rejects.toThrow(message)
      expect(await stateOf(shop)).toEqual(before)
      expect(sessionsOf(shop)).toEqual([])
    }
    const failed = await shop.home.events.read({ type: 'agent_start_failed' })
    expect(failed.map(({ payload }) => payload.step)).toEqual(['wait'])
  })

  it('that is not fatal leaves the agent with what became of it', async () => {
    const shop = await shopWith(`${ROLE}wait_fatal = false\n`)
    const options = { role: 'worker', group: 'lab', agent: 'ada', cwd: shop.project, tool: 'fake' } as const
    const { agent, how } = await shop.agents.start({ ...options, args: ['--die', '3'], prompt: 'hello' })
    expect(agent).toMatchObject({ address: 'lab/workers/ada', status: 'error', reason: 'exited 3' })
    expect(how).toContain('it was given no prompt')
    expect((await shop.agents.why('ada')).start?.steps.find(({ name }) => name === 'wait')).toMatchObject({
      outcome: 'failed',
    })
  })
})

describe('the steps of a start', () => {
  it('are recorded with their time and outcome', async () => {
    const shop = await shopWith(ROLE)
    await shop.agents.start({ role: 'worker', group: 'lab', agent: 'ada', cwd: shop.project, tool: 'fake' })
    const { start } = await shop.agents.why('ada')
    expect(start?.steps.map(({ name }) => name)).toEqual([
      'resolve',
      'environment',
      'prompt',
      'command',
      'end-before',
      'settings',
      'session',
      'remain-on-exit',
      'tmux-environment',
      'theme',
      'record',
      'wait',
      'auto-respawn',
      'dialogs',
      'ready',
      'track-pid',
      'verify',
    ])
    expect(start?.steps.filter(({ outcome }) => outcome !== 'done').map(({ name }) => name)).toEqual(['auto-respawn'])
    expect(start?.steps.every(({ ms }) => ms >= 0)).toBe(true)
    expect(start).toMatchObject({ topic: 'cold-start', sender: 'tester' })
    await shop.agents.stop('ada')
    const plain = await shop.agents.start({ agent: 'toast', cwd: shop.project })
    const steps = (await shop.agents.why(plain.agent.id)).start?.steps ?? []
    expect(steps.filter(({ outcome }) => outcome === 'skipped').map(({ name }) => name)).toEqual([
      'prompt',
      'theme',
      'auto-respawn',
      'dialogs',
      'ready',
    ])
  })

  it('a role that waits for nothing returns at once; a program without a pane of its own is closed when it ends', async () => {
    const shop = await shopWith(
      '[roles.brief]\naddress = "{group}/brief/{name}"\n[roles.brief.start]\nwait_for_agent = false\nremain_on_exit = false\nverify_survived = false\n',
    )
    const { agent } = await shop.agents.start({
      ...{ role: 'brief', group: 'lab', agent: 'one', cwd: shop.project, tool: 'fake' },
    })
    expect((await shop.agents.why('one')).start?.steps.find(({ name }) => name === 'wait')?.outcome).toBe('skipped')
    process.kill(agent.pid ?? 0, 'SIGKILL')
    const gone = await eventually(
      async () => (await shop.agents.list())[0],
      (seen) => seen?.status === 'error',
    )
    expect(gone?.reason).toMatch(/SIGKILL|signal/)
    const left = async () => {
      await shop.agents.list()
      return sessionsOf(shop)
    }
    await eventually(left, (names) => names.length === 0)
    const stopped = await shop.home.events.read({ type: 'agent_stopped' })
    expect(stopped.at(-1)?.payload).toMatchObject({ how: 'crashed' })
  })
})

describe('startup dialogs', () => {
  const asking = (rule: string, kind: 'startup' | 'permission') => {
    const tool = fakeTool({ name: 'asks', tells: false })
    return {
      ...tool,
      readScreen: (screen: Parameters<typeof tool.readScreen>[0]) => {
        const reading = tool.readScreen(screen)
        return reading.dialog ? { ...reading, rule, dialog: { ...reading.dialog, kind } } : reading
      },
    }
  }
  const settings = '[roles.w]\naddress = "{group}/w/{name}"\n[roles.w.start]\naccept_startup_dialogs = true\n'

  it('are accepted; a permission prompt never is', async () => {
    const options = { role: 'w', group: 'lab', agent: 'one', tool: 'asks', args: ['--dialog'] }
    const trusting = await shopWith(settings, { runners: [asking('asks/trust@1', 'startup')] })
    const { agent } = await trusting.agents.start({ ...options, cwd: trusting.project })
    expect(agent.status).not.toBe('waiting')
    expect(trusting.log().filter(({ chosen }) => chosen !== undefined)).toHaveLength(1)
    for (const [rule, kind] of [
      ['asks/permission@1', 'permission'],
      ['asks/trust@1', 'permission'],
      ['asks/resume-from-summary@1', 'startup'],
    ] as const) {
      const shop = await shopWith(settings, { runners: [asking(rule, kind)] })
      const started = await shop.agents.start({ ...options, cwd: shop.project })
      expect(started.agent).toMatchObject({ status: 'waiting' })
      expect(shop.log().filter(({ chosen }) => chosen !== undefined)).toEqual([])
    }
  })
})

describe('a theme', () => {
  it('is applied to the tmux session of its role or group and again after a respawn; names in it are text', async () => {
    const shop = await shopWith(
      '[themes.mine]\nbg = "#010203"\nfg = "white"\nlabel = "#{pane_id} #[bg=red] 100%H #(touch <root>/pwned)"\ngroups = ["lab"]\n[roles.w]\naddress = "{group}/w/{name}"\ntheme = "plum"\n',
    )
    await shop.agents.start({ agent: 'lab/deep/toast', cwd: shop.project })
    const shown = (name: string, option: string) => shop.tmux('show-options', '-t', `=${name}:`, '-qv', option).trim()
    expect(shown('lab/deep/toast', 'status-style')).toBe('bg=#010203,fg=white')
    // As a person sees it: our server in a pane of another one.
    const outer = ['-S', join(shop.root, 'outer.sock'), '-f', '/dev/null']
    const inner = `env -u TMUX tmux -S ${shop.socket} attach -t =lab/deep/toast:`
    execFileSync('tmux', [...outer, 'new-session', '-d', '-x', '200', '-y', '30', inner])
    onTestFinished(() => void spawnSync('tmux', [...outer, 'kill-server']))
    const line = await eventually(
      () =>
        execFileSync('tmux', [...outer, 'capture-pane', '-p'], { encoding: 'utf8' })
          .trimEnd()
          .split('\n')
          .at(-1) ?? '',
      (last) => last.includes('pane_id'),
    )
    expect(line).toContain('#{pane_id} #[bg=red] 100%H')
    expect(existsSync(join(shop.root, 'pwned'))).toBe(false)
    await shop.agents.start({ role: 'w', group: 'lab', agent: 'one', cwd: shop.project })
    expect(shown('lab/w/one', 'status-style')).toContain('bg=#432a52')
    shop.tmux('set-option', '-t', '=lab/w/one:', 'status-style', 'bg=red')
    await shop.agents.restart('lab/w/one')
    expect(shown('lab/w/one', 'status-style')).toContain('bg=#432a52')
    await shop.agents.start({ agent: 'other/toast', cwd: shop.project })
    expect(shown('other/toast', 'status-style')).toBe('')
  })
})

it('an agent that is made says so once, with its role and its work', async () => {
  const shop = await shopWith(TOWN)
  await shop.agents.spawn({ agent: 'gastown/crew/max', cwd: shop.project, work: 'wk-1' })
  await shop.agents.spawn({ agent: 'gastown/crew/max', cwd: shop.project, model: 'opus' })
  const spawned = await shop.home.events.read({ type: 'spawn' })
  expect(spawned.map(({ agent, payload }) => ({ agent, role: payload.role, work: payload.work }))).toEqual([
    { agent: 'gastown/crew/max', role: 'crew', work: 'wk-1' },
  ])
})

it('an account is kept with the agent, and its program finds it; another tool is refused', async () => {
  const tool = { ...fakeTool(), account: { variable: 'FAKE_HOME', root: (directory: string) => directory } }
  const root = scratch()
  const shop = await workshop({
    root,
    runners: [tool, fakeTool({ name: 'mute', tells: false })],
    accounts: { work: { tool: 'fake', directory: '/srv/fake-work', logs: '/srv/fake-work' } },
  })
  const { agent } = await shop.agents.start({ agent: 'toast', cwd: shop.project, account: 'work' })
  expect(environmentOf(agent.pid ?? 0).FAKE_HOME).toBe('/srv/fake-work')
  const again = await shop.agents.restart('toast')
  expect(environmentOf(again.agent.pid ?? 0).FAKE_HOME).toBe('/srv/fake-work')
  expect((await shop.agents.runs())[0]?.recipe.account).toBe('work')
  const other = { agent: 'crumb', cwd: shop.project, account: 'work', tool: 'mute' }
  await expect(shop.agents.start(other)).rejects.toThrow(/mute has no accounts/)
  const plain = await shop.agents.start({ agent: 'plain', cwd: shop.project })
  expect(environmentOf(plain.agent.pid ?? 0)).not.toHaveProperty('FAKE_HOME')
})

it('the phase of an agent: it begins, is ready, and works on what is on its hook', async () => {
  const shop = await workshop()
  const slow = await shop.agents.start({ agent: 'slow', cwd: shop.project, args: ['--delay', '9000'] })
  expect(slow.agent.phase).toBe('priming')
  await shop.agents.kill('slow')
  expect((await shop.agents.list())[0]).not.toHaveProperty('phase')
  const { agent } = await shop.agents.start({ agent: 'toast', cwd: shop.project })
  expect(agent.phase).toBe('ready')
  const unit = await shop.home.work.add({ title: 'mend the roof' })
  await shop.home.work.hook(unit.id, { address: agent.address, id: agent.id })
  const phase = async () => (await shop.agents.list()).find(({ id }) => id === agent.id)?.phase
  expect(await phase()).toBe('autonomous')
  await shop.home.work.close(unit.id, { status: 'done' })
  expect(await phase()).toBe('ready')
  // As prime has it, which tells the agent to begin.
  const to = { address: agent.address, id: agent.id }
  const mail = await shop.home.work.send({ to, subject: 'the roof', body: 'still open', is_hooked: true })
  expect(await phase()).toBe('autonomous')
  const nobody = { session: undefined, source: undefined, pid: undefined, tool: undefined }
  const looking = { isHook: false, isReported: false, isDry: true, waitMs: 1_000, cwd: shop.project }
  expect((await prime(shop.parts, { ...nobody, ...looking, agent: agent.address })).state).toBe('autonomous')
  await shop.home.work.settleMail(mail.id)
  expect(await phase()).toBe('ready')
  // Another program keeps the work, and is not asked on every look: what is not known is not said.
  writeFileSync(join(shop.root, 'config.toml'), `[work]\nprovider = "beads"\nbeads_dir = "${shop.root}"\n`)
  const other = (await (await shop.again()).agents.list()).find(({ id }) => id === agent.id)
  expect(other).toMatchObject({ status: 'idle' })
  expect(other).not.toHaveProperty('phase')
})

it('a conversation under an account is found there by a recovery and by whoever resumes it', async () => {
  const directory = '/srv/fake-work'
  const hasConversation: ToolRunner['hasConversation'] = (_, { env }) => env.FAKE_HOME === directory
  const runner = { ...fakeTool(), account: { variable: 'FAKE_HOME', root: (of: string) => of }, hasConversation }
  const shop = await workshop({
    runners: [runner],
    accounts: { work: { tool: 'fake', directory, logs: directory } },
  })
  await shop.agents.start({ agent: 'toast', cwd: shop.project, account: 'work' })
  await shop.agents.send('toast', 'hello')
  const [view] = await shop.agents.list()
  process.kill(Number(shop.tmux('display-message', '-p', '#{pid}')), 'SIGKILL')
  await eventually(
    () => shop.agents.list(),
    ([one]) => one?.status === 'error' || one?.status === 'stopped',
  )
  const [back] = await shop.agents.recover({ spacingMs: 0 })
  expect(back).toMatchObject({ outcome: 'resumed', agent: { session_id: view?.session_id } })
  await shop.agents.remove('toast', { force: true })
  const session = view?.session_id ?? ''
  await shop.home.sessions.end(session, { outcome: 'done' }).catch(() => undefined)
  const resumed = await shop.agents.start({ agent: 'other', resume: session, cwd: shop.project })
  expect(resumed.agent).toMatchObject({ address: 'other', session_id: session })
  expect((await shop.agents.runs())[0]?.recipe).toMatchObject({ account: 'work' })
})
