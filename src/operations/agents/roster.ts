import type { AddAgentOptions } from '../../home/index.js'
import { optional, repeated, required, type Values } from '../field.js'
import { agentRef, directory, freeText, text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { usageError } from '../usage-error.js'
import { AGENT } from './agent-fields.js'

/** What can be said about an agent, beside its address and tool. */
const FACTS = {
  title: optional(freeText('text'), 'The name shown to people'),
  command: optional(text('command'), 'The command to run instead of the tool'),
  project: optional(directory, 'Working directory'),
  role: optional(text('role'), 'Its role'),
  mcp: repeated(text('name'), 'An MCP server to load'),
}

function factsOf(given: Values<typeof FACTS>): Partial<Omit<AddAgentOptions, 'address' | 'parent' | 'tool'>> {
  const { title, command, project, role, mcp } = given
  return {
    ...present({ title, command, project_path: project, role }),
    ...(mcp.length > 0 ? { loaded_mcp_names: mcp } : {}),
  }
}

export const agentsAdd = operation({
  name: 'agents.add',
  does: 'acts',
  where: 'either',
  summary: 'Add an agent',
  description: 'An address is a path of groups and a name: web/backend/api. Groups that do not exist yet are created.',
  input: {
    address: required(text('address', 'group'), 'Its groups and name'),
    tool: required(text('tool'), 'The program it runs: claude, codex, gemini ...'),
    ...FACTS,
    parent: optional(agentRef, 'The agent that spawned it'),
  },
  result: 'agent',
  run: async ({ address, tool, parent, ...given }, { home }) =>
    (await home()).roster.add({ address, tool, ...factsOf(given), ...present({ parent }) }),
})

export const agentsShow = operation({
  name: 'agents.show',
  does: 'reads',
  where: 'either',
  summary: 'Show one agent',
  input: { agent: AGENT },
  result: 'agent',
  run: async ({ agent }, { home }) => (await home()).roster.agent(agent),
})

export const agentsSet = operation({
  name: 'agents.set',
  does: 'acts',
  where: 'either',
  summary: 'Change facts about an agent',
  input: { agent: AGENT, tool: optional(text('tool'), 'The program it runs'), ...FACTS },
  result: 'agent',
  async run({ agent, tool, ...given }, { home, agents }) {
    const facts = factsOf(given)
    const hasFacts = Object.keys(facts).length > 0
    if (!hasFacts && tool === undefined)
      throw usageError('Nothing to change', 'Say what to change, for example --title. See: skein agents set --help')
    if (tool !== undefined) await (await agents()).setTool(agent, tool)
    const { roster } = await home()
    return hasFacts ? roster.update(agent, facts) : roster.agent(agent)
  },
})

export const agentsSetParent = operation({
  name: 'agents.set-parent',
  does: 'acts',
  where: 'either',
  summary: 'Set the agent that spawned another',
  description: 'Without a parent: no agent spawned it.',
  input: { agent: AGENT, parent: optional(agentRef, 'The agent that spawned it') },
  result: 'agent',
  run: async ({ agent, parent }, { home }) => (await home()).roster.setParent(agent, parent),
})
