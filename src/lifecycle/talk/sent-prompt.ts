import type { Agent, Instant } from '../../model/index.js'
import { LOG_TOOL_NAMES } from '../../tools/index.js'
import type { AgentRun } from '../agent-run.js'
import { nowOf, type Parts } from '../parts.js'

// What is kept of a prompt that was sent to a program that reports none: when it was, that its turn has begun, and its text.

/** Before the program has it, so that the code is captured as it is now. What waits behind other work begins no turn yet. */
export async function noteSending(parts: Parts, agent: Agent, isQueued: boolean): Promise<Instant> {
  const at = nowOf(parts)
  if (isQueued) return at
  await parts.runs.update(agent, (current) =>
    current ? { next: { ...current, sent_at: at }, isDurable: false, result: undefined } : undefined,
  )
  return at
}

/** A program may be done before anybody has seen it work: the turn has begun all the same. */
export function atWork(run: AgentRun, at: Instant): AgentRun {
  const isSeen = (run.busy_at ?? '') >= at || (run.turn_end?.at ?? '') >= at
  return isSeen || run.run?.ended_at !== undefined ? run : { ...run, busy_at: at }
}

/** The text of the turn, where no log will have it. It was sent, whatever becomes of this. */
export async function recordPrompt(parts: Parts, agent: Agent, text: string, at: Instant): Promise<void> {
  const { home, environment, context, runs } = parts
  try {
    const { binding, recipe } = (await runs.read(agent.id)) ?? {}
    if (!binding || !recipe || LOG_TOOL_NAMES.includes(recipe.tool) || environment.described?.includes(recipe.tool))
      return
    await home.history.logPrompt(binding.session, { prompt: text, at })
  } catch (error) {
    context.warn(`The prompt was sent and not recorded: ${error instanceof Error ? error.message : String(error)}`)
  }
}
