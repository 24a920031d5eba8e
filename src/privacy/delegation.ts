import { type Policy, tiersFor } from './policy.js'
import { type CallTiers, TIERS } from './tier.js'

/** What programs call the tool that starts a sub-agent. */
export const DELEGATING_TOOLS: readonly string[] = ['Task', 'Agent', 'task', 'spawn_agent']

/**
 * Of these tools the one of whose calls the least is kept; the first of several. A sub-agent's prompts and replies are what the call that
 * started it was asked and what it answered. Where it is not known which call that was, the strictest rule counts.
 */
export function strictestTool(policy: Policy, tools: readonly string[], half: keyof CallTiers): string {
  const strictness = (tool: string): number => TIERS.indexOf(tiersFor(policy, tool)[half])
  return tools.reduce((strictest, tool) => (strictness(tool) > strictness(strictest) ? tool : strictest))
}
