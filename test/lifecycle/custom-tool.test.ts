import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { AgentView } from '../../src/lifecycle/index.js'
import { parseCustomTools, RUNNERS, runnersFor } from '../../src/tools/index.js'
import { eventually, type Workshop, workshop } from './workshop.js'

const PROGRAM = fileURLToPath(new URL('../workers/line-program.mjs', import.meta.url))

/** A shop whose only tool is the line program, as a user would describe it. */
async function shopWith(keys: Record<string, unknown>): Promise<Workshop> {
  const tool = { command: [process.execPath, PROGRAM], busy_patterns: ['executing'], ...keys }
  const builtIn = RUNNERS.map(({ name }) => name)
  const { all } = runnersFor({
    custom: parseCustomTools({ lines: tool }, '/cfg/config.toml', builtIn),
    patterns: [],
  })
  return workshop({ runners: all })
}

const ANSWERED = { prompt_patterns: ['[y/n]'], approve_keys: ['y', 'Enter'], deny_keys: ['n', 'Enter'] }

async function untilAsked({ agents }: Workshop, what: string): Promise<AgentView> {
  return eventually(
    async () => (await agents.why('toast')).agent,
    ({ asks }) => asks?.[0]?.what?.includes(what) === true,
  )
}

async function started(keys: Record<string, unknown>): Promise<Workshop> {
  const shop = await shopWith(keys)
  await shop.agents.start({ agent: 'toast', cwd: shop.project, tool: 'lines' })
  await eventually(
    () => shop.agents.why('toast'),
    ({ agent }) => agent.status === 'idle',
  )
  return shop
}

describe('a program of one’s own that asks in a line', () => {
  it.each([
    ['allow', 'y'],
    ['deny', 'n'],
  ] as const)('%s presses its keys, once', async (decision, answered) => {
    const shop = await started(ANSWERED)
    const { agents, log } = shop
    await agents.send('toast', 'ask make')
    const asked = await untilAsked(shop, 'About to run make')
    expect(asked).toMatchObject({ status: 'waiting', waiting_for: 'permission' })
    expect(asked.asks?.[0]?.options).toEqual([
      { label: 'y Enter', meaning: 'allow' },
      { label: 'n Enter', meaning: 'deny' },
    ])
    await agents.answer('toast', { decision }, { token: asked.token ?? '' })
    expect(log()).toEqual([{ answered, what: 'make' }])
    const again = agents.answer('toast', { decision }, { token: asked.token ?? '' })
    await expect(again).rejects.toMatchObject({ code: 'stale-answer' })
    expect(log()).toHaveLength(1)
  })

  it('a token for one prompt does not answer the next', async () => {
    const shop = await started(ANSWERED)
    const { agents, log } = shop
    await agents.send('toast', 'ask echo harmless')
    const first = await untilAsked(shop, 'echo harmless')
    process.kill(first.pid ?? 0, 'SIGUSR2')
    const next = await untilAsked(shop, 'rm -rf important')
    expect(next.token).not.toBe(first.token)
    const late = agents.answer('toast', { decision: 'allow' }, { token: first.token ?? '' })
    await expect(late).rejects.toMatchObject({ code: 'stale-answer' })
    expect(log()).toEqual([])
  })

  it('is idle once its screen is quiet, with that as the reason', async () => {
    const { agents } = await started(ANSWERED)
    const { agent, evidence } = await agents.why('toast')
    expect(agent.status).toBe('idle')
    expect(evidence.find(({ decided }) => decided)).toMatchObject({ source: 'pane', rule: 'lines/quiet@1' })
  })

  it('is idle and takes a prompt, although it draws nothing until then', async () => {
    const { agents } = await started({ command: ['cat'] })
    expect(await agents.send('toast', 'hello')).toMatchObject({ delivery: 'typed' })
    expect((await agents.output('toast', { screen: true })).text).toContain('hello')
  })

  it('what is sent to it counts as typed when its screen has moved', async () => {
    const { agents } = await started({})
    expect(await agents.send('toast', 'hello')).toMatchObject({ delivery: 'typed' })
  })
})

it('a program that takes long to draw its prompt and ends just after that has never started', async () => {
  const script = 'sleep 1; printf "ready> "; sleep 0.2; exit 3'
  const { agents, project } = await shopWith({ command: ['sh', '-c', script], idle_patterns: ['ready> '] })
  const start = agents.start({ agent: 'toast', cwd: project, tool: 'lines' })
  await expect(start).rejects.toMatchObject({ code: 'agent-died', message: expect.stringContaining('exited 3') })
})

it.each([0, 3])('a program that ends at once, with %i, has never started', async (status) => {
  const shop = await shopWith({
    detect_patterns: ['line program'],
    command: [process.execPath, PROGRAM, '--brief', `${status}`],
  })
  for (const name of ['one', 'two', 'three']) {
    const start = shop.agents.start({ agent: name, cwd: shop.project, tool: 'lines' })
    await expect(start).rejects.toMatchObject({ code: 'agent-died' })
  }
})

it('a run of a program without ids is a session of its own, with an outcome', async () => {
  const { agents, home } = await started({})
  const { agent } = await agents.why('toast')
  const session = await home.sessions.get(agent.session_id as never)
  expect(session).toMatchObject({ source: 'run', tool: 'lines', agent: 'toast' })
  await agents.kill('toast')
  expect(await home.sessions.get(agent.session_id as never)).toMatchObject({ outcome: 'killed' })
  const { agent: next } = await agents.restart('toast')
  expect(next.session_id).not.toBe(agent.session_id)
})
