import { type Agent, SkeinError } from '../model/index.js'
import { type AgentRun, liveRun } from './agent-run.js'
import type { Parts } from './parts.js'

/** Lines above the screen that are read when the screen is all there is. */
const HISTORY_LINES = 200

/** The last reply: as the conversation's log has it, else what stands on the screen. */
export async function outputOf(
  parts: Parts,
  agent: Agent,
  run: AgentRun | undefined,
  { screen = false }: { screen?: boolean } = {},
): Promise<{ text: string; from: 'log' | 'screen' }> {
  const reply = screen ? undefined : await lastReply(parts, run)
  if (reply !== undefined) return { text: reply, from: 'log' }
  const shown = await screenText(parts, run)
  if (shown !== undefined) return { text: shown, from: 'screen' }
  const next = run?.run ? `Start it again: skein restart ${agent.address}` : `Start it: skein start ${agent.address}`
  throw new SkeinError('agent-not-running', `${agent.address} has neither a reply in its log nor a screen`, next)
}

/** Of the conversation it is in. A log that is not there yet, or that no reader knows, is no reply. */
async function lastReply({ home }: Parts, run: AgentRun | undefined): Promise<string | undefined> {
  const session = run?.binding?.session
  if (!session) return undefined
  try {
    const { turns } = await home.history.turns(session)
    return turns.findLast(({ reply }) => reply !== undefined && reply !== '')?.reply
  } catch (error) {
    if (error instanceof SkeinError) return undefined
    throw error
  }
}

async function screenText({ terminals }: Parts, run: AgentRun | undefined): Promise<string | undefined> {
  const live = run?.run
  if (!live || !run) return undefined
  try {
    const terminal = await terminals.of(live.socket)
    // The pane of a run that is over is kept until the next one; it must still be this agent's.
    if (!liveRun(run) && (await terminal.pane(live.pane)).agent !== run.agent) return undefined
    return (await terminal.capture(live.pane, { history: HISTORY_LINES })).trimEnd()
  } catch (error) {
    if (error instanceof SkeinError) return undefined
    throw error
  }
}
