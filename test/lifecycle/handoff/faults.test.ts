import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { consumeHandoff } from '../../../src/lifecycle/handoff/marker.js'
import { AgentRuns, finishCutHandoff } from '../../../src/lifecycle/index.js'
import { parseSessionId } from '../../../src/model/index.js'
import { BINARY } from '../../cli/binary.js'
import { scratch } from '../../home/scratch.js'
import { bundled } from '../bundled.js'
import { contextOf } from '../context.js'
import { eventually, type Workshop, workshop } from '../workshop.js'
import { partsOf } from './parts.js'

const FAKE_AGENT = fileURLToPath(new URL('../../workers/fake-agent.mjs', import.meta.url))
const program = bundled(fileURLToPath(new URL('killed-handoff.ts', import.meta.url)))

/** An agent at work, whose handoff is killed with SIGKILL when it gets to a step. */
async function killedAt(
  step: string,
  kind: 'fresh' | 'cycle' = 'fresh',
): Promise<Workshop & { session: string; unit: string }> {
  const shop = await workshop()
  await shop.agents.start({ agent: 'toast', cwd: shop.project })
  await shop.agents.send('toast', 'hello')
  const [view] = await shop.agents.list()
  const unit = await shop.home.work.add({ title: 'the unit' })
  const ran = spawnSync(process.execPath, [program(), shop.root, step, FAKE_AGENT, kind], {
    encoding: 'utf8',
    timeout: 60_000,
  })
  expect({ signal: ran.signal, stderr: ran.stderr, stdout: ran.stdout }).toEqual({
    signal: 'SIGKILL',
    stderr: '',
    stdout: '',
  })
  return { ...shop, session: view?.session_id ?? '', unit: unit.id }
}

/** Whatever was killed where: one unit, one mail, two sessions in one chain, one successor, and a marker that is consumed once. */
async function expectWhole({
  home,
  agents,
  log,
  session,
  unit,
}: Workshop & { session: string; unit: string }): Promise<void> {
  const agent = await home.roster.agent('toast')
  const { work, mail } = await home.work.hooked(agent)
  expect(work.map(({ id }) => id)).toEqual([unit])
  expect(mail).toMatchObject([{ kind: 'handoff', body: '> carry on' }])
  const [view] = await eventually(
    () => agents.list(),
    ([one]) => one?.status !== 'starting',
  )
  const to = view?.session_id ?? ''
  expect(to).not.toBe(session)
  // Whoever looks gives it its first prompt, once.
  await agents.wait('toast', { until: 'done', timeoutMs: 60_000 })
  expect(log().flatMap(({ prompt }) => (prompt === 'hello' ? [] : (prompt ?? [])))).toEqual([
    expect.stringMatching(/^\[SKEIN\] agent toast <- self • .* • handoff\n/),
  ])
  const [chain] = await home.sessions.chain(session)
  expect(chain?.sessions.map(({ id, link, outcome }) => ({ id, link, outcome }))).toEqual([
    { id: session, link: undefined, outcome: 'handoff' },
    { id: to, link: 'handoff', outcome: undefined },
  ])
  const runs = new AgentRuns(home, contextOf([]))
  expect(await consumeHandoff({ runs }, agent, parseSessionId(session))).toBeUndefined()
  expect(await consumeHandoff({ runs }, agent, parseSessionId(to))).toMatchObject({ from: session, mail: mail[0]?.id })
  expect(await consumeHandoff({ runs }, agent, parseSessionId(to))).toBeUndefined()
  expect(await home.events.read({ type: 'handoff' })).toHaveLength(1)
  expect((await home.work.handoffRecord(agent))?.entries.filter(({ mail: of }) => of === mail[0]?.id)).toHaveLength(1)
}

it.each(['hooked', 'saved'])(
  'killed when it is %s: the agent goes on, and a second handoff doubles nothing',
  async (step) => {
    const shop = await killedAt(step)
    expect((await shop.agents.list())[0]).toMatchObject({ session_id: shop.session })
    expect((await shop.home.sessions.get(shop.session))?.outcome).toBeUndefined()
    await shop.agents.handoff({ agent: 'toast', message: 'carry on' })
    await expectWhole(shop)
  },
)

it.each([
  'marked',
  'linked',
  'environment',
  'end-before',
  'session',
  'pane made',
  'tmux-environment',
  'record',
  'wait',
])('killed when it gets to %s: whoever looks finishes it', async (step) => {
  const shop = await killedAt(step)
  const pid = panePid(shop)
  await finishCutHandoff(await partsOf(shop), await shop.home.roster.agent('toast'))
  await expectWhole(shop)
  // A successor that runs already is left at its work.
  if (['pane made', 'tmux-environment', 'record', 'wait'].includes(step)) expect(panePid(shop)).toBe(pid)
})

const panePid = ({ tmux }: Workshop): string => tmux('list-panes', '-t', '=toast:', '-F', '#{pane_pid}').trim()

it.each(['marked', 'marked, then restarted by hand', 'linked', 'event written', 'end-before', 'pane made', 'record'])(
  '--cycle killed when it gets to %s: one mail, one event, and the same conversation in another process',
  async (step) => {
    const isBetween = step === 'event written'
    const isByHand = step.endsWith('by hand')
    const shop = await killedAt(isBetween ? 'linked' : isByHand ? 'marked' : step, 'cycle')
    const { home, session, unit } = shop
    const agent = await home.roster.agent('toast')
    const runs = new AgentRuns(home, contextOf([]))
    const before = (await runs.read(agent.id))?.run?.pid
    // The event was written, and the process was killed before it could note that.
    if (isBetween)
      await runs.update(agent, (run) =>
        run?.handoff ? { next: { ...run, handoff: { ...run.handoff, step: 'marked' } }, result: undefined } : undefined,
      )
    if (isByHand) await shop.agents.restart('toast')
    else await finishCutHandoff(await partsOf(shop), agent)
    const [view] = await eventually(
      () => shop.agents.list(),
      ([one]) => one?.status !== 'starting',
    )
    expect(view).toMatchObject({ session_id: session })
    expect(view?.pid).not.toBe(before)
    expect((await home.sessions.get(session))?.outcome).toBeUndefined()
    const { work, mail } = await home.work.hooked(agent)
    expect(work.map(({ id }) => id)).toEqual([unit])
    expect(mail).toMatchObject([{ kind: 'handoff' }])
    expect(await home.events.read({ type: 'handoff' })).toMatchObject([{ payload: { kind: 'cycle' } }])
  },
)

it.each(['marked', 'pane made'])('killed when it gets to %s: a restart by hand finishes it', async (step) => {
  const shop = await killedAt(step)
  await shop.agents.restart('toast')
  await shop.agents.list()
  await finishCutHandoff(await partsOf(shop), await shop.home.roster.agent('toast')) // nothing is left to do
  await expectWhole(shop)
})

/** An agent of the built program, whose handoff is killed at a step. Afterwards only a daemon looks. */
it.each(['marked', 'linked', 'end-before', 'pane made', 'record'])(
  'killed when it gets to %s: a daemon finishes it without being asked',
  async (step) => {
    const root = scratch()
    const socket = join(root, 'tmux.sock')
    const agentProgram = join(root, 'program.sh')
    mkdirSync(join(root, 'project'))
    writeFileSync(agentProgram, '#!/bin/sh\necho "> ready"\nwhile read -r line; do echo "> $line"; done\n', {
      mode: 0o755,
    })
    const tool = `[tools.one]\ncommand = "${agentProgram}"\nidle_patterns = ["re:^>"]\n`
    writeFileSync(join(root, 'config.toml'), `[daemon]\nautostart = false\ningest = false\n${tool}`)
    const env = { PATH: process.env.PATH ?? '', HOME: root, SKEIN_HOME: root }
    const skein = (...args: string[]) => {
      const ran = spawnSync(process.execPath, [BINARY, ...args, '--json'], { env, cwd: root, encoding: 'utf8' })
      expect({ status: ran.status, stderr: ran.stderr }).toEqual({ status: 0, stderr: '' })
      return ran.stdout === '' ? {} : JSON.parse(ran.stdout)
    }
    onTestFinished(() => {
      spawnSync(process.execPath, [BINARY, 'daemon', 'stop'], { env, cwd: root })
      spawnSync('tmux', ['-S', socket, 'kill-server'])
    })
    const { agent } = skein('start', './project', '--agent', 'toast', '--tool', 'one')
    const unit = skein('work', 'add', 'the unit')
    const args = [program(), root, step, '']
    expect(spawnSync(process.execPath, args, { encoding: 'utf8' })).toMatchObject({ signal: 'SIGKILL', stderr: '' })
    const file = join(root, 'profiles', 'default', 'agents', `${agent.id}.json`)
    skein('daemon', 'start')
    const run = await eventually(
      () => JSON.parse(readFileSync(file, 'utf8')),
      ({ handoff, run: begun }) => handoff?.step === 'respawned' && begun?.pid !== agent.pid,
    )
    const [chain] = skein('sessions', 'chain', agent.session_id).chains
    expect(chain.sessions.map(({ id, link, outcome }: Record<string, string>) => ({ id, link, outcome }))).toEqual([
      { id: agent.session_id, outcome: 'handoff' },
      { id: run.binding.session, link: 'handoff' },
    ])
    expect(skein('work', 'list', '--agent', 'toast').work.map(({ id }: { id: string }) => id)).toEqual([unit.id])
    const hooked = skein('mail', 'inbox', 'toast', '--all').mail.filter((one: { is_hooked?: boolean }) => one.is_hooked)
    expect(hooked).toMatchObject([{ kind: 'handoff' }])
  },
)

it.each(['marked', 'end-before', 'record'])(
  'killed when it gets to %s: a handoff with another message finishes it, and the successor has both messages',
  async (step) => {
    const shop = await killedAt(step)
    const { agents, home } = shop
    const dry = await agents.handoff({ agent: 'toast', message: 'and one thing more', dryRun: true })
    expect(dry).toMatchObject({ is_done: false, did: expect.stringContaining('would finish') })
    const more = await home.work.add({ title: 'another unit' })
    const request = { agent: 'toast', subject: 'More', message: 'and one thing more', target: more.id }
    const receipt = await agents.handoff(request)
    expect(receipt).toMatchObject({ is_done: true, from: shop.session, did: expect.stringContaining('finished') })
    const agent = await home.roster.agent('toast')
    const { work, mail } = await home.work.hooked(agent)
    expect(work.map(({ id }) => id).sort()).toEqual([shop.unit, more.id].sort())
    const words = mail.map(({ subject, body }) => [subject, body])
    expect(words.sort()).toEqual([
      ['Handoff', '> carry on'],
      ['More', '> and one thing more'],
    ])
    const added = mail.find(({ subject }) => subject === 'More')
    expect(receipt.how).toContain(`your message is mail ${added?.id} on its hook`)
    expect((await agents.list())[0]?.session_id).toBe(receipt.to)
  },
)

it('the same handoff again after it was killed finishes it, and saves its message once', async () => {
  const shop = await killedAt('marked')
  await shop.agents.handoff({ agent: 'toast', message: 'carry on' })
  await expectWhole(shop)
})
