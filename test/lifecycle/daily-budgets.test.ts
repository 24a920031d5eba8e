import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { BudgetBook, standings } from '../../src/lifecycle/index.js'
import { type Budget, type BudgetTarget, instantOf } from '../../src/model/index.js'
import { openTestHome, scratch } from '../home/scratch.js'

const SESSION = '22222222-2222-4222-8222-222222222222'
const MIDNIGHT = Date.UTC(2026, 0, 18)

it('a budget per day begins anew at midnight and warns once a day; one per unit of work goes on; what has no price counts as tokens only', async () => {
  const root = scratch()
  const log = join(root, '.claude', 'projects', '-srv', `${SESSION}.jsonl`)
  mkdirSync(dirname(log), { recursive: true })
  writeFileSync(log, '')
  const { home, clock } = await openTestHome(root, { ms: MIDNIGHT - 60_000 })
  await home.sessions.start({ id: SESSION, agent: 'web/toast', tool: 'claude', work_unit: 'wk-1' })
  let calls = 0
  const spend = async (model: string): Promise<void> => {
    calls += 1
    const usage = { input_tokens: 100_000, output_tokens: 10_000 }
    const message = { id: `msg_${calls}`, type: 'message', role: 'assistant', model, content: [], usage }
    const line = { type: 'assistant', uuid: `u${calls}`, requestId: `r${calls}`, sessionId: SESSION, message }
    appendFileSync(log, `${JSON.stringify({ ...line, timestamp: instantOf(clock.ms), cwd: '/srv' })}\n`)
    await home.history.ingest()
  }
  const book = new BudgetBook(home)
  const budget = (target: BudgetTarget, per: Budget['per'], micro_usd: number): Budget => {
    const limits = { soft: { micro_usd: micro_usd / 2 }, hard: { micro_usd } }
    return { target, per, ...limits, set_at: instantOf(clock.ms), set_by: 'tester' }
  }
  const daily = budget({ kind: 'all' }, 'day', 500_000)
  await book.set(daily)
  await book.set(budget({ kind: 'work', id: 'wk-1' }, 'total', 1_000_000))
  const states = async () =>
    Object.fromEntries((await standings({ home })).map(({ name, state, spent }) => [name, { state, ...spent }]))

  await spend('claude-sonnet-4-20250514') // $0.45
  await spend('a-model-without-a-price')
  expect(await states()).toMatchObject({
    all: { state: 'soft', period: '2026-01-17', micro_usd: 450_000, unpriced_calls: 1, unpriced_tokens: 110_000 },
    'wk-1': { state: 'within', period: 'total', micro_usd: 450_000 },
  })
  expect(await book.warned(daily, '2026-01-17')).toBe(true)
  expect(await book.warned(daily, '2026-01-17')).toBe(false)

  clock.ms = MIDNIGHT - 1
  await spend('claude-sonnet-4-20250514')
  expect(await states()).toMatchObject({ all: { state: 'hard', micro_usd: 900_000 }, 'wk-1': { state: 'soft' } })

  clock.ms = MIDNIGHT
  expect(await states()).toMatchObject({
    all: { state: 'within', period: '2026-01-18', micro_usd: 0, tokens: 0 },
    'wk-1': { state: 'soft', micro_usd: 900_000 },
  })
  await spend('claude-sonnet-4-20250514')
  expect(await states()).toMatchObject({
    all: { state: 'soft', period: '2026-01-18', micro_usd: 450_000 },
    'wk-1': { state: 'hard', micro_usd: 1_350_000, unpriced_calls: 1 },
  })
  expect(await book.warned(daily, '2026-01-18')).toBe(true)
  await home[Symbol.asyncDispose]()
})
