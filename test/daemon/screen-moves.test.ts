import { expect, it } from 'vitest'
import { ScreenMoves } from '../../src/daemon/screen-moves.js'
import { parseAgentId } from '../../src/model/index.js'

const agent = parseAgentId('0a7c2f7e-6a0f-4c9c-9d53-0c0a6a4a1d01')
const other = parseAgentId('0a7c2f7e-6a0f-4c9c-9d53-0c0a6a4a1d02')

it('a screen that changed is looked at three rounds long, and again when it changes anew', () => {
  const moves = new ScreenMoves()
  const round = (atMs: number): boolean => moves.moved(new Map([[agent, atMs]])).length > 0
  expect([1_000, 1_000, 1_000, 1_000, 1_000].map(round)).toEqual([true, true, true, false, false])
  expect([5_000, 6_000, 6_000, 6_000, 6_000].map(round)).toEqual([true, true, true, true, false])
})

it('an agent that was not watched for a while counts as changed when it is again', () => {
  const moves = new ScreenMoves()
  for (let round = 0; round < 4; round += 1) moves.moved(new Map([[agent, 1_000]]))
  expect(moves.moved(new Map([[other, 1_000]]))).toEqual([other])
  expect(moves.moved(new Map([[agent, 1_000]]))).toEqual([agent])
})
