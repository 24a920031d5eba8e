import type { Prices } from '../../home/index.js'
import { totalTokens } from '../../model/index.js'
import type { LoggedTurn } from '../../tools/index.js'

/** What a turn has cost. Calls without a known price are counted and never taken as free. */
export interface TurnCost {
  cost_micro_usd: number
  unpriced_calls: number
}

/** Of the turn and of the sub-agents that it started. Undefined where no call of a model is known, or where it was paid for in another session. */
export function turnCost(turn: LoggedTurn, prices: Prices): TurnCost | undefined {
  if (turn.copied) return undefined
  const calls = callsOf(turn).filter((call) => totalTokens(call) > 0 || call.web_search_requests > 0)
  if (calls.length === 0) return undefined
  let [nano, unpriced] = [0, 0]
  for (const call of calls) {
    const price = prices.priceOf(call, Date.parse(call.ts))
    if (price) nano += price.tokens_nano_usd + price.web_search_nano_usd
    else unpriced += 1
  }
  return { cost_micro_usd: Math.round(nano / 1_000), unpriced_calls: unpriced }
}

function callsOf(turn: LoggedTurn): LoggedTurn['usage'] {
  const inner = turn.tool_calls.flatMap(({ sub_agent }) => sub_agent ?? [])
  return [...turn.usage, ...inner.flatMap(callsOf)]
}
