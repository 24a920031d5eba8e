import type { NewEvent } from '../../home/index.js'
import type { Agent, Evidence, Outcome } from '../../model/index.js'
import { isEndedNote, type PaneInfo } from '../../terminal/index.js'
import { troubleAtExit } from '../../tools/index.js'
import type { AgentRun, LiveRun, RunEnd } from '../agent-run.js'
import type { Parts } from '../parts.js'
import { recordEnd } from '../run/recorded-session.js'
import { keptText } from '../talk/kept-text.js'

/** Lines and characters that are kept of the last screen of a program that died. */
const LAST_LINES = 40
const LAST_CHARACTERS = 4_000

const OUTCOMES: Readonly<Record<RunEnd['how'], Outcome>> = {
  stopped: 'exit',
  killed: 'killed',
  exited: 'exit',
  crashed: 'crash',
  lost: 'lost',
}

/** Records that a run has ended by itself, as its process and its pane show it: in its session, and as events. */
export async function recordRunEnd(
  parts: Parts,
  agent: Agent,
  run: AgentRun,
  live: LiveRun,
  seen: { process: Evidence; pane?: PaneInfo | undefined },
): Promise<{ end: RunEnd; events: Omit<NewEvent, 'agent'>[] }> {
  const seenEnd = runEndOf(live, seen)
  const isUnasked = seenEnd.how === 'crashed' || seenEnd.how === 'exited'
  const screen = isUnasked && seen.pane ? await lastScreen(parts, live) : []
  const end = explained(seenEnd, live, screen)
  await recordEnd(parts, run.binding?.session, OUTCOMES[end.how], end.reason)
  return { end, events: endEvents(agent, run, live, end, end.how === 'crashed' ? screen : []) }
}

/** A program that left by itself may have said why: one that cannot log in, or has reached a limit, would only leave again. */
function explained(end: RunEnd, { asked }: LiveRun, screen: readonly string[]): RunEnd {
  const why = asked || end.exit_status === undefined ? undefined : troubleAtExit(screen)
  return why ? { ...end, trouble: why.trouble, reason: `${end.reason}: ${why.said}` } : end
}

function runEndOf({ asked }: LiveRun, { process, pane }: { process: Evidence; pane?: PaneInfo | undefined }): RunEnd {
  const facts = {
    reason: process.reason ?? 'it ended',
    ...(pane?.exitStatus === undefined ? {} : { exit_status: pane.exitStatus }),
    ...(pane?.exitSignal === undefined ? {} : { signal: pane.exitSignal }),
  }
  if (asked) return { how: asked.how, ...facts, ...(asked.reason === undefined ? {} : { reason: asked.reason }) }
  if (process.status === 'stopped') return { how: 'exited', ...facts }
  return { how: process.trouble === 'tmux-gone' ? 'lost' : 'crashed', ...facts }
}

/** `agent_stopped` for every end; `session_death` beside it for one that its user did not ask for, and `kill` for one that was killed. */
export function endEvents(
  { id, address }: Agent,
  { binding, recipe }: AgentRun,
  run: LiveRun,
  { how, reason, exit_status, signal }: RunEnd,
  screen: readonly string[] = [],
): Omit<NewEvent, 'agent'>[] {
  const session = binding?.session
  const exit = exit_status === undefined ? {} : { exit_status }
  const stopped = { agent_id: id, run: run.id, how, reason, ...exit, ...(signal === undefined ? {} : { signal }) }
  const events: Omit<NewEvent, 'agent'>[] = [{ type: 'agent_stopped', payload: stopped }]
  const about = session === undefined ? {} : { session }
  if (how === 'killed') events.push({ type: 'kill', ...about, payload: { agent_id: id, target: address, reason } })
  if (how === 'stopped' || how === 'exited') return events
  const payload = {
    agent_id: id,
    agent: address,
    ...about,
    run: run.id,
    how,
    reason,
    ...(exit_status === undefined ? {} : { exit: exit_status }),
    ...(signal === undefined ? {} : { signal }),
    ...(recipe.work ? { work: recipe.work } : {}),
    ...(screen.length > 0 ? { screen } : {}),
  }
  return [...events, { type: 'session_death', ...about, payload }]
}

/** What its user would have seen, without secrets. */
async function lastScreen({ terminals, home }: Parts, { socket, pane }: LiveRun): Promise<string[]> {
  const terminal = await terminals.of(socket).catch(() => undefined)
  const shown = await terminal?.capture(pane, { history: LAST_LINES }).catch(() => undefined)
  const lines = (shown ?? '').split('\n').filter((line) => line.trim() !== '' && !isEndedNote(line))
  const kept = await keptText({ home }, lines.slice(-LAST_LINES).join('\n').slice(-LAST_CHARACTERS))
  return kept === '' ? [] : kept.split('\n')
}
