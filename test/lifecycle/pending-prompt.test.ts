import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { ToolRunner } from '../../src/tools/index.js'
import { fakeTool } from './fake-tool.js'
import { eventually, type Workshop, workshop } from './workshop.js'

const promptFile = ({ root }: Workshop, id: string): string => join(root, 'profiles', 'default', 'agents', id, 'prompt')

it('a prompt for an agent that asks something first is kept, and sent once when that is answered', async () => {
  const shop = await workshop()
  const { agents, project, log } = shop
  const asking = { agent: 'toast', cwd: project, args: ['--dialog'] }
  const started = await agents.start({ ...asking, prompt: 'hello' })
  expect(started.how).toContain('the prompt is kept')
  expect(started.agent.pending_prompt_at).toBeDefined()
  const file = promptFile(shop, started.agent.id)
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['hello', 0o600])
  expect((await agents.wait('toast', { until: 'done', timeoutMs: 5_000 })).status).toBe('waiting')
  const answered = await agents.answer('toast', { decision: 'allow' })
  expect(answered.how).toContain('the kept prompt was sent')
  // Two who look at the same time send nothing more.
  const other = await shop.again()
  await Promise.all([agents, other.agents].map((one) => one.wait('toast', { until: 'done', timeoutMs: 60_000 })))
  expect(log().filter(({ prompt }) => prompt !== undefined)).toHaveLength(1)
  expect(existsSync(file)).toBe(false)
})

it('answered in its terminal, it is sent by whoever waits for the agent, once', async () => {
  const shop = await workshop()
  const { agents, project, log } = shop
  await agents.start({ agent: 'toast', cwd: project, args: ['--dialog'], prompt: 'hello' })
  await agents.keys('toast', ['Down', 'Enter'])
  const other = await shop.again()
  await Promise.all([agents, other.agents].map((one) => one.wait('toast', { until: 'done', timeoutMs: 15_000 })))
  await eventually(log, (lines) => lines.some(({ prompt }) => prompt === 'hello'))
  expect(log().filter(({ prompt }) => prompt !== undefined)).toHaveLength(1)
})

it('a stopped agent forgets what it was not given', async () => {
  const shop = await workshop()
  const { agents, project } = shop
  const asking = { agent: 'toast', cwd: project, args: ['--dialog'] }
  const { agent } = await agents.start({ ...asking, prompt: 'hello' })
  await agents.kill('toast')
  expect(existsSync(promptFile(shop, agent.id))).toBe(false)
  expect((await agents.list())[0]?.pending_prompt_at).toBeUndefined()
})

it('a program that reports when it listens is not believed by its looks, however slow its start; one without hooks is', async () => {
  const clock = { aheadMs: 0, now: () => Date.now() + clock.aheadMs }
  const late = { ...fakeTool({ name: 'late', tells: false }), isReadyWhenTold: true as const }
  const mute: ToolRunner = {
    ...fakeTool({ name: 'mute', tells: false }),
    isReadyWhenTold: true,
    prepare: (launch) => ({ ...fakeTool({ tells: false }).prepare(launch), isMute: true }),
  }
  const { agents, project, log } = await workshop({ clock, runners: [late, mute] })
  for (const tool of ['late', 'mute']) {
    await agents.start({ agent: tool, cwd: project, tool })
    await eventually(
      () => agents.why(tool),
      ({ agent }) => agent.status === 'idle',
    )
  }
  clock.aheadMs = 60_000
  const refused = agents.send('late', 'too early', { signal: AbortSignal.timeout(2_000) })
  await expect(refused).rejects.toMatchObject({
    code: 'agent-not-ready',
    message: 'Nothing was typed into late: it has not reported yet that it is ready',
  })
  expect(log().filter(({ prompt }) => prompt !== undefined)).toEqual([])
  await agents.send('mute', 'hello')
  await eventually(log, (lines) => lines.some(({ prompt }) => prompt === 'hello'))
})

/** Shows its input line to whoever asks. */
const withInput = (name: string, tells = true): ToolRunner => {
  const tool = fakeTool({ name, tells })
  return {
    ...tool,
    readInput: (screen) => {
      const { status, draft } = tool.readScreen(screen)
      return status === 'idle' ? (draft ?? '') : undefined
    },
  }
}

it.each([true, false])(
  'an Enter that a busy program loses is pressed again until the text is gone (hooks: %s)',
  async (tells) => {
    const { agents, project, log } = await workshop({ runners: [withInput('busy', tells)] })
    const started = await agents.start({
      agent: 'toast',
      cwd: project,
      tool: 'busy',
      args: ['--deaf', '3'],
      prompt: 'hello',
    })
    expect(started.how).toContain('prompt received')
    await eventually(log, (lines) => lines.some(({ prompt }) => prompt === 'hello'))
    expect(log().filter(({ lost }) => lost !== undefined)).toHaveLength(3)
    expect((await agents.list())[0]?.pending_prompt_at).toBeUndefined()
  },
)

it('a first prompt that a program does not take stays kept, and is sent once and never typed twice when it takes it', async () => {
  const shop = await workshop({ runners: [withInput('busy')] })
  const { agents, project, log } = shop
  const started = await agents.start({
    agent: 'toast',
    cwd: project,
    tool: 'busy',
    args: ['--deaf', '7'],
    prompt: 'hello',
  })
  expect(started.how).toContain(
    'the prompt is kept and will be sent as soon as its program takes it: nothing has changed',
  )
  expect(started.agent.pending_prompt_at).toBeDefined()
  const other = await shop.again() // another process, as after a kill
  await other.agents.wait('toast', { until: 'done', timeoutMs: 60_000 })
  expect(log().filter(({ prompt }) => prompt !== undefined)).toMatchObject([{ prompt: 'hello' }])
  expect(existsSync(promptFile(shop, started.agent.id))).toBe(false)
})

it('a text that appears too late to be sent is sent later, as it stands in the input line', async () => {
  const shop = await workshop({ runners: [withInput('busy')] })
  const { agents, project, log } = shop
  const started = await agents.start({
    agent: 'toast',
    cwd: project,
    tool: 'busy',
    args: ['--slow', '7000'],
    prompt: 'hello',
  })
  expect(started.how).toContain('did not appear in the input line')
  await eventually(
    () => agents.output('toast', { screen: true }),
    ({ text }) => text.includes('> hello'),
  )
  await agents.wait('toast', { until: 'done', timeoutMs: 60_000 })
  expect(log().filter(({ prompt }) => prompt !== undefined)).toMatchObject([{ prompt: 'hello' }])
})

it('nothing is typed where it would be run as a command', async () => {
  const tool = fakeTool({ name: 'shell' })
  const reason = 'its shell mode is on: what is typed there is run as a command'
  let isOn = false
  const runner: ToolRunner = {
    ...tool,
    readScreen: (screen) =>
      isOn ? { status: 'unknown', rule: 'shell/shell-mode@1', reason } : tool.readScreen(screen),
  }
  const { agents, project, log } = await workshop({ runners: [runner] })
  await agents.start({ agent: 'toast', cwd: project, tool: 'shell', prompt: 'hello' })
  await agents.wait('toast', { until: 'done', timeoutMs: 60_000 })
  isOn = true
  await expect(agents.send('toast', 'rm -rf x')).rejects.toMatchObject({
    code: 'agent-not-ready',
    message: expect.stringContaining(reason),
  })
  isOn = false
  expect((await agents.send('toast', 'again')).delivery).toBe('received')
  expect(log().flatMap(({ prompt }) => prompt ?? [])).toEqual(['hello', 'again'])
})
