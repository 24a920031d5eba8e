import type { Spent } from '../../index/index.js'
import type { TurnBranchView } from '../../lifecycle/index.js'
import { durationMs, formatDuration, isActive, type Session, type Step } from '../../model/index.js'
import { card } from '../screen/card.js'
import { localAndRelativeTime, localTime } from '../screen/moment.js'
import { grouped, money } from '../screen/money.js'
import { plural } from '../screen/plural.js'
import { safe } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { table } from '../screen/table.js'
import { outcomeText } from './session-table.js'
import { turnBranchFacts } from './turn-branch-view.js'

/** What its log says about a session. */
export interface Told {
  turns: number
  tool_calls: number
  unread_lines: number
  unknown_records: number
  spent: Spent | undefined
  /** Those that its log names, where the session itself has none. */
  models?: readonly string[] | undefined
  /** The newest turns, drawn. */
  table?: string | undefined
}

/** Everything about one session, and what one can type next. */
export function sessionCard(session: Session & { turn_branch?: TurnBranchView }, screen: Screen, told: Told): string {
  const facts = card(
    [
      ['session', session.id],
      ['title', session.title],
      ['outcome', outcomeText(session)],
      ['reason', session.reason],
      ['tool', session.tool],
      ['model', session.model ?? told.models?.join(', ')],
      ['agent', session.agent],
      ['agent id', session.agent_id],
      ['rig', session.rig],
      ['role', session.role],
      ['topic', session.topic],
      ['sender', session.sender],
      ['host', session.host],
      ['tmux', session.tmux_session],
      ['started', localAndRelativeTime(session.started_at, screen.nowMs)],
      ['ended', session.ended_at && localAndRelativeTime(session.ended_at, screen.nowMs)],
      ['time', formatDuration(durationMs(session, screen.nowMs))],
      ['work', session.work_unit],
      ['molecule', session.molecule_id],
      ['step', session.step_ref],
      ['directory', session.cwd],
      ['branch', session.branch],
      ['commits', session.commits?.join(' ')],
      ...turnBranchFacts(session.turn_branch, screen),
      ['chain', session.chain_id],
      ['continues', session.parent_id && `${session.parent_id} (${session.link ?? 'handoff'})`],
      ['continued by', session.child_id],
      ['forked from', session.forked_from && forkText(session.forked_from)],
      ['turns', told.turns || undefined],
      ['tool calls', told.tool_calls || undefined],
      ['not read', notUnderstood(told)],
      ['tokens', told.spent && grouped(told.spent.tokens)],
      ['cost', told.spent && money(told.spent)],
    ],
    screen,
  )
  const steps = session.steps?.length ? [stepTable(session.steps, screen)] : []
  const turns = told.table ? [told.table] : []
  return [facts, ...steps, ...turns, nextCommands(session, told)].join('\n\n')
}

/** What its log holds that nobody counted: the totals may lack it. */
function notUnderstood({ unread_lines, unknown_records }: Told): string | undefined {
  const parts = [
    ...(unread_lines > 0 ? [plural(unread_lines, 'damaged line')] : []),
    ...(unknown_records > 0 ? [`${plural(unknown_records, 'record')} of unknown type`] : []),
  ]
  return parts.length > 0 ? parts.join(', ') : undefined
}

function forkText({ session, turn }: NonNullable<Session['forked_from']>): string {
  return turn === undefined ? session : `${session} at turn ${turn}`
}

function stepTable(steps: readonly Step[], screen: Screen): string {
  return table(
    steps,
    [
      { header: 'STEP', text: (step) => step.step_ref, shrinkTo: 10 },
      { header: 'MOLECULE', text: (step) => step.molecule_id ?? '', shrinkTo: 8 },
      { header: 'STARTED', text: (step) => localTime(step.started_at) },
      { header: 'COMPLETED', text: (step) => (step.completed_at ? localTime(step.completed_at) : '') },
      { header: 'RESULT', text: stepResult },
    ],
    screen,
  )
}

function stepResult(step: Step): string {
  if (step.completed_at === undefined) return 'open'
  return step.success === false ? 'failed' : 'done'
}

function nextCommands(session: Session, told: Told): string {
  const turns = told.turns > 0 ? [safe`skein turns ${session.id}`] : []
  const related = session.parent_id || session.child_id ? [safe`skein sessions chain ${session.id}`] : []
  const forked = session.forked_from ? [safe`skein sessions tree ${session.id}`] : []
  const open = isActive(session) ? [safe`skein session end ${session.id} --outcome done`] : []
  const next = [...turns, ...related, ...forked, ...open, safe`skein events tail --session ${session.id}`]
  return ['Next:', ...next.map((line) => `  ${line}`)].join('\n')
}
