import { type AgentId, type Instant, msOf, type SessionId } from '../../model/index.js'
import type { AgentRun, Binding } from '../agent-run.js'
import { lastTurn, latestOf, turnEndOf } from '../status/turn-end.js'

/** The beginning or the end of a turn, at which the code is captured. */
export interface TurnEdge {
  agent: AgentId
  session: SessionId
  directory: string
  moment: 'prompt' | 'stop'
  at: Instant
}

/** The last beginning and the last end of an agent's turns that were captured, or given up. */
export interface CapturedEdges {
  prompt?: Instant
  stop?: Instant
  /** The session and the directory of that beginning: the agent may be in others when the turn has to be ended. */
  session?: SessionId
  directory?: string
}

/** What is known of an agent once this edge was captured. */
export const capturedWith = ({ moment, at, session, directory }: TurnEdge): CapturedEdges =>
  moment === 'stop' ? { stop: at } : { prompt: at, session, directory }

/** Two reports of one prompt, such as those of a hook and of a registry, are not further apart. */
const SAME_PROMPT_MS = 2_000
/** A beginning that is older than this shows nothing any more once its turn has ended. */
const OLD_PROMPT_MS = 60_000

/**
 * What is to be captured of an agent's last turn. Decided from the agent's file and from what was captured before, so that it makes no
 * difference which process read the report, or whether the daemon was killed in between.
 */
export function turnEdges(run: AgentRun, captured: CapturedEdges, nowMs: number): TurnEdge[] {
  const { binding, agent, recipe } = run
  if (!binding) return []
  const edge = (moment: TurnEdge['moment'], at: Instant): TurnEdge => ({
    agent,
    session: binding.session,
    directory: recipe.cwd,
    moment,
    at,
  })
  const left = leftOpen(binding, captured)
  if (left) return [{ agent, moment: 'stop', ...left }, ...turnEdges(run, { ...captured, stop: left.at }, nowMs)]
  const { prompt, stop } = edgesOf(run, captured)
  const edges: TurnEdge[] = []
  if (prompt !== undefined) {
    const isOver = stop !== undefined && stop > prompt
    if (!isOver || nowMs - msOf(prompt) < OLD_PROMPT_MS) edges.push(edge('prompt', prompt))
  }
  if (stop !== undefined && stop > (captured.stop ?? '')) edges.push(edge('stop', stop))
  return edges
}

/**
 * A turn that was under way when its agent began another conversation, by a handoff or in its program: it ended there. Without that end,
 * everything that anybody writes later would look like its work.
 */
function leftOpen(
  { session: now, since }: Binding,
  { prompt, stop, session, directory }: CapturedEdges,
): Pick<TurnEdge, 'session' | 'directory' | 'at'> | undefined {
  if (prompt === undefined || session === undefined || directory === undefined || session === now) return undefined
  return prompt > (stop ?? '') ? { session, directory, at: since > prompt ? since : prompt } : undefined
}

function edgesOf(run: AgentRun, captured: CapturedEdges): { prompt?: Instant | undefined; stop?: Instant | undefined } {
  const { told = [], busy_at, prompted_at, sent_at, background, run: live } = run
  const { begun_at, end, isOpen } = lastTurn({
    told,
    busy_at,
    turn_end: turnEndOf(run),
    ...(live ? { run: live } : {}),
  })
  // A turn that left sub-agents or shells at work is over all the same; what they bring begins another.
  const rested = background && background.count > 0 ? background.at : undefined
  const stop = live?.ended_at !== undefined && isOpen ? live.ended_at : latestOf(end?.at, rested)
  const begun = isOpen ? (busy_at ?? begun_at) : undefined
  const given = latestOf(prompted_at, sent_at)
  const prompt = isAnother(given, captured) ? given : isBeginning(begun, captured, end?.at) ? begun : undefined
  return { prompt, stop }
}

/** A prompt that was reported, also one that was typed while a turn went on. A turn may be over in a moment: then the next prompt is another. */
function isAnother(prompted: Instant | undefined, { prompt, stop }: CapturedEdges): boolean {
  if (prompted === undefined || prompt === undefined) return prompted !== undefined
  if (stop !== undefined && stop > prompt && prompted > stop) return true
  return msOf(prompted) - msOf(prompt) >= SAME_PROMPT_MS
}

/** Work that began after the last end, with no prompt captured since. A turn that goes on after a question was answered is no other turn. */
function isBeginning(begun: Instant | undefined, { prompt, stop }: CapturedEdges, ended: Instant | undefined): boolean {
  if (begun === undefined) return false
  const lastEnd = latestOf(stop, ended)
  return begun > (lastEnd ?? '') && (prompt === undefined || (lastEnd !== undefined && prompt <= lastEnd))
}
