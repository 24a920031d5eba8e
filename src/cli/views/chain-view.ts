import type { Chain } from '../../home/index.js'
import { formatDuration } from '../../model/index.js'
import { money } from '../screen/money.js'
import { plural } from '../screen/plural.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { type Spending, sessionTable, type TableFacts } from './session-table.js'

/** Each chain as a table under a line about it, and the time of all. */
export function chainView(chains: readonly Chain[], totalMs: number, facts: TableFacts, screen: Screen): string {
  const { spent } = facts
  const parts = chains.map((chain) => `${heading(chain, screen)}\n${sessionTable(chain.sessions, screen, facts)}`)
  const total = `Total time: ${formatDuration(totalMs)} in ${plural(sessionCount(chains), 'session')}`
  const cost = spent.size > 0 ? [`Total cost: ${money(totalOf(spent))}`] : []
  return [...parts, [total, ...cost].join('\n')].join('\n\n')
}

function heading({ chain_id, work_units, sessions, duration_ms, ended_at }: Chain, { paint }: Screen): string {
  const facts = [
    plural(sessions.length, 'session'),
    formatDuration(duration_ms),
    ...(ended_at === undefined ? ['active'] : []),
    ...(work_units.length > 0 ? [`work ${work_units.map(safeText).join(', ')}`] : []),
  ]
  return `Chain ${paint.cyan(safeText(chain_id))} ${paint.dim(`(${facts.join(', ')})`)}`
}

const sessionCount = (chains: readonly Chain[]): number => chains.reduce((sum, chain) => sum + chain.sessions.length, 0)

/** The cost of all, with how much of it is not known. */
export function totalOf(spent: Spending): { micro_usd: number; unpriced_calls: number } {
  const all = [...spent.values()]
  return {
    micro_usd: all.reduce((sum, one) => sum + one.micro_usd, 0),
    unpriced_calls: all.reduce((sum, one) => sum + one.unpriced_calls, 0),
  }
}
