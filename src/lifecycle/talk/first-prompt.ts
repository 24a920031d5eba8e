import { type Agent, SkeinError } from '../../model/index.js'
import { liveRun } from '../agent-run.js'
import { type Parts, pause } from '../parts.js'
import { isBeingSent, keepPrompt, sendPending } from './pending-prompt.js'
import type { Sent } from './send.js'

const LOOK_MS = 300

/** What became of a first prompt: it was given, or it is kept and why. */
export type FirstPrompt = { sent: Pick<Sent, 'delivery' | 'how'> } | { kept: string }

/**
 * Gives an agent that was just started its prompt. It is kept until its program has it: whoever gives it may be killed, and a program
 * may be asking something, not listening yet, or not take what is typed. `patienceMs`: how long one that does not take it is waited for.
 */
export async function giveFirst(parts: Parts, agent: Agent, text: string, patienceMs = 0): Promise<FirstPrompt> {
  await keepPrompt(parts, agent, text)
  return giveKept(parts, agent, patienceMs)
}

/** The same for a prompt that is kept already. */
export async function giveKept(parts: Parts, agent: Agent, patienceMs = 0): Promise<FirstPrompt> {
  if (parts.isStaying) return given(parts, agent, patienceMs)
  // It is looked at many times: a process per question would take longer than all that is asked.
  await using connected = parts.terminals.connected()
  return await given({ ...parts, terminals: connected }, agent, patienceMs)
}

async function given(parts: Parts, agent: Agent, patienceMs: number): Promise<FirstPrompt> {
  const until = performance.now() + patienceMs
  for (;;) {
    const { sent, because } = await tried(parts, agent)
    if (sent && sent.delivery !== 'stalled') return { sent }
    const run = await parts.runs.read(agent.id)
    const pending = run?.pending_prompt
    if (!pending) return { sent: sent ?? { delivery: 'received', how: 'another process has sent it' } }
    // The daemon looks at the same agents: who types it tells what became of it.
    const isTaken = isBeingSent(pending, parts.context.clock.now())
    if (!isTaken && (performance.now() >= until || !liveRun(run)))
      return { kept: because ?? sent?.how ?? 'its program does not run' }
    await pause(LOOK_MS)
  }
}

async function tried(parts: Parts, agent: Agent): Promise<{ sent?: Sent | undefined; because?: string }> {
  try {
    return { sent: await sendPending(parts, agent) }
  } catch (error) {
    if (!(error instanceof SkeinError) || error.code !== 'agent-not-ready') throw error
    return { because: error.message }
  }
}
