import { type Agent, type Event, type Evidence, isSoundRecord, STATUS_SOURCES } from '../../model/index.js'
import type { Explanation } from '../agents.js'
import type { Parts } from '../parts.js'
import { isStartSteps, type StartRecord } from '../run/start-steps.js'
import { TurnBranches, turnBranchView } from '../turns/turn-branch.js'
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
  const start = await lastStart(parts, agent, run?.start)
  const branch = new TurnBranches(parts.home.paths.agents).of(agent.id)
  return {
    evidence,
    history: history.slice(-HISTORY).reverse().map(changeOf),
    ...(start ? { start } : {}),
    ...(branch ? { turn_branch: turnBranchView(branch) } : {}),
  }
}

/** A start that failed is undone, so only the journal has its steps. */
async function lastStart(parts: Parts, agent: Agent, kept: StartRecord | undefined): Promise<StartRecord | undefined> {
  const failures = await parts.home.events.read({ type: 'agent_start_failed' })
  const last = failures.findLast(({ payload }) => payload.agent_id === agent.id)
  const { steps } = last?.payload ?? {}
  if (!last || !isStartSteps(steps) || last.ts <= (kept?.at ?? '')) return kept
  return { at: last.ts, steps }
}

const rank = ({ source }: Evidence): number => STATUS_SOURCES.indexOf(source)

const isSame = (one: Evidence, decided: Evidence | undefined): boolean =>
  decided !== undefined && one.source === decided.source && one.status === decided.status && one.rule === decided.rule

function changeOf({ ts, payload }: Event): Explanation['history'][number] {
  const reason = typeof payload.reason === 'string' ? { reason: payload.reason } : {}
  const wait = typeof payload.waiting_for === 'string' ? { waiting_for: payload.waiting_for } : {}
  return { at: ts, status: String(payload.status), ...reason, ...wait, source: String(payload.source) }
}
