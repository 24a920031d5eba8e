import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { lifeOf, makeDirectory, startTimeOf, writeAtomic } from '../../disk/index.js'
import { type Agent, type Instant, msOf, SkeinError } from '../../model/index.js'
import { type AgentRun, liveRun } from '../agent-run.js'
import { PROMPT_FILE } from '../agent-runs.js'
import { nowOf, type Parts } from '../parts.js'
import { type Sent, send, submitTyped } from './send.js'

/** A prompt that an agent is to be given as soon as it listens. Its words are in a file of their own (`agents/<id>/prompt`, 0600). */
export interface PendingPrompt {
  at: Instant
  /** Since when it may stand in the input line: it is not typed again then, only sent. */
  typed_at?: Instant
  /** The process that is sending it, so that no other does. */
  taker?: { pid: number; process_start?: number; at: Instant }
}

/** Sending takes no longer than this; who takes longer has been stopped or has lost its way. */
const SENDING_MS = 180_000

/** Keeps a prompt for an agent until its program has it, behind one that was kept before and not sent yet. */
export async function keepPrompt(parts: Parts, agent: Agent, text: string): Promise<void> {
  await parts.runs.update(agent, (current) =>
    current ? { next: withPrompt(parts, agent, current, text), result: undefined } : undefined,
  )
}

/** The same as a part of another change. */
export function withPrompt(parts: Parts, agent: Agent, current: AgentRun, text: string): AgentRun {
  const directory = parts.runs.directoryOf(agent.id)
  const before = current.pending_prompt ? readPrompt(parts, agent) : undefined
  makeDirectory(directory)
  writeAtomic(join(directory, PROMPT_FILE), before === undefined ? text : `${before}\n\n${text}`, { durable: true })
  return { ...current, pending_prompt: { at: nowOf(parts) } }
}

/**
 * Sends the prompt that was kept for an agent, if one was: once, by whoever gets there first. Undefined when there is none. It stays kept
 * until its program has it: one that was typed and not taken is sent at the next look.
 */
export async function sendPending(parts: Parts, agent: Agent): Promise<Sent | undefined> {
  if (!(await parts.runs.read(agent.id))?.pending_prompt) return undefined
  const taken = await parts.runs.update(agent, (current) => {
    const pending = current?.pending_prompt
    if (!current || !pending || !liveRun(current) || isBeingSent(pending, parts.context.clock.now())) return undefined
    if (wasReceived(current, pending)) return { next: withoutPrompt(parts, agent, current), result: undefined }
    const start = startTimeOf(process.pid)
    const taker = { pid: process.pid, at: nowOf(parts), ...(start === undefined ? {} : { process_start: start }) }
    const text = readPrompt(parts, agent)
    const isTyped = pending.typed_at !== undefined && pending.typed_at >= (liveRun(current)?.started_at ?? '')
    const result = text === undefined ? undefined : { text, typedAt: isTyped ? pending.typed_at : undefined }
    return { next: { ...current, pending_prompt: { ...pending, taker } }, isDurable: false, result }
  })
  if (taken === undefined) return undefined
  const { text, typedAt } = taken
  try {
    const sent =
      typedAt === undefined
        ? await send(parts, agent, text, { onTyping: () => noteTyping(parts, agent) })
        : await submitTyped(parts, agent, text, typedAt)
    await settle(parts, agent, sent.delivery !== 'stalled')
    return sent
  } catch (error) {
    // It is sent when the agent is ready.
    await settle(parts, agent, !(error instanceof SkeinError) || error.code !== 'agent-not-ready')
    throw error
  }
}

async function noteTyping(parts: Parts, agent: Agent): Promise<void> {
  await parts.runs.update(agent, (current) => {
    const pending = current?.pending_prompt
    if (!current || !pending) return undefined
    const typing = { ...pending, typed_at: nowOf(parts) }
    // A power cut ends the program as well, and with it what was typed.
    return { next: { ...current, pending_prompt: typing }, isDurable: false, result: undefined }
  })
}

export const isBeingSent = ({ taker }: PendingPrompt, nowMs: number): boolean =>
  taker !== undefined &&
  nowMs - msOf(taker.at) < SENDING_MS &&
  lifeOf({ pid: taker.pid, ...(taker.process_start === undefined ? {} : { starttime: taker.process_start }) }) ===
    'alive'

/** Its taker was killed or has given up, and the program has said since that it was given a prompt. */
const wasReceived = ({ prompted_at }: AgentRun, { typed_at }: PendingPrompt): boolean =>
  typed_at !== undefined && prompted_at !== undefined && prompted_at >= typed_at

async function settle(parts: Parts, agent: Agent, isDone: boolean): Promise<void> {
  await parts.runs.update(agent, (current) => {
    if (!current?.pending_prompt) return undefined
    const { taker: _taker, ...pending } = current.pending_prompt
    const next = isDone ? withoutPrompt(parts, agent, current) : { ...current, pending_prompt: pending }
    return { next, result: undefined }
  })
}

/** Its user does not want it any more, or it was sent. */
export function withoutPrompt(parts: Parts, agent: Agent, { pending_prompt: _prompt, ...run }: AgentRun): AgentRun {
  rmSync(join(parts.runs.directoryOf(agent.id), PROMPT_FILE), { force: true })
  return run
}

function readPrompt(parts: Parts, agent: Agent): string | undefined {
  try {
    return readFileSync(join(parts.runs.directoryOf(agent.id), PROMPT_FILE), 'utf8')
  } catch {
    return undefined
  }
}
