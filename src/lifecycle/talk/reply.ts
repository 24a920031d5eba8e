import {
  type Agent,
  type AgentStatus,
  type Instant,
  msOf,
  type SessionId,
  SkeinError,
  shownReason,
} from '../../model/index.js'
import type { LoggedTurn } from '../../tools/index.js'
import { type AgentRun, liveRun } from '../agent-run.js'
import { type Parts, pause } from '../parts.js'
import { activityOf } from '../status/evidence.js'
import { turnsOf } from '../status/logged-turn.js'
import { type Observed, observe } from '../status/observe.js'
import { turnEndOf } from '../status/turn-end.js'
import { gaveUp, type Patience } from './gave-up.js'
import { keptText } from './kept-text.js'
import { outputOf } from './output.js'

const LOOK_MS = 200
/** A program says that it has finished before its log says what: the log is read again for so long. */
const FLUSH_MS = 4_000
/** So many characters of a draft are compared. */
const DRAFT_SHOWN = 60

/** What a prompt led to. `asks`: the turn waits for an answer. `unknown`: it is over, and nothing says what was replied. */
export type PromptOutcome =
  | { outcome: 'replied'; reply: string }
  | { outcome: 'failed' | 'interrupted' | 'asks' | 'unknown'; reason: string }

interface SentPrompt {
  text: string
  at: Instant
  isQueued: boolean
  before: BeforePrompt
}

/** What was so before a prompt was sent, to know its turn by. */
export interface BeforePrompt {
  session: SessionId | undefined
  lastTurn: number
}

export async function beforePrompt(parts: Parts, run: AgentRun | undefined): Promise<BeforePrompt> {
  const turns = run ? await turnsOf(parts, run) : []
  return { session: run?.binding?.session, lastTurn: turns.at(-1)?.number ?? 0 }
}

/** Waits for the end of the turn that a prompt began, and says what became of it: never what an earlier turn said. */
export async function outcomeOf(
  parts: Parts,
  agent: Agent,
  prompt: SentPrompt,
  patience: Patience = {},
): Promise<PromptOutcome> {
  const { timeoutMs } = patience
  const until = timeoutMs === undefined ? undefined : performance.now() + timeoutMs
  let quietSinceMs: number | undefined
  for (;;) {
    const [seen] = await observe(parts, new Set([agent.id]))
    const status = seen?.verdict?.status
    if (!seen?.run || !status || !liveRun(seen.run)) throw ended(agent, status?.reason)
    const activity = activityOf(status)
    if (activity === 'blocked') return { outcome: 'asks', reason: askedIn(status) }
    quietSinceMs = activity === 'quiet' || activity === 'failed' ? (quietSinceMs ?? performance.now()) : undefined
    const isSettled = quietSinceMs !== undefined && performance.now() - quietSinceMs >= FLUSH_MS
    const found = quietSinceMs === undefined ? undefined : await judged(parts, agent, seen, prompt, isSettled)
    if (found) return found
    if ((until !== undefined && performance.now() >= until) || patience.signal?.aborted)
      throw gaveUp(agent, status.status, patience)
    await pause(LOOK_MS, patience.signal)
  }
}

const ended = (agent: Agent, reason: string | undefined): SkeinError =>
  new SkeinError('agent-died', `${agent.address} ended: ${reason ?? 'stopped'}`, `See: skein why ${agent.address}`)

const askedIn = (status: AgentStatus): string => shownReason(status) ?? `it waits for a ${status.waiting_for}`

/** Undefined while it may still be the end of another turn, or one that its log does not have yet. */
async function judged(
  parts: Parts,
  agent: Agent,
  { run, verdict, reading }: Observed,
  { text, at, isQueued, before }: SentPrompt,
  isSettled: boolean,
): Promise<PromptOutcome | undefined> {
  if (!run) return undefined
  const end = verdict?.turn_end ?? turnEndOf(run)
  const isSince = end !== undefined && end.at >= at
  // Behind a turn that was going on, the end may be that one's: then the log knows, or nothing comes after it.
  if (isSince && end.how !== 'finished' && (!isQueued || isSettled))
    return { outcome: end.how, reason: end.reason ?? `the turn was ${end.how}` }
  if (!isSince && !isSettled) return undefined
  const turn = turnOf(
    await turnsOf(parts, run),
    text,
    at,
    run.binding?.session === before.session ? before.lastTurn : 0,
  )
  if (!turn?.isOurs && isSettled && isUnsent(reading?.draft, text))
    return { outcome: 'unknown', reason: 'the prompt is still in its input line and was not sent' }
  if (turn && (turn.isOurs || isSettled)) {
    if (turn.outcome === 'failed')
      return { outcome: 'failed', reason: await keptText(parts, turn.error ?? 'the turn failed') }
    if (turn.outcome === 'aborted') return { outcome: 'interrupted', reason: 'the turn was interrupted' }
    if (turn.reply !== undefined) return { outcome: 'replied', reply: await keptText(parts, turn.reply) }
  }
  if (!isSettled) return undefined
  return isSince ? withoutLog(parts, agent, run) : { outcome: 'unknown', reason: 'nothing shows that a turn has begun' }
}

/** The turn with this prompt, of those since; else the last of them: a prompt may be taken into a turn that goes on. */
function turnOf(
  turns: readonly LoggedTurn[],
  text: string,
  at: Instant,
  lastTurn: number,
): (LoggedTurn & { isOurs: boolean }) | undefined {
  const wanted = words(text)
  const isLater = ({ number, ended_at, started_at }: LoggedTurn): boolean =>
    number > lastTurn || (number === lastTurn && msOf(ended_at ?? started_at ?? at) > msOf(at))
  const since = turns.filter((turn) => turn.live && isLater(turn))
  const own = since.findLast((turn) => turn.number > lastTurn && words(turn.prompt) === wanted)
  const found = own ?? since.at(-1)
  return found && { ...found, isOurs: own !== undefined }
}

/** Some programs cut what they show of a long draft. */
const isUnsent = (draft: string | undefined, text: string): boolean =>
  draft !== undefined && draft.trim() !== '' && words(text).startsWith(words(draft).slice(0, DRAFT_SHOWN))

const words = (text: string): string => text.replace(/\s+/g, ' ').trim()

/** Tools without a log have a screen. */
async function withoutLog(parts: Parts, agent: Agent, run: AgentRun): Promise<PromptOutcome> {
  const shown = await outputOf(parts, agent, run).catch(() => undefined)
  if (shown?.from === 'screen') return { outcome: 'replied', reply: shown.text }
  return { outcome: 'unknown', reason: 'it has finished, and its log has no reply to this prompt' }
}
