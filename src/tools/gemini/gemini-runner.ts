import { createHash } from 'node:crypto'
import { basename, join } from 'node:path'
import { parseSessionId, type SessionId, SkeinError } from '../../model/index.js'
import { checkPrompt } from '../log/check-text.js'
import type { LogRef } from '../log/log-tool.js'
import { isReadableLog } from '../log/open-log.js'
import { builtInRules } from '../patterns/built-in.js'
import type { Launch, Preparation, ToolRunner } from '../run/tool-runner.js'
import { readInputBy, readScreenBy, readTitleBy } from '../screen/read-screen.js'
import { gemini } from './gemini.js'
import { geminiHome, HOOK_TIMEOUT, homeOf, rootAside } from './gemini-home.js'
import { GEMINI_HOOKS, readGeminiHook } from './gemini-hooks.js'

const NAME = 'gemini'

export const geminiRunner: ToolRunner = {
  name: NAME,
  icon: '✦',
  account: { variable: 'GEMINI_CLI_HOME', root: (directory) => join(directory, '.gemini') },
  rootAside,
  can: { chooseId: 'flag', resume: true, fork: true, tells: true, asks: true, choosesModel: true, mcp: true },
  prepare,
  readMessage: readGeminiHook,
  readTitle: (title) => readTitleBy(builtInRules(NAME), title),
  readScreen: (screen) => readScreenBy(builtInRules(NAME), screen),
  readInput: (screen) => readInputBy(builtInRules(NAME), screen),
  hasConversation: (session, environment) => geminiLogOf({ environment }, session) !== undefined,
  checkText: (text) =>
    checkPrompt('Gemini CLI', text, {
      signs: [
        { sign: '/', does: 'run a slash command' },
        { sign: '!', does: 'run it in a shell' },
        { sign: '?', does: 'show its shortcuts' },
      ],
      // A list of files is open after this, and Enter would take its first row.
      openEnd: /(^|\s)@\S*$/,
    }),
  keys: {
    interrupt: ['Escape'],
    clear: Array.from({ length: 12 }, () => ['C-u', 'BSpace']).flat(),
    quit: ['C-c', 'C-c'],
  },
  isReadyWhenTold: true,
  isEndTold: true,
  // It is a script, so its process has the name of what runs it.
  isProcess: (name) => [NAME, 'node', 'MainThread'].includes(basename(name)),
  install: {
    kind: 'settings',
    path: (environment) => join(homeOf(environment), '.gemini', 'settings.json'),
    events: ['SessionStart'], // SessionEnd makes it print what it does
    entry: (command) => ({ hooks: [{ type: 'command', command, name: 'skein', timeout: HOOK_TIMEOUT }] }),
  },
}

function prepare(launch: Launch): Preparation {
  const { kind, model, mcp, dangerous, args } = launch
  const session = kind === 'new' ? launch.session && uuid4(launch.session) : launch.session
  const home = geminiHome(launch, GEMINI_HOOKS)
  const argv: Preparation['argv'] = [
    ...(launch.command ?? ([NAME] as const)),
    ...conversationArgs(launch, session),
    ...(model ? ['--model', model] : []),
    ...(mcp ?? []).map((name) => `--allowed-mcp-server-names=${name}`),
    ...(dangerous ? ['--yolo'] : []),
    ...(args ?? []),
  ]
  return {
    argv,
    env: { ...home?.env, ...Object.fromEntries(OF_A_SURROUNDING_SESSION.map((name) => [name, undefined])) },
    files: home?.files ?? [],
    links: home?.links ?? [],
    ...(home ? {} : { isMute: true }),
    ...(session && kind !== 'fork' ? { session } : {}),
  }
}

/** What a surrounding Gemini CLI tells its children about itself. */
const OF_A_SURROUNDING_SESSION = [
  'GEMINI_CLI',
  'GEMINI_CLI_NO_RELAUNCH',
  'GEMINI_SESSION_ID',
  'GEMINI_PROJECT_DIR',
  'GEMINI_CWD',
]

/** A fork copies the other's log under an id of the program's own choice. An id that was never written down is given again. */
function conversationArgs(launch: Launch, session: SessionId | undefined): string[] {
  if (launch.kind === 'fork') {
    const log = launch.origin && geminiLogOf(launch, launch.origin)
    if (log) return ['--session-file', log.path]
    throw new SkeinError('session-not-found', `Gemini CLI has no log of ${launch.origin}`, 'Start a new conversation')
  }
  if (!session) return []
  const log = launch.kind === 'resume' ? geminiLogOf(launch, session) : undefined
  return log && hasPrompt(log) ? ['--resume', session] : ['--session-id', session]
}

/** It does not resume a conversation that was begun with `/clear` and in which nothing was said yet. */
const hasPrompt = (log: LogRef): boolean => {
  for (const fact of gemini.read(log)) if (fact.kind === 'turn') return true
  return false
}

/** A resume may leave an empty file beside the log, with the same ending of its name: the largest is the log. */
function geminiLogOf({ environment }: Pick<Launch, 'environment'>, session: SessionId): LogRef | undefined {
  return gemini
    .discover(environment)
    .filter((log) => log.path.includes(`-${session.slice(0, 8)}.json`))
    .filter((log) => isReadableLog(log.path) && gemini.identify(log).id === session)
    .sort((a, b) => b.size - a.size)[0]
}

const UUID4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
/** It takes any UUID, but tells logs apart by the first eight digits: those must be random, not a time. */
function uuid4(id: SessionId): SessionId {
  if (UUID4.test(id)) return id
  const hex = createHash('sha256').update(id).digest('hex')
  const variant = (8 | (Number.parseInt(hex[16] ?? '0', 16) & 3)).toString(16)
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    `${variant}${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ]
  return parseSessionId(parts.join('-'))
}
