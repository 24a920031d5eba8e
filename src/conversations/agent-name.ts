import { SkeinError } from '../model/index.js'

declare const agentNameBrand: unique symbol
/** The `<id>` of `agent:<id>:…`: names the agent's directory and the owner of every key in it. */
export type AgentName = string & { readonly [agentNameBrand]: 'AgentName' }

export const DEFAULT_AGENT = 'main' as AgentName

// It becomes a directory name: no dot, no slash, nothing that needs quoting.
const AGENT_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/

/** Case and surrounding spaces do not matter; anything else odd is refused, never bent into another agent's name. */
export function parseAgentName(text: string): AgentName {
  const name = text.trim().toLowerCase()
  if (AGENT_NAME.test(name)) return name as AgentName
  throw new SkeinError(
    'bad-id',
    `${JSON.stringify(text.slice(0, 80))} cannot be an agent id`,
    'Use 1 to 64 letters, digits, "_" or "-", starting with a letter or digit',
  )
}
