import type { Explanation } from '../../lifecycle/index.js'
import type { Evidence } from '../../model/index.js'
import { card } from '../screen/card.js'
import { localAndRelativeTime, relativeTime } from '../screen/moment.js'
import { safe } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { table } from '../screen/table.js'
import { asksView } from './asks-view.js'
import { turnBranchFacts } from './turn-branch-view.js'

/** Why an agent is taken to do what it does. */
export function explanationView({ agent, evidence, history, turn_branch }: Explanation, screen: Screen): string {
  const facts = card(
    [
      ['agent', agent.address],
      ['status', agent.waiting_for ? `${agent.status} (${agent.waiting_for})` : agent.status],
      ['since', localAndRelativeTime(agent.since, screen.nowMs)],
      ['source', agent.source],
      ['reason', agent.reason],
      ['trouble', agent.trouble],
      ['limit ends', agent.limit_until && localAndRelativeTime(agent.limit_until, screen.nowMs)],
      ['respawn', agent.respawn && `${agent.respawn.count}, ${localAndRelativeTime(agent.respawn.at, screen.nowMs)}`],
      ['parked', agent.parked?.reason],
      ['until', agent.parked?.until && localAndRelativeTime(agent.parked.until, screen.nowMs)],
      ['next', agent.parked?.next],
      ['heartbeat', heartbeatLine(agent, screen)],
      ['directory', agent.cwd_problem],
      ['token', agent.token],
      ['session', agent.session_id],
      ['pane', agent.pane],
      ...turnBranchFacts(turn_branch, screen),
    ],
    screen,
  )
  const asks = agent.asks?.length ? ['', asksView(agent.asks, screen)] : []
  const said =
    evidence.length === 0 ? 'No source reports anything: the agent is not running.' : evidenceTable(evidence, screen)
  const before = history.length === 0 ? [] : ['', 'Before:', historyTable(history, screen)]
  return [facts, ...asks, '', said, ...before].join('\n')
}

/** `working, hook:PostToolUse 3m ago, on sk-7`. */
function heartbeatLine({ heartbeat }: Explanation['agent'], screen: Screen): string | undefined {
  if (!heartbeat) return undefined
  const { state, last_command, timestamp, work } = heartbeat
  const last = timestamp ? `${last_command} ${relativeTime(timestamp, screen.nowMs)}` : 'never'
  return [state, last, ...(work === undefined ? [] : [`on ${work}`])].join(', ')
}

/** The steps of an agent's last start. */
export function startView({ agent, start }: Explanation, screen: Screen): string {
  if (!start) return safe`The start of ${agent.address} was not recorded.`
  const { steps, at, topic, sender } = start
  const total = steps.reduce((sum, { ms }) => sum + ms, 0)
  const facts = card(
    [
      ['agent', agent.address],
      ['started', localAndRelativeTime(at, screen.nowMs)],
      ['topic', topic],
      ['sender', sender],
      ['took', `${Math.round(total)} ms`],
    ],
    screen,
  )
  const list = table(
    steps,
    [
      { header: 'STEP', text: ({ name }) => name },
      { header: 'MS', text: ({ ms, outcome }) => (outcome === 'skipped' ? '' : ms.toFixed(1)) },
      { header: 'OUTCOME', text: ({ outcome }) => outcome },
      { header: 'NOTE', text: ({ note }) => note ?? '', shrinkTo: 12 },
    ],
    screen,
  )
  return [facts, '', list].join('\n')
}

function evidenceTable(evidence: Explanation['evidence'], screen: Screen): string {
  return table<Explanation['evidence'][number]>(
    evidence,
    [
      { header: '', text: ({ decided }) => (decided ? '→' : '') },
      { header: 'SOURCE', text: ({ source }) => source },
      { header: 'SAYS', text: saysOf },
      { header: 'WHEN', text: ({ at }) => relativeTime(at, screen.nowMs) },
      { header: 'RULE', text: ({ rule }) => rule ?? '', shrinkTo: 10 },
      { header: 'REASON', text: ({ reason }) => reason ?? '', shrinkTo: 12 },
    ],
    screen,
  )
}

const saysOf = ({ status, waiting_for, trouble }: Omit<Evidence, 'at'>): string => {
  const detail = waiting_for ?? trouble
  return detail ? `${status} (${detail})` : status
}

function historyTable(history: Explanation['history'], screen: Screen): string {
  return table(
    history,
    [
      { header: 'WHEN', text: ({ at }) => relativeTime(at, screen.nowMs) },
      { header: 'STATUS', text: ({ status }) => status },
      { header: 'SOURCE', text: ({ source }) => source },
      { header: 'REASON', text: ({ reason }) => reason ?? '', shrinkTo: 12 },
    ],
    screen,
  )
}
