import { type Agent, msOf, SkeinError } from '../../model/index.js'
import type { LoggedTurn } from '../../tools/index.js'
import { type AgentRun, liveRun } from '../agent-run.js'
import { type Parts, pause } from '../parts.js'
import { activityOf } from '../status/evidence.js'
import { turnsOf } from '../status/logged-turn.js'
import { readScreenOf } from '../status/screen-of.js'
import { keptText } from './kept-text.js'

/** Lines above the screen that are read when the screen is all there is. */
const HISTORY_LINES = 200
/** Up to the second: the program and its hook do not look at the clock at the same moment. */
const SECOND = '2026-01-17T08:30:00'.length
/** By then a program shows the conversation that it resumes. */
const RESUMED_MS = 10_000
/** So far apart a program and its hook may date the same prompt. */
const CLOCKS_MS = 3_000
const READINGS = 8
const READ_AGAIN_MS = 200

export interface AgentOutput {
  text: string
  from: 'log' | 'screen'
  /** The last prompt has no reply (yet): this is the one to a prompt before it. */
  is_earlier?: true
}

/** The last reply: as the conversation's log has it, else what is on the screen. Without secrets: scripts and logs read it. */
export async function outputOf(
  parts: Parts,
  agent: Agent,
  run: AgentRun | undefined,
  { screen = false }: { screen?: boolean } = {},
): Promise<AgentOutput> {
  const isOnScreen = screen || (run !== undefined && (await showsNew(parts, run)))
  const reply = isOnScreen ? undefined : await lastReply(parts, run)
  if (reply) {
    const text = await keptText(parts, reply.text)
    return { text, from: 'log', ...(reply.isEarlier ? { is_earlier: true } : {}) }
  }
  const shown = await screenText(parts, run)
  if (shown !== undefined) return { text: await keptText(parts, shown), from: 'screen' }
  const next = run?.run ? `Start it again: skein restart ${agent.address}` : `Start it: skein start ${agent.address}`
  throw new SkeinError('agent-not-running', `${agent.address} has no reply in its log and no screen`, next)
}

/**
 * Of the conversation it is in. A program says that it has finished before its log says what: a log without the last
 * reply is read again. One that is not there, or that no reader knows, is no reply.
 */
async function lastReply(
  parts: Parts,
  run: AgentRun | undefined,
): Promise<{ text: string; isEarlier: boolean } | undefined> {
  if (!run?.binding || run.binding.how === 'made') return undefined
  const isQuiet = activityOf(run.status) === 'quiet'
  for (let tries = 1; ; tries += 1) {
    const turns = await turnsOf(parts, run)
    const last = turns.at(-1)
    const isLatest = (last?.started_at ?? '').slice(0, SECOND) >= (run.prompted_at ?? '').slice(0, SECOND)
    const isWhole = last?.reply !== undefined && isLatest
    if (isWhole || !isQuiet || tries >= READINGS) {
      const text = turns.findLast(({ reply }) => reply)?.reply
      return text === undefined ? undefined : { text, isEarlier: !last?.reply || isBefore(last, run) }
    }
    await pause(READ_AGAIN_MS)
  }
}

/** A turn that was begun before the last prompt was sent, also by a clock that is a little behind. */
const isBefore = ({ started_at }: LoggedTurn, { prompted_at }: AgentRun): boolean =>
  started_at !== undefined && prompted_at !== undefined && msOf(prompted_at) - msOf(started_at) > CLOCKS_MS

/**
 * Whether another conversation was begun in the program, in which nothing was said yet: some programs name it only with its first
 * prompt. A program that has just been started shows an empty one before the one it resumes.
 */
async function showsNew(parts: Parts, run: AgentRun): Promise<boolean> {
  const live = liveRun(run)
  const runner = parts.runners.find(({ name }) => name === run.recipe.tool)
  if (!live || !runner) return false
  if (parts.context.clock.now() - msOf(live.started_at) < RESUMED_MS) return false
  try {
    return (await readScreenOf(runner, await parts.terminals.of(live.socket), live)).isNew === true
  } catch (error) {
    if (error instanceof SkeinError) return false
    throw error
  }
}

/** Blank lines above and below what a program has drawn are no output of it. */
export const withoutBlankEnds = (screen: string): string => screen.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd()

async function screenText({ terminals }: Parts, run: AgentRun | undefined): Promise<string | undefined> {
  const live = run?.run
  if (!live || !run) return undefined
  try {
    const terminal = await terminals.of(live.socket)
    // The pane of a run that is over is kept until the next one; it must still be this agent's.
    if (!liveRun(run) && (await terminal.pane(live.pane)).agent !== run.agent) return undefined
    return withoutBlankEnds(await terminal.capture(live.pane, { history: HISTORY_LINES }))
  } catch (error) {
    if (error instanceof SkeinError) return undefined
    throw error
  }
}
