import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { finishHandoff, handOff, planHandoff } from '../../../src/lifecycle/handoff/handoff.js'
import { consumeHandoff } from '../../../src/lifecycle/handoff/marker.js'
import { AgentRuns } from '../../../src/lifecycle/index.js'
import { parseSessionId } from '../../../src/model/index.js'
import { customRunner } from '../../../src/tools/custom/custom-runner.js'
import type { ToolRunner } from '../../../src/tools/index.js'
import { scratch } from '../../home/scratch.js'
import { contextOf } from '../context.js'
import { fakeTool } from '../fake-tool.js'
import { eventually, type Workshop, workshop } from '../workshop.js'
import { partsOf } from './parts.js'

/** An agent that runs and has been given a prompt. */
async function running(options: Parameters<typeof workshop>[0] = {}): Promise<Workshop & { session: string }> {
  const shop = await workshop(options)
  await shop.agents.start({ agent: 'toast', cwd: shop.project })
  await shop.agents.send('toast', 'hello')
  const [view] = await shop.agents.list()
  return { ...shop, session: view?.session_id ?? '' }
}

const runsOf = ({ home }: Workshop) => new AgentRuns(home, contextOf([]))

it('hands off in place: mail on the hook, marker, link, and the successor in the same pane with its first prompt', async () => {
  const shop = await running()
  const { agents, home, session } = shop
  const [before] = await agents.list()
  const handed = await agents.handoff({ agent: 'toast', subject: 'Login half done', message: 'Tests are red' })
  expect(handed).toMatchObject({ kind: 'fresh', is_done: true, from: session, mail: expect.any(String) })
  const [after] = await agents.list()
  expect(after).toMatchObject({ pane: before?.pane, tmux_session: before?.tmux_session, session_id: handed.to })
  expect(after?.pid).not.toBe(before?.pid)
  expect(shop.tmux('show-environment', '-t', `=${after?.tmux_session}`)).toContain(`SKEIN_SESSION=${handed.to}\n`)
  const agent = await home.roster.agent('toast')
  const { mail } = await home.work.hooked(agent)
  expect(mail).toMatchObject([
    { id: handed.mail, kind: 'handoff', priority: 1, subject: 'Login half done', body: '> Tests are red' },
  ])
  const [chain] = await home.sessions.chain(session)
  expect(chain?.sessions.map(({ id, link, outcome }) => ({ id, link, outcome }))).toEqual([
    { id: session, link: undefined, outcome: 'handoff' },
    { id: handed.to, link: 'handoff', outcome: undefined },
  ])
  expect((await home.events.read({ type: 'handoff' })).map(({ session: of }) => of)).toEqual([session])
  expect((await home.work.handoffRecord(agent))?.entries).toMatchObject([
    { subject: 'Login half done', mail: handed.mail },
  ])
  await eventually(
    () => shop.log().map(({ prompt }) => String(prompt)),
    (prompts) => prompts.some((prompt) => prompt.includes('handoff')),
  )
  const runs = runsOf(shop)
  expect(await consumeHandoff({ runs }, agent, parseSessionId(session))).toBeUndefined()
  expect(await consumeHandoff({ runs }, agent, parseSessionId(handed.to ?? ''))).toMatchObject({ from: session })
  expect(await consumeHandoff({ runs }, agent, parseSessionId(handed.to ?? ''))).toBeUndefined()
})

it('a second handoff at once is refused, whoever asks; of two at the same moment one wins', async () => {
  const shop = await running()
  const other = await shop.again()
  const both = await Promise.allSettled([
    shop.agents.handoff({ agent: 'toast', message: 'one' }),
    other.agents.handoff({ agent: 'toast', message: 'two' }),
  ])
  expect(both.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  const [lost] = both.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []))
  expect(['agent-busy', 'handoff-too-soon']).toContain(lost)
  const agent = await shop.home.roster.agent('toast')
  expect((await shop.home.work.hooked(agent)).mail).toHaveLength(1)
  await expect(shop.agents.handoff({ agent: 'toast' })).rejects.toMatchObject({ code: 'handoff-too-soon' })
  expect((await shop.home.work.hooked(agent)).mail).toHaveLength(1)
})

it('--cycle keeps the conversation, --auto only saves; each replaces what was saved in the same session', async () => {
  const shop = await running()
  const { agents, home, session } = shop
  const agent = await home.roster.agent('toast')
  const [before] = await agents.list()
  expect(await agents.handoff({ agent: 'toast', kind: 'auto', reason: 'compaction' })).toMatchObject({ kind: 'auto' })
  const auto = await agents.handoff({ agent: 'toast', kind: 'auto', reason: 'compaction' })
  expect((await agents.list())[0]).toMatchObject({ pid: before?.pid, session_id: session })
  expect((await home.work.hooked(agent)).mail.map(({ id }) => id)).toEqual([auto.mail])
  const cycled = await agents.handoff({ agent: 'toast', kind: 'cycle' })
  expect(cycled).toMatchObject({ kind: 'cycle', from: session })
  const [after] = await agents.list()
  expect(after).toMatchObject({ session_id: session, pane: before?.pane })
  expect(after?.pid).not.toBe(before?.pid)
  expect((await home.work.hooked(agent)).mail.map(({ id }) => id)).toEqual([cycled.mail])
  expect((await home.sessions.get(session))?.outcome).toBeUndefined()
  expect(await home.events.read({ type: 'handoff' })).toHaveLength(3)
  const runs = runsOf(shop)
  expect(await consumeHandoff({ runs }, agent, parseSessionId(session), 'resume')).toMatchObject({ kind: 'cycle' })
})

it.each([
  ['forever', 'running'],
  ['ask rm -rf x', 'waiting'],
])(
  'a cycle in the middle of the turn "%s" tells its program to go on, once; one of an agent that rests says nothing',
  async (prompt, status) => {
    const { agents, log } = await running()
    const told = () => log().flatMap(({ prompt }) => (typeof prompt === 'string' ? [prompt] : []))
    await agents.wait('toast', { until: 'done', timeoutMs: 20_000 })
    await agents.ack('toast')
    await agents.send('toast', prompt)
    await eventually(
      () => agents.list(),
      ([one]) => one?.status === status,
    )
    const cycled = await agents.handoff({ agent: 'toast', kind: 'cycle' })
    expect(cycled.how).toContain('the prompt to continue was received')
    expect(told().slice(1)).toEqual([prompt, expect.stringContaining('Continue your previous task.')])
    await agents.restart('toast')
    expect(told()).toHaveLength(3)
    await agents.start({ agent: 'rests', cwd: (await agents.list())[0]?.project_path ?? '' })
    await eventually(
      () => agents.list(),
      (all) => all.find(({ address }) => address === 'rests')?.status === 'idle',
    )
    const { how } = await agents.handoff({ agent: 'rests', kind: 'cycle' })
    expect(how).not.toContain('prompt')
    expect(told()).toHaveLength(3)
  },
)

it('a handoff to another tool changes the tool, and the chain goes on across it', async () => {
  const { agents, home, session } = await running()
  const handed = await agents.handoff({ agent: 'toast', tool: 'mute', message: 'yours now' })
  expect((await agents.list())[0]).toMatchObject({ tool: 'mute', session_id: handed.to })
  const [chain] = await home.sessions.chain(session)
  expect(chain?.sessions.map(({ id, tool }) => ({ id, tool }))).toEqual([
    { id: session, tool: 'fake' },
    { id: handed.to, tool: 'mute' },
  ])
  const [mail] = (await home.work.hooked(await home.roster.agent('toast'))).mail
  expect(mail?.body).toContain('## Workspace')
})

it('the session of a successor says why it was begun, and not why its predecessor was', async () => {
  const shop = await workshop()
  await shop.agents.start({ agent: 'toast', cwd: shop.project, topic: 'cold-start' })
  await shop.agents.send('toast', 'hello')
  const { to = '' } = await shop.agents.handoff({ agent: 'toast', message: 'next' })
  expect(await shop.home.sessions.get(parseSessionId(to))).toMatchObject({ topic: 'handoff', sender: 'self' })
})

it('the chain goes on to a successor whose program has ids of its own form', async () => {
  const { prepare, ...rest } = fakeTool({ name: 'formed' })
  const formed: ToolRunner = {
    ...rest,
    prepare: (launch) => {
      const { session } = launch
      const own = session?.startsWith('ses_')
        ? session
        : session && parseSessionId(`ses_${session.replaceAll('-', '')}`)
      return prepare({ ...launch, ...(own ? { session: own } : {}) })
    },
  }
  const { agents, home, session } = await running({ runners: [fakeTool(), formed] })
  const { to } = await agents.handoff({ agent: 'toast', tool: 'formed', message: 'yours now' })
  expect(to).toMatch(/^ses_/)
  expect((await agents.list())[0]).toMatchObject({ tool: 'formed', session_id: to })
  const [chain] = await home.sessions.chain(session)
  expect(chain?.sessions.map(({ id }) => id)).toEqual([session, to])
})

it('the chain goes on to a successor whose program chooses its id when it is asked for it', async () => {
  const muse = customRunner(
    {
      ...{ name: 'muse', source: 'a test', env: {}, dangerous_mode: false, resume_flag: ['--resume'] },
      ...{ busy_patterns: [], prompt_patterns: [], idle_patterns: [], detect_patterns: [] },
      command: ['sh', '-c', 'echo \'{"id":"muse-1"}\'; [ "$1" = --json ] || exec sleep 60', 'muse'],
      ...{ output_format_flag: ['--json'], session_id_json_path: '.id' },
    },
    undefined,
    undefined,
  )
  const { agents, home, parts, session } = await running({ runners: [fakeTool(), muse] })
  const agent = await home.roster.agent('toast')
  const { started } = await handOff(parts, await planHandoff(parts, agent, { tool: 'muse', message: 'yours now' }))
  expect(started?.session).toBe('muse-1')
  expect((await agents.list())[0]).toMatchObject({ tool: 'muse', session_id: 'muse-1' })
  const [chain] = await home.sessions.chain(session)
  expect(chain?.sessions.map(({ id }) => id)).toEqual([session, 'muse-1'])
})

it('a unit of work is hooked first, an agent or a role is a remote handoff, and an ambiguous word is refused', async () => {
  const { agents, home, project } = await running()
  const unit = await home.work.add({ title: 'Fix the login' })
  await agents.start({ agent: 'crew/max', cwd: project, role: 'crew' })
  const remote = await agents.handoff({ agent: 'toast', target: 'crew', message: 'take over' })
  const max = await home.roster.agent('crew/max')
  expect(remote.agent.address).toBe('crew/max')
  expect((await home.work.hooked(max)).mail).toMatchObject([{ id: remote.mail, from: 'toast', body: '> take over' }])
  expect((await home.sessions.chain(remote.from ?? ''))[0]?.sessions).toHaveLength(2)
  const own = await agents.handoff({ agent: 'toast', target: unit.id })
  expect(own.agent.address).toBe('toast')
  expect((await home.work.hooked(await home.roster.agent('toast'))).work).toMatchObject([{ id: unit.id }])
  await agents.spawn({ agent: 'crew/joe', cwd: project, role: 'crew' })
  await expect(agents.handoff({ agent: 'toast', target: 'crew' })).rejects.toMatchObject({ code: 'ambiguous-id' })
  await expect(agents.handoff({ agent: 'toast', target: 'nobody' })).rejects.toMatchObject({ code: 'agent-not-found' })
  await expect(agents.handoff({})).rejects.toMatchObject({ code: 'usage' })
})

it('an agent that does not run gets mail, marker and event, and is not started', async () => {
  const shop = await running()
  const { agents, home } = shop
  await agents.stop('toast')
  const handed = await agents.handoff({ target: 'toast', message: 'later' })
  expect(handed.did).toContain('does not run')
  expect((await agents.list())[0]?.status).toBe('stopped')
  const agent = await home.roster.agent('toast')
  expect((await home.work.hooked(agent)).mail).toHaveLength(1)
  expect((await runsOf(shop).read(agent.id))?.handoff).toMatchObject({ mail: handed.mail })
  expect(await home.events.read({ type: 'handoff' })).toHaveLength(1)
})

it('Gas Town defect 11: a dry run changes no byte and waits for no cooldown', async () => {
  const shop = await running()
  const { agents, home, root } = shop
  const unit = await home.work.add({ title: 'a unit', molecule_id: 'mol-1' })
  await home.work.hook(unit.id, await home.roster.agent('toast'))
  const dry = async () => {
    await agents.wait('toast', { until: 'done', timeoutMs: 20_000 }) // its first turn may still be ending
    const before = snapshot(root)
    const told = await agents.handoff({ agent: 'toast', subject: 'x', dryRun: true })
    expect(snapshot(root)).toEqual(before)
    return told
  }
  const told = await dry()
  expect(told).toMatchObject({ is_done: false, subject: 'x', body: expect.stringContaining('## Hooked work') })
  expect((await home.work.show(unit.id)).molecule_id).toBe('mol-1')
  await agents.handoff({ agent: 'toast' })
  expect((await home.work.show(unit.id)).molecule_id).toBeUndefined() // that is what a dry run must not do
  await expect(agents.handoff({ agent: 'toast', dryRun: true })).rejects.toMatchObject({ code: 'handoff-too-soon' })
})

it('a handoff is refused before anything changes when the successor could not start', async () => {
  const { agents, home, session } = await running()
  await expect(agents.handoff({ agent: 'toast', tool: 'nonsense' })).rejects.toMatchObject({ code: 'tool-unknown' })
  await expect(agents.handoff({ agent: 'toast', kind: 'cycle', tool: 'mute' })).rejects.toMatchObject({
    code: 'bad-input',
  })
  expect((await home.sessions.get(session))?.outcome).toBeUndefined()
  expect((await home.work.hooked(await home.roster.agent('toast'))).mail).toEqual([])
})

it('the program of the successor is found as the agent finds it, whatever PATH the handoff is typed with', async () => {
  const root = scratch()
  const bin = join(root, 'bin')
  mkdirSync(bin)
  const program = fileURLToPath(new URL('../../workers/fake-agent.mjs', import.meta.url))
  writeFileSync(join(bin, 'my-agent'), `#!/bin/sh\nexec ${process.execPath} ${program} "$@"\n`, { mode: 0o755 })
  const plain = fakeTool()
  const prepare: typeof plain.prepare = (launch) => plain.prepare({ ...launch, command: ['my-agent'] })
  const runners = [{ ...plain, prepare }]
  const user = await workshop({ root, runners, env: { PATH: `${bin}:${process.env.PATH}` } })
  await user.agents.start({ agent: 'toast', cwd: user.project })
  await user.agents.send('toast', 'hello')
  const { agents } = await workshop({ root, runners })
  const handed = await agents.handoff({ target: 'toast', message: 'on' })
  expect(handed).toMatchObject({ kind: 'fresh', is_done: true })
  expect((await agents.list())[0]).toMatchObject({ session_id: handed.to })
})

it('done closes the work, ends the session with the outcome done, clears the hook and stops the agent', async () => {
  const { agents, home, session } = await running()
  const agent = await home.roster.agent('toast')
  const unit = await home.work.add({ title: 'a unit' })
  await home.work.hook(unit.id, agent)
  const done = await agents.done('toast', { status: 'deferred', reason: 'waits for review' })
  expect(done).toMatchObject({ closed: [unit.id], how: expect.stringContaining('nothing was submitted') })
  expect(await home.work.show(unit.id)).toMatchObject({ status: 'deferred', reason: 'waits for review' })
  expect(await home.sessions.get(session)).toMatchObject({ outcome: 'done' })
  expect(await home.work.hooked(agent)).toEqual({ work: [], mail: [] })
  expect((await agents.list())[0]?.status).toBe('stopped')
  const before = await home.events.read({})
  expect(await agents.done('toast')).toMatchObject({ closed: [], session, did: 'toast is done already' })
  expect(await home.events.read({})).toEqual(before)
  expect(await home.sessions.get(session)).toMatchObject({ outcome: 'done' })
})

it('done of an agent whose session ended otherwise is recorded once, and submits once; with work on the hook it is done anew', async () => {
  const shop = await running()
  const { home, root, project, session } = shop
  await shop.agents.stop('toast')
  expect(await home.sessions.get(session)).not.toMatchObject({ outcome: 'done' })
  writeFileSync(join(root, 'config.toml'), '[work]\non_done = ["sh", "-c", "echo once >> submitted"]\n')
  const { agents } = await shop.again()
  const dones = async () =>
    (await home.events.read({ type: 'done' })).filter(({ payload }) => Array.isArray(payload.work)).length
  const agent = await home.roster.agent('toast')
  const first = await home.work.add({ title: 'done by hand' })
  await home.work.hook(first.id, agent)
  await home.work.close(first.id, { status: 'done', session: parseSessionId(session) })
  expect(await agents.done('toast')).toMatchObject({ submitted: 'sh', did: 'toast is done: no work was hooked' })
  expect(await agents.done('toast')).toMatchObject({ did: 'toast is done already', how: 'nothing was changed' })
  expect([await dones(), readFileSync(join(project, 'submitted'), 'utf8')]).toEqual([1, 'once\n'])
  const unit = await home.work.add({ title: 'a unit' })
  await home.work.hook(unit.id, agent)
  const both = await Promise.all([agents.done('toast'), agents.done('toast')])
  expect(both.flatMap(({ closed }) => closed)).toEqual([unit.id])
  expect([await dones(), readFileSync(join(project, 'submitted'), 'utf8')]).toEqual([2, 'once\nonce\n'])
})

it('on_done submits the work without a shell; when it fails, nothing is closed', async () => {
  const shop = await running()
  const { home, root, project } = shop
  const agent = await home.roster.agent('toast')
  const unit = await home.work.add({ title: 'a unit' })
  await home.work.hook(unit.id, agent)
  writeFileSync(join(root, 'config.toml'), '[work]\non_done = ["sh", "-c", "echo no way >&2; exit 3"]\n')
  const failing = await shop.again()
  await expect(failing.agents.done('toast')).rejects.toMatchObject({
    code: 'on-done-failed',
    message: expect.stringContaining('no way'),
  })
  expect(await home.work.show(unit.id)).toMatchObject({ status: 'hooked' })
  writeFileSync(join(root, 'config.toml'), '[work]\non_done = ["touch", "a b; touch c"]\n')
  const working = await shop.again()
  expect(await working.agents.done('toast')).toMatchObject({ submitted: 'touch', closed: [unit.id] })
  expect(existsSync(join(project, 'a b; touch c'))).toBe(true)
  const merges = (await home.events.read({})).map(({ type }) => type).filter((type) => type.startsWith('merge'))
  expect(merges.sort()).toEqual(['merge_failed', 'merge_started', 'merge_started', 'merged'])
})

it('an on_done that hangs, or cannot be started, is recorded as failed, is ended whole, and closes nothing', async () => {
  const shop = await running()
  const { home, root, project } = shop
  const agent = await home.roster.agent('toast')
  const unit = await home.work.add({ title: 'a unit' })
  await home.work.hook(unit.id, agent)
  const hangs = `trap '' TERM; sleep 600 & echo $! > child; wait`
  for (const [argv, why] of [
    [['sh', '-c', hangs], /did not end within 1s/],
    [['./not-there'], /ENOENT/],
    [['sh', '-c', 'kill -9 $$'], /it was killed/],
  ] as const) {
    writeFileSync(join(root, 'config.toml'), `[work]\non_done = ${JSON.stringify(argv)}\non_done_timeout = "1s"\n`)
    const failing = await shop.again()
    const refused = { code: 'on-done-failed', message: expect.stringMatching(why) }
    await expect(failing.agents.done('toast')).rejects.toMatchObject(refused)
    expect(await home.work.show(unit.id)).toMatchObject({ status: 'hooked' })
  }
  const child = Number(readFileSync(join(project, 'child'), 'utf8'))
  await eventually(
    () =>
      existsSync(`/proc/${child}/stat`) ? readFileSync(`/proc/${child}/stat`, 'utf8').replace(/^.*\) /, '')[0] : 'Z',
    (state) => state === 'Z',
  )
  const merges = (await home.events.read({})).flatMap(({ type, payload }) =>
    type.startsWith('merge') ? [[type, (payload as { reason?: string }).reason?.split(' ')[0]]] : [],
  )
  expect(merges).toEqual([
    ...[
      ['merge_started', undefined],
      ['merge_failed', 'it'],
    ],
    ...[
      ['merge_started', undefined],
      ['merge_failed', 'spawn'],
    ],
    ...[
      ['merge_started', undefined],
      ['merge_failed', 'it'],
    ],
  ])
  expect((await home.events.read({ type: 'done' })).length).toBe(0)
})

it('a handoff takes the open molecule off the hooked unit and records it; a dry run, a cycle and a save do not', async () => {
  const { agents, home } = await running()
  const agent = await home.roster.agent('toast')
  const unit = await home.work.add({ title: 'a unit', molecule_id: 'mol-7' })
  await home.work.hook(unit.id, agent)
  const attached = async (): Promise<unknown> => (await home.work.show(unit.id)).molecule_id
  await agents.handoff({ agent: 'toast', kind: 'auto' })
  await agents.handoff({ agent: 'toast', dryRun: true })
  expect(await attached()).toBe('mol-7')
  await agents.handoff({ agent: 'toast', message: 'go on' })
  expect(await attached()).toBeUndefined()
  expect(await home.work.show(unit.id)).toMatchObject({ status: 'hooked', agent: 'toast' })
  expect((await home.work.handoffRecord(agent))?.entries.map(({ molecule_id }) => molecule_id)).toEqual([
    undefined,
    'mol-7',
  ])
})

it('list, a handoff and its target go on with a bd that is broken; done is refused and changes nothing', async () => {
  const first = await running()
  const { root } = first
  const broken = join(root, 'bd')
  writeFileSync(broken, '#!/bin/sh\necho "Error: the store is locked" >&2\nexit 1\n', { mode: 0o755 })
  mkdirSync(join(root, '.beads'))
  writeFileSync(join(root, '.beads', 'metadata.json'), '{}')
  const settings = `provider = "beads"\nbeads_dir = "${join(root, '.beads')}"\nbeads_program = "${broken}"`
  writeFileSync(join(root, 'config.toml'), `[work]\n${settings}\n`)
  const { agents, home } = await first.again()
  expect((await agents.list()).map(({ address }) => address)).toEqual(['toast'])
  await expect(agents.done('toast')).rejects.toMatchObject({ code: 'work-provider' })
  expect((await agents.list())[0]?.status).not.toBe('stopped')
  const handed = await agents.handoff({ target: 'toast', message: 'go on' })
  expect(handed).toMatchObject({ kind: 'fresh', is_done: true })
  const { mail, problem } = await home.work.hooked(await home.roster.agent('toast'))
  expect(mail.map(({ id }) => id)).toEqual([handed.mail])
  expect(problem?.because).toContain('the store is locked')
  await expect(agents.handoff({ agent: 'toast', target: 'w-1' })).rejects.toMatchObject({ code: 'work-provider' })
})

it('Gas Town defect 1: every way in which a handoff or done ends a session is recorded as its end', async () => {
  const { agents, home, session } = await running()
  const { to = '' } = await agents.handoff({ agent: 'toast', message: 'on' })
  expect(await home.sessions.get(session)).toMatchObject({ outcome: 'handoff', ended_at: expect.any(String) })
  await agents.done('toast')
  expect(await home.sessions.get(to)).toMatchObject({ outcome: 'done', ended_at: expect.any(String) })
  expect((await home.events.read({ type: 'session_end' })).map(({ session: of }) => of)).toEqual([to])
})

it('Gas Town defect 16: the successor runs the tool of its predecessor, whatever other tools there are and in whatever order', async () => {
  const all = ['a-tool', 'fake', 'z-tool'].map((name) => fakeTool({ name }))
  for (const runners of [all, all.toReversed()]) {
    const { agents, home, session } = await running({ runners })
    const { to = '' } = await agents.handoff({ agent: 'toast', message: 'on' })
    expect((await agents.list())[0]).toMatchObject({ tool: 'fake', session_id: to })
    expect((await agents.runs())[0]?.recipe.tool).toBe('fake') // what was really started
    expect([await home.sessions.get(session), await home.sessions.get(to)]).toMatchObject([
      { tool: 'fake' },
      { tool: 'fake' },
    ])
  }
})

/** Every file below a directory with its content, but for what observing writes. */
function snapshot(root: string): Record<string, string> {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => {
    const path = join(root, name)
    return statSync(path).isFile() && !/-(?:shm|wal)$|\.sock|fake\.log/.test(name)
  })
  return Object.fromEntries(
    files.map((name) => [
      name,
      createHash('sha256')
        .update(readFileSync(join(root, name)))
        .digest('hex'),
    ]),
  )
}

it('a handoff that is under way is left to whoever is at it, until its successor has settled', async () => {
  const shop = await running()
  const parts = await partsOf(shop)
  const agent = await shop.home.roster.agent('toast')
  const [steps, takeOvers]: [string[], Promise<unknown>[]] = [[], []]
  const { started } = await handOff(parts, await planHandoff(parts, agent, { message: 'go on' }), (step) => {
    steps.push(step)
    takeOvers.push(parts.runs.holdIfFree(agent.id, 'handoff'), finishHandoff(parts, agent))
  })
  expect(steps).toEqual(expect.arrayContaining(['marked', 'linked', 'session', 'record', 'wait']))
  expect(await Promise.all(takeOvers)).toEqual(takeOvers.map(() => undefined))
  const [view] = await shop.agents.list()
  expect(view).toMatchObject({ session_id: started?.session })
  expect(await shop.home.events.read({ type: 'agent_started' })).toHaveLength(2)
})
