import { type Event, type Evidence, isSoundRecord, STATUS_SOURCES } from '../../model/index.js'
import type { Explanation } from '../agents.js'
import type { Parts } from '../parts.js'
import { isTold } from './evidence.js'
import type { Observed } from './observe.js'

const HISTORY = 20

/** What every source says now, best first, and how the status came to be what it is. */
export async function explain(
  parts: Parts,
  { agent, run, verdict, seen }: Observed,
): Promise<Omit<Explanation, 'agent'>> {
  const told = (run?.told ?? []).filter(({ source }) => isTold(source))
  const lastTold = STATUS_SOURCES.flatMap((source) => told.findLast((evidence) => evidence.source === source) ?? [])
  const all = [...seen, ...lastTold].sort((a, b) => rank(a) - rank(b))
  const decided = verdict?.decided
  const evidence = all.map((one) => ({ ...one, decided: isSame(one, decided) }))
  const events = await parts.home.events.read({ type: 'agent_status' })
  const history = events.filter(
    (event) => event.payload.agent_id === agent.id && isSoundRecord('agent_status', event.payload),
  )
  return { evidence, history: history.slice(-HISTORY).reverse().map(changeOf) }
}

const rank = ({ source }: Evidence): number => STATUS_SOURCES.indexOf(source)

const isSame = (one: Evidence, decided: Evidence | undefined): boolean =>
  decided !== undefined && one.source === decided.source && one.status === decided.status && one.rule === decided.rule

function changeOf({ ts, payload }: Event): Explanation['history'][number] {
  const reason = typeof payload.reason === 'string' ? { reason: payload.reason } : {}
  const wait = typeof payload.waiting_for === 'string' ? { waiting_for: payload.waiting_for } : {}
  return { at: ts, status: String(payload.status), ...reason, ...wait, source: String(payload.source) }
}
