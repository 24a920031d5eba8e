import { formatDuration } from '../../model/index.js'
import type { ShownChains } from '../../operations/index.js'
import { money } from '../screen/money.js'
import { plural } from '../screen/plural.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { type ShortIds, sessionTable } from './session-table.js'

/** Each chain as a table under a line about it, and the time of all. */
export function chainView({ chains, duration_ms, spent }: ShownChains, short: ShortIds, screen: Screen): string {
  const parts = chains.map((chain) => `${heading(chain, screen)}\n${sessionTable(chain.sessions, screen, short)}`)
  const total = `Total time: ${formatDuration(duration_ms)} in ${plural(sessionCount(chains), 'session')}`
  const cost = spent ? [`Total cost: ${money(spent)}`] : []
  return [...parts, [total, ...cost].join('\n')].join('\n\n')
}

function heading({ chain_id, work_units, sessions, duration_ms, ended_at }: ShownChain, { paint }: Screen): string {
  const facts = [
    plural(sessions.length, 'session'),
    formatDuration(duration_ms),
    ...(ended_at === undefined ? ['active'] : []),
    ...(work_units.length > 0 ? [`work ${work_units.map(safeText).join(', ')}`] : []),
  ]
  return `Chain ${paint.cyan(safeText(chain_id))} ${paint.dim(`(${facts.join(', ')})`)}`
}

type ShownChain = ShownChains['chains'][number]

const sessionCount = (chains: readonly ShownChain[]): number =>
  chains.reduce((sum, chain) => sum + chain.sessions.length, 0)
