import { basename, join } from 'node:path'
import type { SessionId } from '../../model/index.js'
import { checkPrompt } from '../log/check-text.js'
import { builtInRules } from '../patterns/built-in.js'
import type { Launch, Preparation, ToolRunner } from '../run/tool-runner.js'
import { readInputBy, readScreenBy, readTitleBy } from '../screen/read-screen.js'
import { pi } from './pi.js'
import { readPiEvent } from './pi-events.js'
import { installedExtension, piExtension } from './pi-extension.js'
import { piLogPath } from './pi-name.js'

const NAME = 'pi'

export const piRunner: ToolRunner = {
  name: NAME,
  icon: 'π',
  account: { variable: 'PI_CODING_AGENT_DIR', root: (directory) => directory },
  can: { chooseId: 'seed', resume: true, fork: true, tells: true, asks: false, choosesModel: true, mcp: false },
  prepare,
  readMessage: readPiEvent,
  readTitle: (title) => readTitleBy(builtInRules(NAME), title),
  readScreen: (screen) => readScreenBy(builtInRules(NAME), screen),
  readInput: (screen) => readInputBy(builtInRules(NAME), screen),
  hasConversation: (session, environment) => piLogOf({ environment }, session) !== undefined,
  checkText: (text) =>
    checkPrompt('pi', text, {
      signs: [
        { sign: '/', does: 'run a slash command', spaceHelps: true },
        { sign: '!', does: 'run it in a shell' },
      ],
      openEnd: /(^|\s)@\S*$/,
    }),
  keys: { interrupt: ['Escape'], clear: Array.from({ length: 12 }, () => 'C-u'), quit: ['C-d'] },
  isEndTold: true,
  isProcess: (name) => basename(name) === NAME,
  install: {
    kind: 'file',
    path: ({ home, env }) => join(env.PI_CODING_AGENT_DIR || join(home, '.pi', 'agent'), 'extensions', 'skein.ts'),
    content: installedExtension,
  },
}

function prepare(launch: Launch): Preparation {
  const { kind, session, origin, directory, environment, command, model, args } = launch
  const extension = join(directory, 'pi-extension.mjs')
  const log = session && kind !== 'fork' ? piLogOf(launch, session) : undefined
  const seed = session && kind !== 'fork' && !log ? seededLog(launch, session) : undefined
  const source = origin && piLogOf(launch, origin)
  const opened =
    kind === 'fork' ? (source ? ['--fork', source] : []) : session ? ['--session', log ?? seed?.path ?? session] : []
  return {
    argv: [
      ...(command ?? ([NAME] as const)),
      '--extension',
      extension,
      ...opened,
      ...(model ? ['--model', model] : []),
      ...(args ?? []),
    ],
    // An agent started from within another pi is not part of it.
    env: environment.env.PI_CODING_AGENT ? { PI_CODING_AGENT: undefined } : {},
    files: [{ path: extension, content: piExtension(launch) }, ...(seed ? [{ ...seed, onlyIfAbsent: true }] : [])],
    ...(session && kind !== 'fork' ? { session } : {}),
  }
}

function piLogOf({ environment }: Pick<Launch, 'environment'>, session: SessionId): string | undefined {
  return pi.discover(environment).find((log) => log.session === session)?.path
}

/** The header alone: pi goes on with it as with any session of its own, and so takes its id. */
function seededLog({ environment, cwd, startedAt }: Launch, session: SessionId): { path: string; content: string } {
  const header = { type: 'session', version: 3, id: session, timestamp: startedAt, cwd }
  return { path: piLogPath(environment, { session, cwd, at: startedAt }), content: `${JSON.stringify(header)}\n` }
}
