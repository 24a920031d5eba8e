import { expect, it } from 'vitest'
import { withSteps } from '../../src/history/stepped-turns.js'
import type { SessionHistory } from '../../src/home/index.js'
import type { Instant, Step } from '../../src/model/index.js'
import { onlyStep, timeOfStep } from '../../src/operations/history/only-step.js'
import type { LoggedToolCall, LoggedTurn } from '../../src/tools/index.js'

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

it('a step is as long as it was open; one that was done twice has no single time', () => {
  expect(timeOfStep(history.session, 'plan')).toEqual({ since: at(1), until: at(10) })
  expect(timeOfStep(history.session, 'build')).toEqual({ since: at(10) })
  const twice = { ...history.session, steps: [...STEPS, step('plan', 30, 31)] }
  expect(() => timeOfStep(twice, 'plan')).toThrow('2 times')
})
