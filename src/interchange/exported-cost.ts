import type { Prices } from '../home/index.js'
import { Sum, type Totals } from '../ingest/index.js'
import type { UsageCall } from '../model/index.js'

/** What calls of models cost. Those whose price is not known are counted beside the sum, never as free. */
export type ExportedCost = Pick<Totals, 'calls' | 'micro_usd' | 'unpriced_calls' | 'unpriced_models'>

export function costOf(calls: readonly UsageCall[], prices: Prices): ExportedCost {
  const sum = new Sum()
  for (const call of calls) sum.addCall(call, prices.priceOf(call, Date.parse(call.ts)))
  const { calls: count, micro_usd, unpriced_calls, unpriced_models } = sum.totals()
  return { calls: count, micro_usd, unpriced_calls, unpriced_models }
}

/** Undefined when nothing is known of any. */
export function totalCost(costs: readonly (ExportedCost | undefined)[]): ExportedCost | undefined {
  const known = costs.filter((cost) => cost !== undefined)
  if (known.length === 0) return undefined
  const added = (count: (cost: ExportedCost) => number): number => known.reduce((sum, cost) => sum + count(cost), 0)
  return {
    calls: added((cost) => cost.calls),
    micro_usd: added((cost) => cost.micro_usd),
    unpriced_calls: added((cost) => cost.unpriced_calls),
    unpriced_models: [...new Set(known.flatMap((cost) => cost.unpriced_models))].sort(),
  }
}
