import type { Chain } from '../../home/index.js'
import { formatDuration } from '../../model/index.js'
import { plural } from '../screen/plural.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { sessionTable } from './session-table.js'

/** Each chain as a table under a line about it, and the time of all. */
export function chainView(chains: readonly Chain[], totalMs: number, screen: Screen): string {
  const parts = chains.map((chain) => `${heading(chain, screen)}\n${sessionTable(chain.sessions, screen)}`)
  const total = `Total time: ${formatDuration(totalMs)} in ${plural(sessionCount(chains), 'session')}`
  return [...parts, total].join('\n\n')
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
