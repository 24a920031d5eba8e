import { copyFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { withSteps } from '../../src/history/stepped-turns.js'
import type { SessionHistory } from '../../src/home/index.js'
import type { CostReport } from '../../src/ingest/index.js'
import type { Instant, Step } from '../../src/model/index.js'
import { cost } from '../../src/operations/history/cost.js'
import { onlyStep, timesOfStep } from '../../src/operations/history/only-step.js'
import type { LoggedToolCall, LoggedTurn } from '../../src/tools/index.js'
import { openTestHome, scratch } from '../home/scratch.js'

const at = (minute: number): Instant => `2026-01-17T08:${String(minute).padStart(2, '0')}:00.000Z` as Instant
const call = (id: string, minute: number | undefined, inner?: LoggedTurn[]): LoggedToolCall => ({
  id,
  name: 'Bash',
  arguments: {},
  ...(minute === undefined ? {} : { started_at: at(minute) }),
  ...(inner ? { sub_agent: inner } : {}),
})
const turn = (number: number, ...tool_calls: LoggedToolCall[]): LoggedTurn =>
  ({ number, prompt: '', tool_calls, usage: [] }) as unknown as LoggedTurn
const step = (step_ref: string, from: number, to?: number): Step & { turns: number[] } => ({
  step_ref,
  started_at: at(from),
  ...(to === undefined ? {} : { completed_at: at(to), success: true }),
  turns: [1, 2],
})

const STEPS = [step('plan', 1, 10), step('build', 10), step('test', 15, 20)]
const TURNS = withSteps(
  [
    turn(1, call('early', 0), call('planned', 5), call('built', 10, [turn(1, call('inside', 12), call('late', 16))])),
    turn(2, call('tested', 15), call('rebuilt', 21), call('never', undefined)),
  ],
  STEPS,
)
const refs = (turns: readonly LoggedTurn[]): unknown =>
  turns.flatMap(({ tool_calls }) =>
    tool_calls.flatMap(({ id, step_ref, sub_agent }) => [
      [id, step_ref],
      ...((sub_agent ? refs(sub_agent) : []) as []),
    ]),
  )
const history = {
  session: { id: 's', steps: STEPS },
  turns: TURNS,
  steps: STEPS,
  sub_agents: [],
} as unknown as SessionHistory

it('each call belongs to the step that was open when it was made, also where a step began in the middle of a turn', () => {
  expect(refs(TURNS)).toEqual([
    ['early', undefined],
    ['planned', 'plan'],
    ['built', 'build'], // at the very moment
    ['inside', 'build'],
    ['late', 'test'], // of two that are open the one that began last
    ['tested', 'test'],
    ['rebuilt', 'build'],
    ['never', undefined],
  ])
})

it('one step alone has its own calls, and those that a sub-agent made in it', () => {
  expect(refs(onlyStep(history, 'plan').turns)).toEqual([['planned', 'plan']])
  expect(refs(onlyStep(history, 'test').turns)).toEqual([
    ['built', 'build'], // where the sub-agent was started
    ['late', 'test'],
    ['tested', 'test'],
  ])
  expect(onlyStep(history, undefined)).toBe(history)
  expect(() => onlyStep(history, 'sing')).toThrow('has no step "sing"')
})

it('a step covers the times it was open, each of them', () => {
  const session = history.session.id
  expect(timesOfStep(history.session, 'plan')).toEqual([{ session, since: at(1), until: at(10) }])
  expect(timesOfStep(history.session, 'build')).toEqual([{ session, since: at(10) }])
  const twice = { ...history.session, steps: [...STEPS, step('plan', 30, 31)] }
  expect(timesOfStep(twice, 'plan')).toHaveLength(2)
  expect(timesOfStep(twice, 'sing')).toEqual([])
})

it('what a step cost is added up for a session, a unit of work, a chain, and every session that did it', async () => {
  const root = scratch()
  const log = join(root, '.claude/projects/-srv/22222222-2222-4222-8222-222222222222.jsonl')
  mkdirSync(dirname(log), { recursive: true })
  copyFileSync(join(import.meta.dirname, '../fixtures/claude/2.1.325/print-5turns-resumed.jsonl'), log)
  const { home, clock } = await openTestHome(root, { ms: Date.UTC(2026, 10, 16) })
  await home.history.ingest()
  const { id, chain_id } = await home.sessions.find('22222222')
  const { turns } = await home.history.turns(id)
  const [first, , third] = turns.map(({ started_at = '' }) => Date.parse(started_at))
  await home.sessions.start({ id, resume: true })
  await home.sessions.update(id, { work_unit: 'w-1' })
  const at = async (ms: number, step_ref: string, state: 'started' | 'completed'): Promise<void> => {
    clock.ms = ms
    await home.sessions.step(id, { step_ref, state })
  }
  await at((first ?? 0) - 1, 'plan', 'started')
  await at((third ?? 0) - 1, 'plan', 'completed')
  await at((third ?? 0) - 1, 'build', 'started')
  const ask = async (given: { session?: string; step?: string }): Promise<number> => {
    const input = { by: 'day', no_index: false, ...given } as Parameters<typeof cost.run>[0]
    const report = (await cost.run(input, { home: async () => home } as never)) as CostReport
    return report.total.calls
  }
  const all = await ask({ session: id })
  const plan = await ask({ session: id, step: 'plan' })
  expect(plan).toBeGreaterThan(0)
  expect(plan + (await ask({ session: id, step: 'build' }))).toBe(all)
  for (const session of ['w-1', chain_id]) expect(await ask({ session, step: 'plan' })).toBe(plan)
  expect(await ask({ step: 'plan' })).toBe(plan)
  await expect(ask({ step: 'sing' })).rejects.toMatchObject({ code: 'bad-input' })
  await expect(ask({ session: 'w-1', step: 'sing' })).rejects.toMatchObject({ next: 'It has plan, build' })
  await expect(ask({ session: 'w-9', step: 'plan' })).rejects.toMatchObject({ code: 'session-not-found' })
  await home[Symbol.asyncDispose]()
})
