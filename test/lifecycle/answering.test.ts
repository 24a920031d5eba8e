import { once } from 'node:events'
import { createServer } from 'node:http'
import { expect, it, onTestFinished } from 'vitest'
import type { AgentView } from '../../src/lifecycle/index.js'
import type { ToolRunner } from '../../src/tools/index.js'
import { answerOpencode } from '../../src/tools/opencode/opencode-answer.js'
import { fakeTool } from './fake-tool.js'
import { eventually, type Workshop, workshop } from './workshop.js'

const HARMLESS = 'echo harmless'
const HARMFUL = 'rm -rf important'

/** An agent whose dialog for `HARMLESS` can become the one for `HARMFUL`. */
async function asking(tool: 'fake' | 'mute', ...args: string[]): Promise<Workshop & { asked: AgentView }> {
  const shop = await workshop()
  await shop.agents.start({ agent: 'toast', cwd: shop.project, tool, args: ['--then', HARMFUL, ...args] })
  await shop.agents.send('toast', `ask ${HARMLESS}`)
  const asked = await eventually(
    async () => (await shop.agents.why('toast')).agent,
    ({ asks }) => asks?.[0]?.options !== undefined,
  )
  return { ...shop, asked }
}

async function replaced({ agents, asked }: Workshop & { asked: AgentView }): Promise<AgentView> {
  process.kill(asked.pid ?? 0, 'SIGUSR2')
  return eventually(
    async () => (await agents.why('toast')).agent,
    ({ asks }) => asks?.[0]?.what?.includes(HARMFUL) === true && asks[0].options !== undefined,
  )
}

const chosen = ({ log }: Workshop): unknown[] => log().filter((line) => 'chosen' in line)

it.each([
  ['with hooks', 'fake', []],
  ['whose next hook is late', 'fake', ['--untold']],
  ['by its screen alone', 'mute', []],
] as const)('a token for one command does not approve the next: %s', async (_, tool, args) => {
  const shop = await asking(tool, ...args)
  const { agents, asked } = shop
  expect(asked.asks).toMatchObject([
    { token: asked.token, kind: 'permission', what: expect.stringContaining(HARMLESS) },
  ])
  const next = await replaced(shop)
  expect(next.token).not.toBe(asked.token)
  const late = agents.answer('toast', { decision: 'allow' }, { token: asked.token ?? '' })
  await expect(late).rejects.toMatchObject({ code: 'stale-answer' })
  expect(chosen(shop)).toEqual([])
  await agents.answer('toast', { decision: 'allow' }, { token: next.token ?? '' })
  expect(chosen(shop)).toEqual([{ chosen: 'Yes' }])
})

it('a token of an earlier version is stale', async () => {
  const { agents, asked, log } = await asking('fake')
  const old = `permission-${Date.parse(asked.since).toString(36)}-${asked.id.slice(0, 8)}`
  await expect(agents.answer('toast', { decision: 'allow' }, { token: old })).rejects.toMatchObject({
    code: 'stale-answer',
  })
  expect(log().filter((line) => 'chosen' in line)).toEqual([])
})

it('the same command asked again is another request', async () => {
  const shop = await workshop()
  const { agents, project } = shop
  await agents.start({ agent: 'toast', cwd: project, args: ['--then', HARMLESS] })
  await agents.send('toast', `ask ${HARMLESS}`)
  const first = await agents.wait('toast', { until: 'waiting', timeoutMs: 60_000 })
  process.kill(first.pid ?? 0, 'SIGUSR2')
  const seen = await eventually(
    async () => (await agents.why('toast')).agent,
    ({ asks }) => asks?.length === 2,
  )
  expect(new Set(seen.asks?.map(({ token }) => token)).size).toBe(2)
})

it('what is asked is listed with its options, and secrets in it are not', async () => {
  const shop = await workshop()
  await shop.agents.start({ agent: 'toast', cwd: shop.project, tool: 'mute' })
  await shop.agents.send('toast', 'ask deploy --token ghp_0123456789abcdefghijABCDEFGHIJ012345')
  const asked = await eventually(
    async () => (await shop.agents.why('toast')).agent,
    ({ asks }) => asks?.[0]?.options !== undefined,
  )
  expect(asked.asks).toMatchObject([
    {
      what: expect.stringMatching(/^May I run deploy --token \[REDACTED/),
      options: [
        { label: 'No', meaning: 'deny' },
        { label: 'Yes', meaning: 'allow' },
        { label: 'Yes, always', meaning: 'allow-always' },
        { label: 'Yes, and never ask again', meaning: 'auto' },
      ],
    },
  ])
})

it('the token of an event answers what is asked', async () => {
  const shop = await asking('fake')
  const events = await shop.home.events.read({ type: 'agent_status' })
  const [token] = events.flatMap(({ payload }) => (payload.status === 'waiting' ? [String(payload.token)] : []))
  await shop.agents.answer('toast', { decision: 'allow' }, { token: token ?? '' })
  expect(chosen(shop)).toEqual([{ chosen: 'Yes' }])
})

it('our own events keep the token and lose what a user would have called secret', async () => {
  const { agents, home, asked } = await asking('fake')
  await agents.answer('toast', { decision: 'allow' }, { token: asked.token ?? '' })
  await agents.wait('toast', { until: 'idle', timeoutMs: 60_000 })
  await agents.stop('toast')
  const events = await home.events.read({})
  const named = events.filter(({ payload }) => payload.token === asked.token).map(({ type }) => type)
  expect(new Set(named)).toEqual(new Set(['agent_status', 'agent_answered']))
  expect(events.filter(({ type }) => type === 'agent_status').some(({ payload }) => Array.isArray(payload.asks))).toBe(
    true,
  )
  expect(JSON.stringify(events)).not.toContain('REDACTED')
  const appended = await home.events.append({
    type: 'note',
    payload: { token: 'a1b2c3d4e5f6', why: asked.token ?? '' },
  })
  expect(appended.payload).toMatchObject({ token: expect.stringContaining('REDACTED') })
})

/** The same program, as one that names its requests and takes answers at its port. */
function answeredBy(answer: NonNullable<ToolRunner['answer']>): ToolRunner {
  const told = fakeTool()
  return {
    ...told,
    answer,
    readMessage(message) {
      const report = told.readMessage(message)
      return report?.request ? { ...report, request: { ...report.request, isTracked: true } } : report
    },
  }
}

it('of two requests at once, a token answers its own, and the other is still asked', async () => {
  const answered: (string | undefined)[] = []
  const told = answeredBy(async ({ request }) => {
    answered.push(request.what)
    return { receipt: 'taken' }
  })
  const served: ToolRunner = {
    ...told,
    prepare(launch) {
      const prepared = told.prepare(launch)
      return { ...prepared, argv: [...prepared.argv, '--serve', String(launch.port)] }
    },
  }
  const { agents, project } = await workshop({ runners: [served] })
  await agents.start({ agent: 'toast', cwd: project, args: ['--then', HARMFUL] })
  await agents.send('toast', `ask ${HARMLESS}`)
  const { pid } = await agents.wait('toast', { until: 'waiting', timeoutMs: 60_000 })
  process.kill(pid ?? 0, 'SIGUSR2')
  const asksAre = (count: number) =>
    eventually(
      async () => (await agents.why('toast')).agent.asks ?? [],
      (asks) => asks.length === count,
    )
  const [first, second] = await asksAre(2)
  expect([first?.what, second?.what]).toEqual([HARMLESS, HARMFUL])
  await expect(agents.answer('toast', { decision: 'allow' })).rejects.toThrow(/2 requests|rm -rf important/)
  await agents.answer('toast', { decision: 'deny' }, { token: second?.token ?? '' })
  expect(answered).toEqual([HARMFUL])
  expect(await asksAre(1)).toMatchObject([{ token: first?.token, what: HARMLESS }])
  const again = agents.answer('toast', { decision: 'allow' }, { token: second?.token ?? '' })
  await expect(again).rejects.toMatchObject({ code: 'stale-answer' })
  await agents.answer('toast', { decision: 'allow' }, { token: first?.token ?? '' })
  expect(answered).toEqual([HARMFUL, HARMLESS])
})

it('a stranger who listens on the port of an agent is not asked, gets no secret and is not believed', async () => {
  const served = answeredBy(answerOpencode)
  const { agents, project, parts } = await workshop({ runners: [served] })
  await agents.start({ agent: 'toast', cwd: project })
  await agents.send('toast', `ask ${HARMLESS}`)
  const { id } = await agents.wait('toast', { until: 'waiting', timeoutMs: 60_000 })
  const { port } = (await parts.runs.read(id))?.run ?? {}
  expect(port).toBeGreaterThan(0)
  const requests: unknown[] = []
  const stranger = createServer(({ url, headers }, response) => {
    requests.push({ url, headers })
    response.end('[]')
  })
  stranger.listen(port, '127.0.0.1')
  await once(stranger, 'listening')
  onTestFinished(() => void stranger.close())
  await expect(agents.answer('toast', { decision: 'allow' })).rejects.toMatchObject({
    code: 'not-answered',
    message: expect.stringContaining('No process of toast listens on port'),
  })
  expect(requests).toEqual([])
  expect(await agents.wait('toast', { until: 'waiting', timeoutMs: 60_000 })).toMatchObject({ status: 'waiting' })
})
