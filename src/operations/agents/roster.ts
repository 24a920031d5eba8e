import type { AddAgentOptions, Home } from '../../home/index.js'
import { commandWords, toolOfCommand } from '../../tools/index.js'
import { optional, repeated, required, type Values } from '../field.js'
import { agentRef, directory, freeText, text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { usageError } from '../usage-error.js'
import { AGENT } from './agent-fields.js'

/** What can be said about an agent, beside its address and tool. */
const FACTS = {
  title: optional(freeText('text'), 'The name shown to people', { short: 't' }),
  command: optional(text('command'), "What to run in place of the tool's program; the tool's arguments follow", {
    short: 'c',
  }),
  project: optional(directory, 'Working directory'),
  role: optional(text('role'), 'Its role'),
  mcp: repeated(text('name'), 'An MCP server to load'),
}

function factsOf(given: Values<typeof FACTS>): Partial<Omit<AddAgentOptions, 'id' | 'address' | 'parent' | 'tool'>> {
  const { title, command, project, role, mcp } = given
  if (command !== undefined) commandWords(command) // refused now rather than at the start
  return {
    ...present({ title, command, project_path: project, role }),
    ...(mcp.length > 0 ? { loaded_mcp_names: mcp } : {}),
  }
}

/** The tool that a command runs; a program that is no tool of ours is a `custom` one. */
async function toolBy(command: string, { programs }: Home): Promise<string> {
  const { all } = await programs.runners()
  const names = all.map(({ name }) => name)
  return toolOfCommand(commandWords(command), names) ?? 'custom'
}

/** No address begins like this. */
const PATH = /^(~|\.{0,2}\/|\.{1,2}$)/

export const agentsAdd = operation({
  name: 'agents.add',
  does: 'acts',
  where: 'either',
  summary: 'Add an agent',
  description: 'An address is a path of groups and a name: web/backend/api. Groups that do not exist yet are created.',
  input: {
    address: required(text('address', 'group'), 'Its groups and name'),
    tool: optional(
      text('tool'),
      'The program it runs: claude, codex, gemini ...; otherwise the one that --command names',
    ),
    ...FACTS,
    parent: optional(agentRef, 'The agent that spawned it'),
  },
  result: 'agent',
  async run({ address, tool, parent, ...given }, { home }) {
    const { command } = given
    if (PATH.test(address))
      throw usageError(
        `${JSON.stringify(address)} is a directory, and an agent needs a name`,
        `Use: skein agents add <name> --project ${JSON.stringify(address)}`,
      )
    if (tool === undefined && command === undefined)
      throw usageError('Missing --tool or --command', 'Use --tool claude, or --command "claude --verbose"')
    const facts = factsOf(given)
    const open = await home()
    const meant = tool ?? (await toolBy(command ?? '', open))
    return open.roster.add({ address, tool: meant, ...facts, ...present({ parent }) })
  },
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
      throw usageError('Nothing to change', 'Name what to change, for example --title. See: skein agents set --help')
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
