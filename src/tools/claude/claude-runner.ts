import { basename, join } from 'node:path'
import { checkPrompt } from '../log/check-text.js'
import { builtInRules } from '../patterns/built-in.js'
import { hookLine } from '../run/hook-line.js'
import type { Launch, Preparation, ToolRunner } from '../run/tool-runner.js'
import { readInputBy, readScreenBy, readTitleBy } from '../screen/read-screen.js'
import { CLAUDE_HOOKS, readClaudeHook } from './claude-hooks.js'
import { mcpConfig } from './claude-mcp.js'
import { claudeRegistry, openClaudeSessions } from './claude-registry.js'
import { claudeRoots, hasClaudeLog } from './claude-roots.js'

const NAME = 'claude'
/** Seconds that Claude Code waits for a hook of ours, which takes a few milliseconds. */
const HOOK_TIMEOUT = 10

/** What a surrounding Claude Code tells its children about itself: an agent started from within one is not part of it. */
const OF_A_SURROUNDING_SESSION = [
  'CLAUDECODE',
  'CLAUDE_CODE_CHILD_SESSION',
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CODE_MESSAGING_SOCKET',
  'CLAUDE_CODE_MESSAGING_TOKEN',
  'CLAUDE_CODE_SESSION_ATTENDED',
  'CLAUDE_CODE_SESSION_ID',
  'CLAUDE_CODE_SSE_PORT',
  'CLAUDE_EFFORT',
  'CLAUDE_ENV_FILE',
  'CLAUDE_PID',
  'CLAUDE_PROJECT_DIR',
]

export const claudeRunner: ToolRunner = {
  name: NAME,
  icon: '✳',
  can: { chooseId: 'flag', resume: true, fork: true, tells: true, asks: true, choosesModel: true, mcp: true },
  prepare,
  readMessage: readClaudeHook,
  readTitle: (title) => readTitleBy(builtInRules(NAME), title),
  readScreen: (screen) => readScreenBy(builtInRules(NAME), screen),
  readInput: (screen) => readInputBy(builtInRules(NAME), screen),
  registry: claudeRegistry,
  account: { variable: 'CLAUDE_CONFIG_DIR', root: (directory) => directory },
  hasConversation: (session, environment) => hasClaudeLog(environment, session),
  openConversations: openClaudeSessions,
  checkText: (text) =>
    checkPrompt('Claude Code', text, {
      signs: [
        { sign: '/', does: 'run a slash command' },
        { sign: '!', does: 'run it in a shell', spaceHelps: true },
      ],
      // After a backslash Enter starts a new line; after @ a list of files may be open.
      openEnd: /\\$|(^|\s)@\S*$/,
    }),
  keys: { interrupt: ['Escape'], clear: Array.from({ length: 12 }, () => 'C-u'), quit: ['C-c', 'C-c'] },
  isProcess: (name) => basename(name) === NAME,
  install: {
    kind: 'settings',
    path: (environment) => join(claudeRoots(environment)[0] ?? '', 'settings.json'),
    events: ['SessionStart', 'SessionEnd'],
    isStrict: true,
    entry: (command) => ({ hooks: [{ type: 'command', command, timeout: HOOK_TIMEOUT }] }),
  },
}

function prepare(launch: Launch): Preparation {
  const settings = join(launch.directory, 'claude-settings.json')
  const argv: [string, ...string[]] = [
    ...(launch.command ?? ([NAME] as const)),
    ...conversationArgs(launch),
    '--settings',
    settings,
  ]
  if (launch.model) argv.push('--model', launch.model)
  if (launch.dangerous) argv.push('--dangerously-skip-permissions')
  const files = [{ path: settings, content: `${JSON.stringify(settingsOf(launch), null, 2)}\n` }]
  if (launch.mcp) {
    const path = join(launch.directory, 'claude-mcp.json')
    files.push({ path, content: `${JSON.stringify(mcpConfig(launch.mcp, launch.cwd, launch.environment), null, 2)}\n` })
    argv.push('--strict-mcp-config', '--mcp-config', path)
  }
  argv.push(...(launch.args ?? []))
  return {
    argv,
    env: Object.fromEntries(OF_A_SURROUNDING_SESSION.map((name) => [name, undefined])),
    files,
    ...(launch.session ? { session: launch.session } : {}),
  }
}

/** An id in use without a log (nothing was ever said) cannot be resumed, but it can be given again. */
function conversationArgs({ kind, session, origin, environment }: Launch): string[] {
  const chosen = session ? ['--session-id', session] : []
  if (kind === 'fork') return origin ? ['--resume', origin, '--fork-session', ...chosen] : chosen
  if (kind === 'resume' && session && hasClaudeLog(environment, session)) return ['--resume', session]
  return chosen
}

/** Added to the user's own settings for this run alone. */
function settingsOf({ spool, dangerous }: Launch): object {
  const hook = (event: string): object[] => [
    { hooks: [{ type: 'command', command: hookLine(spool, event), timeout: HOOK_TIMEOUT }] },
  ]
  // A compaction is only of interest to who answers: Claude Code prints the command on its screen.
  const events = [...CLAUDE_HOOKS, ...(spool.answer ? ['PreCompact'] : [])]
  return {
    hooks: Object.fromEntries(events.map((event) => [event, hook(event)])),
    ...(dangerous ? { skipDangerousModePermissionPrompt: true } : {}),
  }
}
