import type { Spent } from '../../index/index.js'

/** The cost of all, with how much of it is not known. */
export function sumOf(spent: ReadonlyMap<string, Spent>): Pick<Spent, 'micro_usd' | 'unpriced_calls'> {
  const all = [...spent.values()]
  return {
    micro_usd: all.reduce((sum, one) => sum + one.micro_usd, 0),
    unpriced_calls: all.reduce((sum, one) => sum + one.unpriced_calls, 0),
  }
}
