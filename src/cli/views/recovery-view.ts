import type { AgentView } from '../../lifecycle/index.js'
import type { RecoveryLine } from '../../operations/index.js'
import { safe } from '../screen/safe-text.js'

/** `web/toast: resumed 0f3c9a12…: process 4711 runs (it was lost: the tmux server is gone)` */
export function recoveryLine({ agent, outcome, session_id, fell, reason, error }: RecoveryLine): string {
  const session = session_id === undefined || outcome === 'refused' ? '' : safe` ${session_id}`
  const down = fell ? safe` (${fell.how}: ${fell.reason})` : ''
  const next = error ? safe`. ${error.next}` : ''
  return safe`${agent.address}: ${outcome}` + session + safe`: ${reason}` + next + down
}

/** One line about agents that are down although nobody asked for it, and whose end was not acknowledged; undefined when there are none. */
export function downNote(agents: readonly AgentView[]): string | undefined {
  const down = agents.filter(({ down, status }) => down !== undefined && status !== 'stopped')
  const [first] = down
  if (!first) return undefined
  const who = down.length === 1 ? safe`${first.address} is down` : `${down.length} agents are down`
  const reasons = new Set(down.map(({ reason }) => reason))
  const why = reasons.size === 1 && first.reason !== undefined ? safe` (${first.reason})` : ''
  return `${who}${why}. Bring ${down.length === 1 ? 'it' : 'them'} back: skein recover`
}
