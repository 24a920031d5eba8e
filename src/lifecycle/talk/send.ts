import { statOf } from '../../disk/index.js'
import { type Agent, type AgentStatus, type Instant, SkeinError, shownReason } from '../../model/index.js'
import type { Terminal } from '../../terminal/index.js'
import type { ToolRunner } from '../../tools/index.js'
import { type AgentRun, type LiveRun, liveRun } from '../agent-run.js'
import { refuseUsedUp } from '../budget/standing.js'
import { nowOf, type Parts, pause, runnerOf } from '../parts.js'
import { activityOf } from '../status/evidence.js'
import { hasSpoken, isTimeUp } from '../status/has-spoken.js'
import { type Observed, observe } from '../status/observe.js'
import { readScreenOf, screenOf } from '../status/screen-of.js'
import { atWork, noteSending, recordPrompt } from './sent-prompt.js'

const LOOK_MS = 120
/** Until it is ready: its first prompt waits for it. */
const STARTING_LOOK_MS = 50
/** How long an agent that is not ready is waited for, and one that is still starting. */
const READY_MS = 20_000
const STARTING_MS = 90_000
/** A screen that has not changed for so long shows all that its program had to show. */
const STEADY_MS = 700
/** A pasted text is to be seen within this. */
const ARRIVES_MS = 5_000
/** Text that still stands in the input line so long after Enter was not sent by it: Enter is pressed again, so often at most. */
const LOST_ENTER_MS = 1_500
const MOST_ENTERS = 6
/** When nothing has moved for so long after Enter, it is said to be stalled. */
const STALLED_MS = 5_000
/** A screen that has moved for so long without its program having shown anything else has taken the text. */
const MOVED_MS = 500
/** Between text and Enter: programs that are still taking in a paste would take Enter for a part of it. */
const BEFORE_ENTER_MS = 150
/** A long draft is cleared a few lines at a time. */
const CLEARINGS = 6

export interface Sent {
  delivery: 'received' | 'typed' | 'stalled'
  how: string
  at: Instant
  /** It was at work on something else: the prompt may wait behind that. */
  isQueued: boolean
}

export interface SendOptions {
  /** Empties the input line first when somebody has left unsent text there. */
  replaceDraft?: boolean
  /** Called right before the text is typed. */
  onTyping?: () => Promise<void>
  signal?: AbortSignal | undefined
}

/**
 * Types a prompt into an agent. Never into a dialog, where a key is an answer: the screen is read before the text and
 * again before Enter. What was typed is never typed twice: when it is not clear what became of it, that is what is said.
 */
export async function send(parts: Parts, agent: Agent, text: string, options: SendOptions = {}): Promise<Sent> {
  const stored = await parts.runs.read(agent.id)
  const live = liveRun(stored)
  // Before anything else: an agent that its budget has stopped cannot be started either.
  await refuseUsedUp(parts, agent)
  if (!stored || !live) throw notRunning(agent)
  const runner = runnerOf(parts, stored.recipe.tool)
  const checked = runner.checkText(text)
  if (checked.kind === 'refused') throw new SkeinError('text-refused', checked.because, checked.next)
  using _typing = await parts.runs.hold(agent.id, 'keys')
  const terminal = await parts.terminals.of(live.socket)
  const ready = await untilReady(parts, agent, runner, terminal, options.signal)
  await clearDraft(parts, agent, live, runner, terminal, options)
  const isQueued = activityOf(ready.verdict?.status ?? { status: 'unknown' }) === 'running'
  const status = ready.verdict?.status.since
  const before: Before = { at: nowOf(parts), logBytes: logSize(ready.run), status, isQueued }
  await options.onTyping?.()
  await paste(agent, live, runner, terminal, checked.text)
  const receipt = await submit(parts, agent, live, runner, terminal, before, options.signal)
  await recordSent(parts, agent, checked.text, receipt, before)
  return { ...receipt, isQueued }
}

/**
 * Sends what was typed before and, as far as is known, still stands in the input line: whoever typed it was killed, or the program took
 * neither text nor key in time. What is no longer there was taken by the program, which has not said so.
 */
export async function submitTyped(parts: Parts, agent: Agent, text: string, typedAt: Instant): Promise<Sent> {
  const stored = await parts.runs.read(agent.id)
  const live = liveRun(stored)
  if (!stored || !live) throw notRunning(agent)
  const runner = runnerOf(parts, stored.recipe.tool)
  using _typing = await parts.runs.hold(agent.id, 'keys')
  const terminal = await parts.terminals.of(live.socket)
  const before: Before = { at: typedAt, logBytes: undefined, status: undefined, isQueued: false }
  const [seen] = await observe(parts, new Set([agent.id]))
  const proof = seen && proofOf(seen, before, runner)
  if (proof) return { delivery: 'received', how: proof, at: typedAt, isQueued: false }
  const input = runner.readInput?.(await screenOf(terminal, live))
  if (input === '') {
    const how = 'it was typed and is no longer in the input line; nothing else confirms it'
    const sent: Sent = { delivery: 'typed', how, at: typedAt, isQueued: false }
    await recordSent(parts, agent, text, sent, { isQueued: false, ...(runner.can.tells ? {} : { sentAt: typedAt }) })
    return sent
  }
  const receipt = await submit(parts, agent, live, runner, terminal, before, undefined)
  if (receipt.delivery !== 'stalled') await recordSent(parts, agent, text, receipt, before)
  return { ...receipt, isQueued: false }
}

/** Enter, unless a dialog has opened in the meantime, and what came of it. */
async function submit(
  parts: Parts,
  agent: Agent,
  live: LiveRun,
  runner: ToolRunner,
  terminal: Terminal,
  before: Before,
  signal: AbortSignal | undefined,
): Promise<Omit<Sent, 'isQueued'>> {
  await refuseDialog(parts, agent, live, runner, terminal, 'The text is in its input line and was not sent')
  before.screen = await terminal.capture(live.pane)
  if (!runner.can.tells) before.sentAt = await noteSending(parts, agent, before.isQueued)
  await terminal.press(live.pane, ['Enter'])
  return receiptFor(parts, agent, live, runner, terminal, before, signal)
}

async function recordSent(
  parts: Parts,
  agent: Agent,
  text: string,
  { delivery }: Pick<Sent, 'delivery'>,
  { sentAt, isQueued }: Pick<Before, 'sentAt' | 'isQueued'>,
) {
  const isTurn = sentAt !== undefined && delivery !== 'stalled'
  await parts.runs.update(agent, (current) => {
    if (!current) return undefined
    const payload = { agent_id: agent.id, bytes: Buffer.byteLength(text), delivery }
    const next = isTurn && !isQueued ? atWork(current, sentAt) : current
    return { next, events: [{ type: 'agent_sent', payload }], isDurable: false, result: undefined }
  })
  if (isTurn) await recordPrompt(parts, agent, text, sentAt)
}

export const notRunning = (agent: Agent): SkeinError =>
  new SkeinError('agent-not-running', `${agent.address} is not running`, `Start it: skein start ${agent.address}`)

/** An agent that starts is waited for; one that asks something, or shows what no rule knows, is not typed into. */
async function untilReady(
  parts: Parts,
  agent: Agent,
  runner: ToolRunner,
  terminal: Terminal,
  signal: AbortSignal | undefined,
): Promise<Observed> {
  const begun = performance.now()
  for (;;) {
    const [seen] = await observe(parts, new Set([agent.id]))
    const status = seen?.verdict?.status
    if (!seen || !status || !liveRun(seen.run)) throw notRunning(agent)
    const activity = activityOf(status)
    if (activity === 'blocked') throw isAsking(agent, status)
    // After a failed turn the prompt is there again.
    const canListen = activity === 'quiet' || activity === 'running' || activity === 'failed'
    if (canListen && hasSpoken(parts, seen.run, runner) && (await isSteady(parts, seen.run, runner, terminal)))
      return seen
    const isLate = canListen && !hasSpoken(parts, seen.run, runner)
    const patience = activity === 'starting' || isLate ? STARTING_MS : READY_MS
    if (performance.now() >= begun + patience || signal?.aborted)
      throw notReady(agent, isLate ? 'it has not reported yet that it is ready' : status.reason)
    await pause(activity === 'starting' ? STARTING_LOOK_MS : LOOK_MS, signal)
  }
}

/** Once, whatever becomes of it: a second paste could meet the first. Enter is pressed only after the text was seen to arrive. */
async function paste(agent: Agent, live: LiveRun, runner: ToolRunner, terminal: Terminal, text: string): Promise<void> {
  await terminal.paste(live.pane, text)
  await pause(BEFORE_ENTER_MS)
  if (await hasArrived(live, runner, terminal)) return
  throw new SkeinError(
    'agent-not-ready',
    `The text did not appear in the input line of ${agent.address} within ${ARRIVES_MS / 1_000} s; Enter was not pressed`,
    `Look at it: skein attach ${agent.address}`,
  )
}

async function hasArrived(live: LiveRun, runner: ToolRunner, terminal: Terminal): Promise<boolean> {
  const until = performance.now() + ARRIVES_MS
  for (;;) {
    const input = runner.readInput?.(await screenOf(terminal, live))
    if (input !== '') return true // there, or not to be seen
    if (performance.now() >= until) return false
    await pause(LOOK_MS)
  }
}

/** Such a program may still be taking up an old conversation when it says that it has started, and then empties its input line. */
async function isSteady(
  parts: Parts,
  run: AgentRun | undefined,
  runner: ToolRunner,
  terminal: Terminal,
): Promise<boolean> {
  const live = liveRun(run)
  const hasListened = live !== undefined && (run?.prompted_at ?? '') >= live.started_at
  if (!runner.isReadyWhenTold || !live || hasListened || isTimeUp(parts, live)) return true
  const before = await terminal.capture(live.pane)
  await pause(STEADY_MS)
  return (await terminal.capture(live.pane)) === before
}

const isAsking = (agent: Agent, status: AgentStatus): SkeinError =>
  new SkeinError(
    'agent-not-ready',
    `${agent.address} waits for an answer (${shownReason(status) ?? status.waiting_for}); text would be taken as that answer`,
    `Answer it: skein approve ${agent.address} , skein deny ${agent.address} or skein attach ${agent.address}`,
  )

const notReady = (agent: Agent, reason: string | undefined): SkeinError =>
  new SkeinError(
    'agent-not-ready',
    `Nothing was typed into ${agent.address}: ${reason ?? 'it is still starting'}`,
    `Look at it: skein attach ${agent.address} , or record the screen for a report: skein doctor --record ${agent.address}`,
  )

async function refuseDialog(
  parts: Parts,
  agent: Agent,
  live: LiveRun,
  runner: ToolRunner,
  terminal: Terminal,
  state: string,
): Promise<void> {
  const reading = await readScreenOf(runner, terminal, live)
  const isBlocked = reading.dialog !== undefined || activityOf(reading) === 'blocked'
  const [seen] = isBlocked ? [] : await observe(parts, new Set([agent.id]))
  const status = seen?.verdict?.status
  if (!isBlocked && (!status || activityOf(status) !== 'blocked')) return
  const asks = reading.reason ?? status?.reason ?? 'a dialog has opened'
  throw new SkeinError(
    'agent-not-ready',
    `${agent.address}: ${asks}. ${state}`,
    `Answer it, then look: skein attach ${agent.address}`,
  )
}

/** Somebody's unsent words: neither sent with ours nor thrown away unasked. */
async function clearDraft(
  parts: Parts,
  agent: Agent,
  live: LiveRun,
  runner: ToolRunner,
  terminal: Terminal,
  { replaceDraft }: SendOptions,
): Promise<void> {
  await refuseDialog(parts, agent, live, runner, terminal, 'Nothing was typed')
  const { draft, status, rule, reason } = await readScreenOf(runner, terminal, live)
  // A view that a rule knows and that is no place for a prompt: a shell mode would run it.
  if (status === 'unknown' && rule !== undefined) throw notReady(agent, reason)
  if (draft === undefined) return
  const shown = JSON.stringify(draft.slice(0, 60))
  if (!replaceDraft) {
    const next = `Send it yourself (skein attach ${agent.address}), or give --replace-draft`
    throw new SkeinError('agent-not-ready', `The input line of ${agent.address} contains unsent text: ${shown}`, next)
  }
  for (let tries = 0; tries < CLEARINGS; tries += 1) {
    await terminal.press(live.pane, runner.keys.clear)
    await pause(LOOK_MS)
    if ((await readScreenOf(runner, terminal, live)).draft === undefined) return
  }
  const next = `Clear it yourself: skein attach ${agent.address}`
  throw new SkeinError(
    'agent-not-ready',
    `The text in the input line of ${agent.address} could not be cleared: ${shown}`,
    next,
  )
}

interface Before {
  at: Instant
  /** It was at work on something else. */
  isQueued: boolean
  /** When Enter was pressed, for a program that reports no prompt. */
  sentAt?: Instant
  /** With the text in its input line. */
  screen?: string
  logBytes: number | undefined
  status: Instant | undefined
}

/** By the program's own word, by its log, or by its being at work since; else only that it was typed. */
async function receiptFor(
  parts: Parts,
  agent: Agent,
  live: LiveRun,
  runner: ToolRunner,
  terminal: Terminal,
  before: Before,
  signal: AbortSignal | undefined,
): Promise<Omit<Sent, 'isQueued'>> {
  const at = before.at
  let pressedAt = performance.now()
  let until = pressedAt + STALLED_MS
  let enters = 1
  let movedAt: number | undefined
  for (;;) {
    const [seen] = await observe(parts, new Set([agent.id]))
    const proof = seen && proofOf(seen, before, runner)
    if (proof) return { delivery: 'received', how: proof, at }
    if (performance.now() >= until || signal?.aborted) break
    // One that confirms nothing is not waited for once its input line is empty and its screen has moved.
    const shown = runner.can.tells ? undefined : await whatTheScreenShows(runner, terminal, live, before)
    movedAt = shown?.delivery === 'typed' ? (movedAt ?? performance.now()) : undefined
    if (shown && movedAt !== undefined && performance.now() - movedAt >= MOVED_MS) return { ...shown, at }
    // A busy program loses an Enter that comes while it still takes in the text. The text is seen to stand there before each.
    if (enters < MOST_ENTERS && performance.now() >= pressedAt + LOST_ENTER_MS) {
      const now = await readScreenOf(runner, terminal, live).catch(() => undefined) // its pane may have gone with its program
      if (now && !now.dialog && now.draft !== undefined) {
        enters += 1
        pressedAt = performance.now()
        until = pressedAt + STALLED_MS
        await terminal.press(live.pane, ['Enter'])
      }
    }
    await pause(LOOK_MS, signal)
  }
  return { ...(await whatTheScreenShows(runner, terminal, live, before)), at }
}

/** Nothing confirms it: whether it has at least left the input line. A screen that is as it was has not moved. */
async function whatTheScreenShows(
  runner: ToolRunner,
  terminal: Terminal,
  live: LiveRun,
  before: Before,
): Promise<Pick<Sent, 'delivery' | 'how'>> {
  const screen = await terminal.capture(live.pane).catch(() => before.screen)
  const reading = await readScreenOf(runner, terminal, live).catch(() => undefined)
  const isMoved = screen !== before.screen && reading !== undefined && reading.draft === undefined
  return isMoved
    ? { delivery: 'typed', how: 'the text has left the input line; nothing else confirms it' }
    : { delivery: 'stalled', how: `nothing has changed for ${STALLED_MS / 1_000} s` }
}

function proofOf({ run, verdict }: Observed, before: Before, runner: ToolRunner): string | undefined {
  if (run?.prompted_at !== undefined && run.prompted_at >= before.at) return 'its program reported the prompt'
  // A program that tells of prompts writes other things into its log, too: that it was resumed, for one.
  const grown = runner.can.tells ? undefined : logSize(run)
  if (before.logBytes !== undefined && grown !== undefined && grown > before.logBytes) return 'its log has grown'
  const status = verdict?.status
  if (!status || !run) return undefined
  // One that tells may look busy for other reasons: while it takes up an old conversation, for one.
  if (runner.can.tells && (status.source === 'title' || status.source === 'pane')) return undefined
  const isSince = status.since >= before.at
  if (isSince && ['running', 'blocked'].includes(activityOf(status) ?? ''))
    return `${status.source} says ${status.status}`
  const isEnded = run.turn_end !== undefined && run.turn_end.at >= before.at
  return isEnded ? `${status.source} reports that it has ${run.turn_end?.how} since` : undefined
}

function logSize(run: AgentRun | undefined): number | undefined {
  const log = run?.binding?.log
  return log ? statOf(log)?.size : undefined
}
