import { appendFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PLAIN_PAINT } from '../../src/cli/screen/paint.js'
import { runningAgentsView } from '../../src/cli/views/running-agents-view.js'
import { BudgetBook, considerRespawn, enforceBudgets, standings } from '../../src/lifecycle/index.js'
import { nowOf } from '../../src/lifecycle/parts.js'
import { type Agent, type Budget, budgetState, instantOf, parseAmount } from '../../src/model/index.js'
import { budgetClear, budgetSet } from '../../src/operations/index.js'
import { eventually, type Workshop, workshop } from './workshop.js'

interface Yard extends Workshop {
  agent: Agent
  /** The log of its conversation grows by calls of a model, $0.45 each with a known price, and is ingested. */
  spends(calls: number, model?: string): Promise<void>
  round(): Promise<string[]>
  set(input: Partial<Parameters<typeof budgetSet.run>[0]>): Promise<unknown>
}

const DAY_MS = 24 * 3_600_000
let calls = 0

async function yard(options: Parameters<typeof workshop>[0] = {}): Promise<Yard> {
  const shop = await workshop(options)
  await shop.agents.start({ agent: 'web/toast', cwd: shop.project, tool: 'fake' })
  await eventually(
    async () => (await shop.agents.why('web/toast')).agent.status,
    (status) => status === 'idle',
  )
  const [agent] = await shop.home.roster.agents()
  if (!agent) throw new Error('there is no agent')
  const session = (await shop.parts.runs.read(agent.id))?.binding?.session
  const logs = join(shop.root, '.claude', 'projects', 'project')
  mkdirSync(logs, { recursive: true })
  const log = join(logs, `${session}.jsonl`)
  writeFileSync(log, '')
  const context = { nowMs: Date.now(), home: async () => shop.home } as never
  return {
    ...shop,
    agent,
    spends: async (count, model = 'claude-sonnet-4-20250514') => {
      for (let at = 0; at < count; at += 1) {
        calls += 1
        const usage = { input_tokens: 100_000, output_tokens: 10_000 }
        const message = { id: `msg_${calls}`, type: 'message', role: 'assistant', model, content: [], usage }
        const line = { type: 'assistant', uuid: `u${calls}`, requestId: `req_${calls}`, sessionId: session, message }
        appendFileSync(log, `${JSON.stringify({ ...line, timestamp: nowOf(shop.parts), cwd: shop.project })}\n`)
      }
      await shop.home.history.ingest()
    },
    round: async () =>
      (await enforceBudgets(shop.parts, await shop.parts.runs.all())).map(({ kind, line }) => `${kind}: ${line}`),
    set: (input) => budgetSet.run({ all: false, ...input } as never, context),
  }
}

const usd = (text: string) => {
  const amount = parseAmount(text)
  if (!amount) throw new Error(text)
  return amount
}

it('a budget warns once, stops the agent at the end of its turn, refuses prompts and starts, and frees it when it is raised', async () => {
  const place = await yard()
  await place.set({ agent: 'web/toast', soft: usd('0.80usd'), hard: usd('1usd') })
  await place.spends(1)
  expect(await place.round()).toEqual([])
  await place.spends(1)
  expect(await place.round()).toEqual(['warned: agent web/toast has spent $0.90 (warning at $0.80, stop at $1.00)'])
  expect(await place.round()).toEqual([])
  // Nothing is written again either: a round comes with every change of a status.
  const written = statSync(place.home.paths.budgets).ino
  await place.spends(0)
  expect(await place.round()).toEqual([])
  expect(statSync(place.home.paths.budgets).ino).toBe(written)
  const again = await place.again() // as another daemon
  expect(await enforceBudgets(again.parts, await again.parts.runs.all())).toEqual([])
  const [warned] = await place.home.events.read({ type: 'budget_warned' })
  const { mail } = await place.home.work.inbox({ address: warned?.actor as never })
  expect(mail.map(({ subject }) => subject)).toEqual(['Budget: agent web/toast'])

  // In mid-turn nothing ends; a second prompt is refused.
  await place.agents.send('web/toast', 'slow 2500')
  await place.spends(1)
  await place.agents.observe()
  expect(await place.round()).toEqual([])
  await expect(place.agents.send('web/toast', 'one more')).rejects.toMatchObject({
    code: 'budget-used-up',
    message: 'web/toast: the budget of agent web/toast is used up: $1.35 of $1.00',
    next: expect.stringContaining('skein budget set web/toast --hard <amount>'),
  })
  await eventually(
    async () => (await place.agents.why('web/toast')).agent.waiting_for,
    (wait) => wait === 'finished',
  )
  expect(await place.round()).toEqual(['stopped: the budget of agent web/toast is used up: $1.35 of $1.00'])
  const { agent } = await place.agents.why('web/toast')
  expect(agent).toMatchObject({ status: 'stopped', reason: expect.stringContaining('is used up: $1.35 of $1.00') })
  const rule = { respawn: 'always', backoffMs: 1, mostMs: 10, limit: 5 } as const
  expect(await considerRespawn(place.parts, place.agent, rule)).toBeUndefined()
  await expect(place.agents.start({ agent: 'web/toast' })).rejects.toMatchObject({ code: 'budget-used-up' })
  await expect(place.agents.restart('web/toast')).rejects.toMatchObject({ code: 'budget-used-up' })
  // Not that it does not run: it could not be started either.
  await expect(place.agents.send('web/toast', 'hello?')).rejects.toMatchObject({ code: 'budget-used-up' })
  const events = await place.home.events.read({ type: 'budget_used_up' })
  expect(events).toMatchObject([{ agent: 'web/toast', payload: { spent: { micro_usd: 1_350_000 } } }])

  await place.set({ agent: 'web/toast', hard: usd('10usd') })
  await place.agents.start({ agent: 'web/toast' })
  await place.agents.send('web/toast', 'go on')
  expect(await place.round()).toEqual([])
})

it('a daily budget warns once on each day: an event, a mail and a notice', async () => {
  const clock = { now: (): number => Date.now() + aheadMs }
  let aheadMs = Date.now() % DAY_MS > DAY_MS - 60_000 ? 60_000 : 0 // not over midnight
  const place = await yard({ clock })
  await place.set({ all: true, per: 'day', soft: usd('0.40usd') })
  const warned = async (): Promise<number> => (await place.home.events.read({ type: 'budget_warned' })).length
  await place.spends(1)
  const first = await Promise.all([place.round(), place.round()]) // as two daemons
  expect(first.flat()).toEqual(['warned: everything has spent $0.45 today (warning at $0.40)'])
  expect(await place.round()).toEqual([])
  await place.spends(1)
  expect(await place.round()).toEqual([])
  expect(await warned()).toBe(1)
  aheadMs += DAY_MS
  expect(await place.round()).toEqual([])
  await place.spends(1)
  expect(await place.round()).toEqual(['warned: everything has spent $0.45 today (warning at $0.40)'])
  expect(await place.round()).toEqual([])
  expect(await warned()).toBe(2)
  const [event] = await place.home.events.read({ type: 'budget_warned' })
  const { mail } = await place.home.work.inbox({ address: event?.actor as never })
  expect(mail.map(({ subject }) => subject)).toEqual(['Budget: everything', 'Budget: everything'])
})

it('a prompt that was typed by hand is finished, and the agent is stopped after it', async () => {
  const place = await yard()
  await place.set({ agent: 'web/toast', hard: usd('0.10usd') })
  const { pane = '' } = (await place.agents.why('web/toast')).agent
  place.tmux('send-keys', '-t', pane, 'slow 1500', 'Enter')
  await eventually(
    async () => (await place.agents.why('web/toast')).agent.status,
    (status) => status === 'running',
  )
  await place.spends(1)
  expect(await place.round()).toEqual([])
  await eventually(
    async () => (await place.agents.why('web/toast')).agent.waiting_for,
    (wait) => wait === 'finished',
  )
  expect(place.log().filter((line) => 'interrupted' in line)).toEqual([])
  expect(await place.round()).toHaveLength(1)
  expect((await place.agents.why('web/toast')).agent.status).toBe('stopped')
})

it('groups, units of work, everything and days have budgets of their own; what has no price counts as tokens', async () => {
  const place = await yard()
  const { id } = await place.home.work.add({ title: 'Fix the login' })
  await place.set({ group: 'web', hard: usd('1usd') })
  await place.set({ work: id, hard: usd('5usd') })
  await place.set({ all: true, per: 'day', hard: usd('200ktok') })
  await place.spends(1)
  await place.spends(1, 'a-model-without-a-price')
  const all = await standings(place.parts)
  const today = new Date().toISOString().slice(0, 10)
  expect(all.map(({ name, state, spent }) => ({ name, state, ...spent }))).toMatchObject([
    { name: 'web', state: 'within', micro_usd: 450_000, tokens: 220_000, unpriced_calls: 1, unpriced_tokens: 110_000 },
    { name: id, state: 'within', micro_usd: 0, tokens: 0 },
    { name: 'all', state: 'hard', period: today, tokens: 220_000 },
  ])
  expect(await place.round()).toEqual([
    'stopped: the budget of everything is used up: 220,000 tokens of 200,000 tokens today',
  ])
  await budgetClear.run({ all: true } as never, { nowMs: 0, home: async () => place.home } as never)
  await place.agents.start({ agent: 'web/toast' })
  expect(await place.round()).toEqual([])
})

it('a budget that is not there is named as its user names it', async () => {
  const place = await yard()
  const context = { nowMs: Date.now(), home: async () => place.home } as never
  const clear = (input: object) => budgetClear.run({ all: false, ...input } as never, context)
  const missing = (name: string) => ({ code: 'bad-input', message: `There is no budget for ${name}` })
  await expect(clear({ agent: 'web/toast' })).rejects.toMatchObject(missing('agent web/toast'))
  await expect(clear({ group: 'web' })).rejects.toMatchObject(missing('group web'))
  await expect(clear({ all: true })).rejects.toMatchObject(missing('everything'))
})

it('the budget of a group whose name was erased limits nobody, and stops nothing', async () => {
  const place = await yard()
  await place.set({ group: 'web', hard: usd('1usd') })
  const file = place.home.paths.budgets
  writeFileSync(file, readFileSync(file, 'utf8').replace('"web"', '"[PURGED]"'))
  expect(await standings(place.parts)).toEqual([])
  await place.spends(5)
  expect(await place.round()).toEqual([])
  expect(await place.agents.send('web/toast', 'go on')).toMatchObject({ delivery: expect.any(String) })
})

it('the list of agents says where a price is unknown, and never that it was free', async () => {
  const place = await yard()
  const shown = async (): Promise<string> => {
    const agents = await place.agents.list()
    return runningAgentsView({ agents }, { width: 140, paint: PLAIN_PAINT, nowMs: Date.now() })
  }
  expect(await shown()).not.toMatch(/\$|cost/)
  await place.spends(2, 'a-model-without-a-price')
  const [view] = await place.agents.list()
  expect(view).toMatchObject({ unpriced_calls: 2 })
  expect(view).not.toHaveProperty('cost_micro_usd')
  expect(await shown()).toMatch(/cost unknown\)/)
  await place.spends(1)
  expect(await shown()).toMatch(/\$0\.45 \+ unknown\)/)
})

it('a damaged file of budgets is an error, and no agent spends without a limit because of it', async () => {
  const place = await yard()
  writeFileSync(join(place.home.directory, 'budgets.json'), '{"v":1,"budgets":[{}]}')
  expect(() => new BudgetBook(place.home).read()).toThrow('is damaged')
  await expect(place.agents.send('web/toast', 'go on')).rejects.toMatchObject({ code: 'store-damaged' })
})

it('amounts are money or tokens, and nothing else', () => {
  expect(parseAmount('5usd')).toEqual({ micro_usd: 5_000_000 })
  expect(parseAmount('$0.50')).toEqual({ micro_usd: 500_000 })
  expect(parseAmount('200ktok')).toEqual({ tokens: 200_000 })
  expect(parseAmount('1.5M tokens')).toEqual({ tokens: 1_500_000 })
  for (const odd of ['5', '0usd', '-5usd', '5eur', 'tokens', '1e9usd', '', '5usd; rm'])
    expect(parseAmount(odd)).toBeUndefined()
  const budget: Budget = {
    target: { kind: 'all' },
    per: 'total',
    hard: { tokens: 10 },
    set_at: instantOf(0),
    set_by: 'ada',
  }
  const spent = { period: 'total', micro_usd: 0, tokens: 10, unpriced_calls: 0, unpriced_tokens: 0 }
  expect(budgetState(budget, spent)).toBe('hard')
  expect(budgetState(budget, { ...spent, tokens: 9 })).toBe('within')
})
