import { expect, it } from 'vitest'
import type { AgentRun } from '../../../src/lifecycle/index.js'
import { turnEdges } from '../../../src/lifecycle/index.js'
import { type Instant, instantOf, parseSessionId } from '../../../src/model/index.js'

const START = Date.UTC(2026, 0, 17, 8)
const at = (seconds: number): Instant => instantOf(START + seconds * 1_000)
const run = (more: Partial<AgentRun>): AgentRun =>
  ({
    agent: 'a',
    recipe: { tool: 'claude', cwd: '/srv/web' },
    binding: { session: 's', since: at(0), how: 'chosen', is_confirmed: true },
    run: { started_at: at(0) },
    ...more,
  }) as unknown as AgentRun
const edges = (
  more: Partial<AgentRun>,
  captured: { prompt?: Instant; stop?: Instant } = {},
  nowSeconds = 100,
): unknown => turnEdges(run(more), captured, START + nowSeconds * 1_000).map(({ moment, at: when }) => [moment, when])
const ended = (seconds: number): NonNullable<AgentRun['turn_end']> => ({ at: at(seconds), how: 'finished' })

it('a prompt that was reported is captured once, also by a second report of it', () => {
  expect(edges({ prompted_at: at(10), busy_at: at(10) })).toEqual([['prompt', at(10)]])
  expect(edges({ prompted_at: at(10), busy_at: at(10) }, { prompt: at(10) })).toEqual([])
  expect(edges({ prompted_at: at(10.2), busy_at: at(10) }, { prompt: at(10) })).toEqual([])
})

it('a prompt a moment after a turn that was over at once is another one', () => {
  const captured = { prompt: at(10), stop: at(10.4) }
  expect(edges({ prompted_at: at(11), busy_at: at(11), turn_end: ended(10.4) }, captured)).toEqual([['prompt', at(11)]])
  expect(edges({ prompted_at: at(10.2), busy_at: at(10), turn_end: ended(10.4) }, captured)).toEqual([])
})

it('work that goes on after a question was answered is no other turn; a prompt typed meanwhile is one', () => {
  expect(edges({ prompted_at: at(10), busy_at: at(40) }, { prompt: at(10) })).toEqual([])
  expect(edges({ prompted_at: at(40), busy_at: at(10) }, { prompt: at(10) })).toEqual([['prompt', at(40)]])
})

it('a program that reports no prompts begins a turn when it begins to work, and ends it when it waits', () => {
  expect(edges({ busy_at: at(10) })).toEqual([['prompt', at(10)]])
  expect(edges({ busy_at: at(10), turn_end: ended(20) }, { prompt: at(10) })).toEqual([['stop', at(20)]])
  expect(edges({ busy_at: at(30), turn_end: ended(20) }, { prompt: at(10), stop: at(20) })).toEqual([
    ['prompt', at(30)],
  ])
})

it('of a turn that ended unseen, its end is captured, and its beginning only while that says something', () => {
  const unseen = { prompted_at: at(10), busy_at: at(10), turn_end: ended(20) }
  expect(edges(unseen, {}, 30)).toEqual([
    ['prompt', at(10)],
    ['stop', at(20)],
  ])
  expect(edges(unseen, {}, 300)).toEqual([['stop', at(20)]])
  expect(edges({ prompted_at: at(10), busy_at: at(10) }, {}, 300)).toEqual([['prompt', at(10)]])
})

it('a run that ends in the middle of a turn ends the turn', () => {
  const dead = { prompted_at: at(10), busy_at: at(10), run: { started_at: at(0), ended_at: at(50) } as AgentRun['run'] }
  expect(edges(dead as Partial<AgentRun>, { prompt: at(10) })).toEqual([['stop', at(50)]])
})

it('without a conversation there is nothing to name it by', () => {
  const { binding: _binding, ...unbound } = run({ prompted_at: at(10) })
  expect(turnEdges(unbound as AgentRun, {}, START)).toEqual([])
})

it('a turn that leaves sub-agents at work is over, and what they bring ends once more', () => {
  const begun = { prompted_at: at(10), busy_at: at(10) }
  const left = { ...begun, background: { count: 1, at: at(20) } }
  expect(edges(left, { prompt: at(10) })).toEqual([['stop', at(20)]])
  expect(edges(left, { prompt: at(10), stop: at(20) })).toEqual([])
  const done = { ...begun, background: { count: 0, at: at(40) }, turn_end: ended(40) }
  expect(edges(done, { prompt: at(10), stop: at(20) })).toEqual([['stop', at(40)]])
})

it('a turn that was under way when its agent began another conversation ended there, once', () => {
  const [before, now] = [parseSessionId('before'), parseSessionId('now')]
  const moved = run({
    binding: { session: now, since: at(30), how: 'chosen', is_confirmed: true },
  } as Partial<AgentRun>)
  const captured = { prompt: at(10), session: before, directory: '/srv/before' }
  const left = { agent: 'a', session: before, directory: '/srv/before', moment: 'stop', at: at(30) }
  expect(turnEdges(moved, captured, START)).toEqual([left])
  expect(turnEdges(moved, { ...captured, stop: at(30) }, START)).toEqual([])
  expect(turnEdges({ ...moved, prompted_at: at(31), busy_at: at(31) }, captured, START)).toMatchObject([
    left,
    { session: now, moment: 'prompt', at: at(31) },
  ])
})
