import { flag, optional, repeated, type Values } from '../field.js'
import { agentRef, freeText, groupRef, path, text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { usageError } from '../usage-error.js'

/** How an agent is to be started. */
export const LAUNCH = {
  agent: optional(agentRef, 'Its address (default: from the directory)'),
  tool: optional(text('tool'), 'The program to run: claude, codex, ... (see skein tool list)'),
  command: optional(text('command'), "What to run in place of the tool's program; the tool's arguments follow", {
    short: 'c',
  }),
  title: optional(freeText('text'), 'The name shown to people', { short: 't' }),
  group: optional(groupRef, 'The group it belongs to', { aliases: ['rig'] }),
  role: optional(text('role'), 'Its role'),
  parent: optional(agentRef, 'The agent that spawns it'),
  account: optional(text('account'), 'An account of its tool, from [accounts.<name>]'),
  model: optional(text('model'), 'The model to use'),
  work: optional(text('unit'), 'The unit of work it is on'),
  topic: optional(text('topic'), 'Why it is started: cold-start, assigned, patrol, ...'),
  env: repeated(text('NAME[=value]'), 'An environment variable; NAME alone takes the value from your environment'),
  mcp: repeated(text('name'), 'An MCP server to load'),
  arg: repeated(freeText('text'), 'An extra argument for the program, passed unchanged'),
  dangerous: flag('Let it act without asking, if the tool supports that'),
}

export const agentsSpawn = operation({
  name: 'agents.spawn',
  does: 'acts',
  where: 'either',
  summary: 'Create an agent without starting it',
  description: 'So that it can be given work before it runs.',
  input: { cwd: optional(path('directory', 'directory'), 'Its working directory'), ...LAUNCH },
  result: 'running-agent',
  async run({ cwd, env, mcp, arg, dangerous, ...facts }, { agents, cwd: here }) {
    const variables = environmentOf(env)
    return (await agents()).spawn({
      ...present({ cwd, here, ...facts }),
      ...(env.length > 0 ? { env: variables } : {}),
      ...(mcp.length > 0 ? { mcp } : {}),
      ...(arg.length > 0 ? { args: arg } : {}),
      ...(dangerous ? { dangerous } : {}),
    })
  },
})

export type LaunchValues = Values<typeof LAUNCH>

/** Assignments `NAME=value`. The value is never in a message: it may be a secret. */
function environmentOf(assignments: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    assignments.map((given) => {
      const [, name = '', value] = /^([A-Za-z_]\w*)=([\s\S]*)$/.exec(given) ?? []
      if (name === '' || value === undefined)
        throw usageError('env takes NAME=value', 'A name has letters, digits and "_"')
      return [name, value]
    }),
  )
}
