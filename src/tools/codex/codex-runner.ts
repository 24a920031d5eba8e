import { basename, join } from 'node:path'
import { checkPrompt } from '../log/check-text.js'
import { builtInRules } from '../patterns/built-in.js'
import { hookLine } from '../run/hook-line.js'
import type { Launch, Preparation, Screen, ToolRunner } from '../run/tool-runner.js'
import { readInputBy, readScreenBy, readTitleBy } from '../screen/read-screen.js'
import { CODEX_HOOKS, readCodexHook } from './codex-hooks.js'
import { codexLogOf, codexRoots } from './codex-roots.js'
import { providerFor, seededLog } from './codex-seed.js'

const NAME = 'codex'
/** Seconds that Codex waits for an installed hook. */
const HOOK_TIMEOUT = 10

export const codexRunner: ToolRunner = {
  name: NAME,
  icon: '⬢',
  account: { variable: 'CODEX_HOME', root: (directory) => directory },
  can: { chooseId: 'seed', resume: true, fork: true, tells: true, asks: true, choosesModel: true, mcp: false },
  prepare,
  readMessage: readCodexHook,
  readTitle: (title) => readTitleBy(builtInRules(NAME), title),
  readScreen: (screen) => readScreenBy(builtInRules(NAME), screen),
  readInput: (screen) => readInputBy(builtInRules(NAME), screen),
  isFirstPicture,
  hasConversation: (session, environment) => codexLogOf(environment, session) !== undefined,
  checkText: (text) =>
    checkPrompt('Codex', text, {
      signs: [
        { sign: '/', does: 'run a slash command', spaceHelps: true },
        { sign: '!', does: 'run it in a shell' },
      ],
      // A list of files or skills is open after these, and Enter would take its first row.
      openEnd: /(^|\s)[@$]\S*$/,
    }),
  keys: { interrupt: ['Escape'], clear: Array.from({ length: 12 }, () => 'C-u'), quit: ['C-c'] },
  isProcess: (name) => basename(name) === NAME,
  install: {
    kind: 'settings',
    path: (environment) => join(codexRoots(environment)[0] ?? '', 'hooks.json'),
    events: ['SessionStart', 'SessionEnd'],
    next: 'At its next start, Codex asks whether you trust these hooks. It runs them once you do',
    entry: (command) => ({ hooks: [{ type: 'command', command, timeout: HOOK_TIMEOUT }] }),
  },
}

/** It sets its title and names its model below the input line when it has asked all that it asks at its start; its header comes before. */
function isFirstPicture(screen: Screen): boolean {
  const rules = builtInRules(NAME)
  if (!readScreenBy(rules, screen).isNew) return false
  const hasTitle = readTitleBy(rules, screen.title) !== undefined || /^Starting( \||$)/.test(screen.title.trim())
  const input = screen.lines.findLastIndex((line) => line.startsWith('›'))
  return !hasTitle && !screen.lines.slice(input + 1).some((line) => / · [~/]/.test(line))
}

function prepare(launch: Launch): Preparation {
  const { kind, session, origin, environment, cwd, startedAt } = launch
  const root = codexRoots(environment)[0] ?? ''
  const isUnwritten = session !== undefined && kind !== 'fork' && codexLogOf(environment, session) === undefined
  const provider = providerFor(join(root, 'config.toml'), launch.args ?? [])
  const seed = isUnwritten ? seededLog({ root, session, cwd, at: startedAt, provider }) : undefined
  const what = kind === 'fork' ? (origin ? ['fork', origin] : []) : session ? ['resume', session] : []
  return {
    argv: [...(launch.command ?? ([NAME] as const)), ...what, ...optionsOf(launch)],
    env: {},
    files: seed ? [{ ...seed, onlyIfAbsent: true }] : [],
    ...(session && kind !== 'fork' ? { session } : {}),
  }
}

/**
 * Without the shared daemon: it would run the agent with the environment of whoever started it first. The hooks are ours for
 * this run alone, and Codex runs hooks that it has not been told to trust only when asked to.
 */
function optionsOf({ spool, model, dangerous, args }: Launch): string[] {
  const hooks = CODEX_HOOKS.flatMap((event) => [
    '-c',
    `hooks.${event}=[{hooks=[{type="command",command=${tomlText(hookLine(spool, event))},timeout=${HOOK_TIMEOUT}}]}]`,
  ])
  return [
    '--no-daemon',
    '--dangerously-bypass-hook-trust',
    ...hooks,
    // Its state in words, and nothing that moves: so a title change is a change of state, and tmux tells it at once.
    '-c',
    'tui.terminal_title=["spinner","run-state","project-name"]',
    '-c',
    'tui.animations=false',
    ...(model ? ['--model', model] : []),
    ...(dangerous ? ['--dangerously-bypass-approvals-and-sandbox'] : []),
    ...(args ?? []),
  ]
}

/** JSON's escapes are all known to TOML's basic strings. */
const tomlText = (text: string): string => JSON.stringify(text).replaceAll('\u007f', '\\u007f')
