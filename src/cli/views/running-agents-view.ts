import type { AgentView } from '../../lifecycle/index.js'
import { askLine, formatDuration, type Instant, msOf, STATUSES, type Status, splitAddress } from '../../model/index.js'
import type { Branch, Part } from '../screen/branches.js'
import { money } from '../screen/money.js'
import type { Paint } from '../screen/paint.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { type AgentTree, agentTree } from './agent-tree.js'

/** Agents under the groups they are in, each with what it does. */
export const runningAgentsView = (tree: AgentTree<AgentView>, screen: Screen): string =>
  agentTree(tree, screen, { branchOf: agentBranch, sumOf: (agents) => `: ${countsOf(agents)}` })

/** How many agents per status: `1 waiting, 2 idle`. */
const countsOf = (agents: readonly AgentView[]): string =>
  STATUSES.flatMap((status) => {
    const count = agents.filter((agent) => agent.status === status).length
    return count > 0 ? `${count} ${status}` : []
  }).join(', ')

const SIGNS: Readonly<Record<Status, string>> = {
  starting: '…',
  running: '▶',
  waiting: '!',
  idle: '·',
  error: '✗',
  stopped: '■',
  asleep: 'z',
  unknown: '?',
}

/** A model without a known price is not free. */
function costOf({ cost_micro_usd: micro_usd, unpriced_calls = 0 }: AgentView): string[] {
  if (micro_usd !== undefined) return [money({ micro_usd, unpriced_calls })]
  return unpriced_calls > 0 ? ['cost unknown'] : []
}

function agentBranch(agent: AgentView, { paint, nowMs }: Screen): Branch {
  const { name } = splitAddress(agent.address)
  const age = formatDuration(nowMs - msOf(agent.since))
  const state = agent.waiting_for ? `${agent.status} (${agent.waiting_for})` : agent.status
  const facts = [
    agent.tool,
    ...(agent.branch ? [agent.branch] : []),
    ...(agent.context_tokens ? [`${tokensIn(agent.context_tokens)} context`] : []),
    ...costOf(agent),
    ...(agent.archived_at ? ['archived'] : []),
  ]
  const parts: Part[] = [
    { text: SIGNS[agent.status], paint: paintOf(agent.status, paint) },
    { text: safeText(name), paint: paint.cyan },
    { text: `${state} ${age}`, paint: paintOf(agent.status, paint) },
    { text: `(${facts.map(safeText).join(', ')})`, paint: paint.dim },
  ]
  const [ask, ...others] = agent.asks ?? []
  const why = agent.waiting_for === 'finished' ? undefined : ask?.what === undefined ? agent.reason : askLine(ask)
  const title = [why, watchdogWords(agent, nowMs), agent.cwd_problem, agent.title === name ? undefined : agent.title]
    .filter((part) => part !== undefined)
    .join(' · ')
  const branches = others.map((other) => ({ parts: ['!'], title: safeText(askLine(other)), branches: [] }))
  return { parts, title: title === '' ? undefined : safeText(title), branches }
}

function paintOf(status: Status, paint: Paint): (text: string) => string {
  if (status === 'waiting') return paint.yellow
  if (status === 'error') return paint.red
  if (status === 'running' || status === 'starting') return paint.green
  return status === 'unknown' ? paint.yellow : paint.dim
}

const tokensIn = (tokens: number): string => (tokens < 1_000 ? String(tokens) : `${Math.round(tokens / 1_000)}k`)

function watchdogWords({ parked, respawn, limit_until }: AgentView, nowMs: number): string | undefined {
  const ends = (at: Instant): string => `the limit ends in ${formatDuration(Math.max(0, msOf(at) - nowMs))}`
  if (parked)
    return `parked: ${parked.reason}${parked.until ? `; ${ends(parked.until)}, then it is started again` : ''}`
  if (limit_until) return ends(limit_until)
  return respawn ? `respawn ${respawn.count} at ${respawn.at}` : undefined
}
