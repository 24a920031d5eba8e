import type { AgentView } from '../../lifecycle/index.js'
import type { RecoveryLine } from '../../operations/index.js'
import { safe } from '../screen/safe-text.js'

/** What a plan calls an outcome that has not come about. */
const PLANNED: Partial<Record<RecoveryLine['outcome'], string>> = {
  resumed: 'would resume',
  fresh: 'would start fresh',
  refused: 'would refuse',
}

/**
 * `web/toast: resumed 0f3c9a12…: process 4711 runs (it was lost: the tmux server is gone)`; as a plan
 * `web/toast: would resume 0f3c9a12…: nothing was started (…)`. What a program said last is below its line.
 */
export function recoveryLine(
  { agent, outcome, session_id, fell, reason, error }: RecoveryLine,
  { isPlan = false } = {},
): string {
  const session = session_id === undefined || outcome === 'refused' ? '' : safe` ${session_id}`
  const down = fell ? safe` (${fell.how}: ${fell.reason})` : ''
  const next = error ? safe`. ${error.next}` : ''
  const became = (isPlan && PLANNED[outcome]) || outcome
  const line = safe`${agent.address}: ${became}` + session + safe`: ${reason}` + next + down
  return [line, ...(error?.details ?? []).map((detail) => safe`  ${detail}`)].join('\n')
}

type Down = Pick<AgentView, 'address' | 'status' | 'reason' | 'down' | 'parked'>

/** One line about agents that are down although nobody asked for it, and whose end was not acknowledged; undefined when there are none. */
export function downNote(agents: readonly Down[]): string | undefined {
  const down = agents.filter(({ down, status }) => down !== undefined && status !== 'stopped')
  const [first] = down
  if (!first) return undefined
  const who = down.length === 1 ? safe`${first.address} is down` : `${down.length} agents are down`
  const reasons = new Set(down.map(({ reason }) => reason))
  const why = reasons.size === 1 && first.reason !== undefined ? safe` (${first.reason})` : ''
  return `${who}${why}. Bring ${down.length === 1 ? 'it' : 'them'} back: ${wayBack(down, first)}`
}

/** The watchdog has given up those that are parked: they come back only when they are asked for. */
function wayBack(down: readonly Down[], { address }: Down): string {
  const { length: parked } = down.filter((one) => one.parked !== undefined)
  if (parked === 0) return 'skein recover'
  if (down.length === 1) return safe`skein recover ${address}`
  return `skein recover --all (without --all it leaves ${parked === 1 ? 'the one' : `the ${parked}`} that the watchdog has parked)`
}
