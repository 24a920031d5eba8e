import { expect, it } from 'vitest'
import { ScreenMoves } from '../../src/daemon/watch/screen-moves.js'
import { type AgentId, instantOf, parseAgentId, type StatusSource } from '../../src/model/index.js'

const agent = parseAgentId('0a7c2f7e-6a0f-4c9c-9d53-0c0a6a4a1d01')
const other = parseAgentId('0a7c2f7e-6a0f-4c9c-9d53-0c0a6a4a1d02')
const quiet = (id: AgentId, source: StatusSource = 'hook') => ({
  agent: id,
  status: { status: 'idle' as const, since: instantOf(0), source },
})

function rounds(moves: ScreenMoves, moments: readonly (number | undefined)[], source?: StatusSource): boolean[] {
  return moments.map((atMs) => {
    const activity = new Map(atMs === undefined ? [] : [[agent, atMs] as const])
    return moves.moved([quiet(agent, source)], activity).length > 0
  })
}

it('a screen that changed is looked at three rounds long, and again when it changes anew', () => {
  const moves = new ScreenMoves()
  expect(rounds(moves, [1_000, 1_000, 1_000, 1_000, 1_000])).toEqual([true, true, true, false, false])
  expect(rounds(moves, [5_000, 6_000, 6_000, 6_000, 6_000])).toEqual([true, true, true, true, false])
})

it('a tmux that stops answering, and one that answers again, is looked at, whoever reports the status', () => {
  for (const source of ['hook', 'registry'] as const) {
    const moves = new ScreenMoves()
    const none = undefined
    expect(rounds(moves, [1_000, 1_000, 1_000, 1_000], source)).toEqual([true, true, true, false])
    expect(rounds(moves, [none, none, none, none, 1_000], source)).toEqual([true, true, true, false, true])
  }
})

it('what a registry knows is not looked at for its screen', () => {
  const moves = new ScreenMoves()
  expect(rounds(moves, [1_000, 2_000, 3_000, 4_000, 5_000], 'registry')).toEqual([true, true, true, false, false])
})

it('an agent that was not watched for a while counts as changed when it is again', () => {
  const moves = new ScreenMoves()
  const activity = new Map([
    [agent, 1_000],
    [other, 1_000],
  ])
  for (let round = 0; round < 4; round += 1) moves.moved([quiet(agent)], activity)
  expect(moves.moved([quiet(other)], activity)).toEqual([other])
  expect(moves.moved([quiet(agent)], activity)).toEqual([agent])
})
