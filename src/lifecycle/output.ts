import { type Agent, type Instant, type SessionId, SkeinError } from '../model/index.js'
import { foldSession, LOG_TOOLS } from '../tools/index.js'
import { type AgentRun, liveRun } from './agent-run.js'
import { type Parts, pause } from './parts.js'

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

/** How long a log may be behind what its program tells. */
const BEHIND_MS = 3_000
const LOOK_MS = 100

/** The reply to a prompt that was sent at this moment, once the log has it; else what stands on the screen. */
export async function replySince(parts: Parts, agent: Agent, since: Instant): Promise<string> {
  const until = parts.context.clock.now() + BEHIND_MS
  for (;;) {
    const run = await parts.runs.read(agent.id)
    const reply = await lastReply(parts, run, since)
    if (reply !== undefined) return reply
    if (parts.context.clock.now() >= until) return (await outputOf(parts, agent, run, { screen: true })).text
    await pause(LOOK_MS)
  }
}

/** Of the conversation it is in. A log that is not there yet, or that no reader knows, is no reply. */
async function lastReply(parts: Parts, run: AgentRun | undefined, since?: Instant): Promise<string | undefined> {
  const session = run?.binding?.session
  if (!session) return undefined
  try {
    const { turns } = await parts.home.history.turns(session)
    return replyOf(turns, since) ?? replyOf(unreadTurns(parts, run, session), since)
  } catch (error) {
    if (error instanceof SkeinError) return replyOf(unreadTurns(parts, run, session), since)
    throw error
  }
}

interface Turn {
  started_at?: Instant | undefined
  reply?: string | undefined
}

function replyOf(turns: readonly Turn[], since?: Instant): string | undefined {
  const mine = since === undefined ? turns : turns.filter(({ started_at }) => (started_at ?? since) >= since)
  return mine.findLast(({ reply }) => reply !== undefined && reply !== '')?.reply
}

/** From a log that is so new that it was not ingested yet: the program, or its tool, knows where it is. */
function unreadTurns({ environment }: Parts, { recipe, binding }: AgentRun, session: SessionId): readonly Turn[] {
  const tool = LOG_TOOLS.find(({ name }) => name === recipe.tool)
  const log = binding?.log
    ? tool?.logAt(binding.log, session)
    : tool?.discover(environment).find((one) => one.session === session)
  return tool && log ? foldSession([tool.read(log)]).turns : []
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
