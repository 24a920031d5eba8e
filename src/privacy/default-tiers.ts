import type { CallTiers, Tier } from './tier.js'

/** What a kind of tool does, what is kept of its calls, and why. */
interface ToolKind {
  readonly what: string
  readonly tiers: CallTiers
  readonly because: string
  /** What the kind is called in each agent program; also a glob. */
  readonly names: readonly string[]
}

const both = (tier: Tier): CallTiers => ({ arguments: tier, result: tier })

/** Names as they stand in the logs of Claude Code, Codex, Gemini CLI, opencode and pi. The first match in this order counts for a glob. */
export const TOOL_KINDS: readonly ToolKind[] = [
  {
    what: 'search',
    tiers: both('full'),
    because: 'patterns and names of files: useful, rarely sensitive',
    names: [
      'Glob',
      'Grep',
      'LS',
      'glob',
      'grep',
      'find',
      'ls',
      'list',
      'list_directory',
      'list_dir',
      'search_file_content',
      'grep_search',
      'grep_files',
      'ToolSearch',
      'codesearch',
    ],
  },
  {
    what: 'read a file',
    tiers: { arguments: 'full', result: 'redacted' },
    because: 'the path is useful; the content is somebody else’s text',
    names: [
      'Read',
      'NotebookRead',
      'read',
      'read_file',
      'read_many_files',
      'view_image',
      'ReadMcpResourceTool',
      'ListMcpResourcesTool',
    ],
  },
  {
    what: 'run a command',
    tiers: both('redacted'),
    because: 'commands carry variables, passwords and tokens, and print them',
    names: [
      'Bash',
      'BashOutput',
      'KillShell',
      'KillBash',
      'PowerShell',
      'Monitor',
      'shell',
      'shell_command',
      'local_shell',
      'local_shell_call',
      'container.exec',
      'exec',
      'exec_command',
      'unified_exec',
      'write_stdin',
      'js_repl',
      'run_shell_command',
      'bash',
    ],
  },
  {
    what: 'change a file',
    tiers: both('metadata'),
    because: 'whole files pass through: large, and the code is in the repository anyway',
    names: [
      'Edit',
      'MultiEdit',
      'Write',
      'NotebookEdit',
      'apply_patch',
      'patch',
      'write_file',
      'replace',
      'edit',
      'multiedit',
      'write',
    ],
  },
  {
    what: 'read the web',
    tiers: both('full'),
    because: 'addresses and public pages',
    names: [
      'WebFetch',
      'WebSearch',
      'web_fetch',
      'web_search',
      'web_search_call',
      'google_web_search',
      'webfetch',
      'websearch',
    ],
  },
  {
    what: 'plan and delegate',
    tiers: both('redacted'),
    because: 'prompts for other agents repeat earlier text, secrets included',
    names: [
      'Task',
      'Agent',
      'Skill',
      'task',
      'skill',
      'spawn_agent',
      'send_input',
      'activate_skill',
      'delegate_to_agent',
      'SlashCommand',
      'AskUserQuestion',
      'question',
      'ask_user',
      'request_user_input',
    ],
  },
  {
    what: 'keep a list of things to do',
    tiers: both('full'),
    because: 'short lines the agent wrote about its own plan',
    names: [
      'TodoWrite',
      'TodoRead',
      'TaskCreate',
      'TaskUpdate',
      'TaskList',
      'TaskGet',
      'todowrite',
      'todoread',
      'update_plan',
      'write_todos',
      'EnterPlanMode',
      'ExitPlanMode',
    ],
  },
  {
    what: 'remember',
    tiers: both('redacted'),
    because: 'people ask agents to remember passwords',
    names: ['save_memory', 'memory'],
  },
  {
    what: 'call a server',
    tiers: both('redacted'),
    because: 'the arguments and results of a custom server are unknown',
    names: ['mcp__*', '*__*', 'mcp_*'],
  },
]

/** What holds for a tool that nobody named. */
export const UNKNOWN_TOOL: CallTiers = both('redacted')
