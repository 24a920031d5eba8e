import { amountText, grouped, spentText } from '../../model/index.js'
import type { BudgetStanding, Budgets } from '../../operations/index.js'
import type { Screen } from '../screen/screen.js'
import { table } from '../screen/table.js'

/** Budgets, with what was spent of each. */
export function budgetView({ budgets }: Budgets, screen: Screen): string {
  if (budgets.length === 0) return 'There are no budgets. Set one: skein budget set <agent> --hard 5usd'
  const list = table<BudgetStanding>(
    budgets,
    [
      {
        header: 'BUDGET',
        text: ({ target, name }) => (target === 'all' ? 'everything' : `${target} ${name}`),
        shrinkTo: 12,
      },
      { header: 'PER', text: ({ per }) => per },
      { header: 'SPENT', text: spentOf },
      { header: 'WARN', text: (one) => limitOf(one.soft_micro_usd, one.soft_tokens) },
      { header: 'STOP', text: (one) => limitOf(one.hard_micro_usd, one.hard_tokens) },
      { header: 'STATE', text: ({ state }) => STATES[state] },
    ],
    screen,
  )
  const unpriced = budgets.reduce((sum, one) => sum + one.unpriced_calls, 0)
  if (unpriced === 0) return list
  return `${list}\n\nCalls without a known price count only as tokens (${grouped(unpriced)} calls). Give prices in [prices] of config.toml.`
}

const STATES: Readonly<Record<BudgetStanding['state'], string>> = { within: 'within', soft: 'warned', hard: 'used up' }

function spentOf(one: BudgetStanding): string {
  const { period, spent_micro_usd: micro_usd, spent_tokens: tokens, unpriced_calls, unpriced_tokens } = one
  const isTokens = one.hard_tokens !== undefined || one.soft_tokens !== undefined
  return spentText({ period, micro_usd, tokens, unpriced_calls, unpriced_tokens }, isTokens ? { tokens } : undefined)
}

function limitOf(micro_usd: number | undefined, tokens: number | undefined): string {
  if (tokens !== undefined) return amountText({ tokens })
  return micro_usd === undefined ? '' : amountText({ micro_usd })
}
