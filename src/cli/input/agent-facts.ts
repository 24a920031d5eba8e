import type { AddAgentOptions } from '../../home/index.js'
import { directory, freeText, optional, present, repeated, text, type Values } from '../../operations/index.js'

/** What can be said about an agent, beside its address and tool. */
export const AGENT_FACT_OPTIONS = {
  title: optional(freeText('text'), 'What people see'),
  command: optional(text('command'), 'What to run instead of the tool itself'),
  project: optional(directory, 'Where it works'),
  role: optional(text('role'), 'Its role'),
  mcp: repeated(text('name'), 'An MCP server it has'),
}

export function agentFactsOf(
  given: Values<typeof AGENT_FACT_OPTIONS>,
): Partial<Omit<AddAgentOptions, 'address' | 'parent' | 'tool'>> {
  const { title, command, project, role, mcp } = given
  return {
    ...present({ title, command, project_path: project, role }),
    ...(mcp.length > 0 ? { loaded_mcp_names: mcp } : {}),
  }
}
