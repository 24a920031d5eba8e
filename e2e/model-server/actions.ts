import type { OfferedTool } from './request.js'
import type { ToolCall } from './script.js'

/** What the model wants done, without the name that this program has for it. */
export type Action =
  | { readonly run: string; readonly outsideSandbox?: boolean }
  | { readonly write: { readonly path: string; readonly content: string } }
  | { readonly delegate: string }
  | { readonly tool: string; readonly input: unknown }

type Make<Wanted> = (wanted: Wanted, tool: OfferedTool) => unknown
type Command = Extract<Action, { run: string }>
type File = Extract<Action, { write: object }>['write']

/** How each program calls running a command, best first. */
const RUN: Readonly<Record<string, Make<Command>>> = {
  exec_command: ({ run, outsideSandbox }) => ({
    cmd: run,
    ...(outsideSandbox
      ? { sandbox_permissions: 'require_escalated', justification: 'The test wants to be asked.' }
      : {}),
  }),
  shell_command: ({ run }) => ({ command: run }),
  run_shell_command: ({ run }, tool) => ({
    command: run,
    description: 'A command of the test',
    ...(tool.parameters.includes('is_background') ? { is_background: false } : {}),
  }),
  bash: ({ run }, tool) => ({
    command: run,
    ...(tool.parameters.includes('description') ? { description: 'A command of the test' } : {}),
  }),
  Bash: ({ run }) => ({ command: run, description: 'A command of the test' }),
}

const pathName = (tool: OfferedTool): string => tool.parameters.find((name) => /path/i.test(name)) ?? 'path'
const WRITE: Readonly<Record<string, Make<File>>> = {
  write_file: ({ path, content }, tool) => ({ [pathName(tool)]: path, content }),
  write: ({ path, content }, tool) => ({ [pathName(tool)]: path, content }),
  Write: ({ path, content }) => ({ file_path: path, content }),
  apply_patch: ({ path, content }, tool) => {
    const lines = content.replace(/\n$/, '').split('\n')
    const patch = ['*** Begin Patch', `*** Add File: ${path}`, ...lines.map((line) => `+${line}`), '*** End Patch', '']
    return tool.isFreeform ? patch.join('\n') : { input: patch.join('\n') }
  },
}

/** How programs call giving a task to a sub-agent. */
const DELEGATE: Readonly<Record<string, Make<string>>> = {
  Agent: (prompt) => ({ description: 'A task of the test', prompt, subagent_type: 'general-purpose' }),
  Task: (prompt) => ({ description: 'A task of the test', prompt, subagent_type: 'general-purpose' }),
  task: (prompt) => ({ description: 'A task of the test', prompt, subagent_type: 'general' }),
}

/** The call that does this with the tools this program offers. */
export function toolCall(action: Action, tools: readonly OfferedTool[], id: string): ToolCall {
  if ('tool' in action) {
    const isFreeform = tools.some((tool) => tool.name === action.tool && tool.isFreeform)
    return { id, name: action.tool, input: action.input, isFreeform }
  }
  const made =
    'run' in action
      ? firstOffered(RUN, action, tools)
      : 'write' in action
        ? firstOffered(WRITE, action.write, tools)
        : firstOffered(DELEGATE, action.delegate, tools)
  if (!made) throw new Error(`No tool for ${JSON.stringify(action)} among ${tools.map((tool) => tool.name).join(', ')}`)
  return { id, name: made.tool.name, input: made.input, isFreeform: made.tool.isFreeform }
}

function firstOffered<Wanted>(
  ways: Readonly<Record<string, Make<Wanted>>>,
  wanted: Wanted,
  tools: readonly OfferedTool[],
) {
  for (const [name, make] of Object.entries(ways)) {
    const tool = tools.find((one) => one.name === name)
    if (tool) return { tool, input: make(wanted, tool) }
  }
}
