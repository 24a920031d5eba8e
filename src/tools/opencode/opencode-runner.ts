import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { SkeinError } from '../../model/index.js'
import { isObject, type JsonObject, listAt } from '../json-value.js'
import { checkPrompt } from '../log/check-text.js'
import { builtInRules } from '../patterns/built-in.js'
import type { Launch, Preparation, ToolRunner } from '../run/tool-runner.js'
import { readScreenBy, readTitleBy } from '../screen/read-screen.js'
import { answerOpencode } from './opencode-answer.js'
import { readOpencodeEvent } from './opencode-events.js'
import { opencodeId } from './opencode-id.js'
import { installedPlugin, OPENCODE_USER, opencodePlugin } from './opencode-plugin.js'

const NAME = 'opencode'

export const opencodeRunner: ToolRunner = {
  name: NAME,
  icon: '▣',
  account: { variable: 'XDG_DATA_HOME', root: (directory) => join(directory, 'opencode') },
  can: { chooseId: 'flag', resume: true, fork: true, tells: true, asks: true, choosesModel: true, mcp: false },
  prepare,
  readMessage: readOpencodeEvent,
  readTitle: (title) => readTitleBy(builtInRules(NAME), title),
  readScreen: (screen) => readScreenBy(builtInRules(NAME), screen),
  hasConversation: async (session, environment) => {
    const { opencode } = await import('./opencode.js') // with what reads databases, which most commands do without
    return opencode.discover(environment).some((log) => log.session === session)
  },
  checkText: (text) =>
    checkPrompt('opencode', text, {
      signs: [
        { sign: '/', does: 'run a slash command', spaceHelps: true },
        { sign: '!', does: 'run it in a shell' },
      ],
      // A list of files is open after this, and Enter would take its first row.
      openEnd: /(^|\s)@\S*$/,
    }),
  // The first Escape asks whether it is meant. Control-C empties the whole input line, but in an empty one it leaves the program.
  keys: {
    interrupt: ['Escape', 'Escape'],
    clear: Array.from({ length: 12 }, () => ['C-u', 'BSpace']).flat(),
    quit: ['C-c'],
  },
  isEndTold: true,
  isProcess: (name) => basename(name) === NAME,
  answer: answerOpencode,
  install: {
    kind: 'file',
    path: ({ home, env }) => join(env.XDG_CONFIG_HOME || join(home, '.config'), 'opencode', 'plugin', 'skein.js'),
    content: installedPlugin,
  },
}

function prepare(launch: Launch): Preparation {
  const { kind, origin, directory, environment, port, secret, command, model, dangerous, args } = launch
  const session = kind === 'fork' ? undefined : launch.session && opencodeId(launch.session)
  const plugin = join(directory, 'opencode-plugin.mjs')
  const opened =
    kind === 'fork' ? (origin ? ['--session', origin, '--fork'] : []) : session ? ['--session', session] : []
  return {
    argv: [
      ...(command ?? ([NAME] as const)),
      '--port',
      String(port),
      ...opened,
      ...(model ? ['--model', model] : []),
      ...(args ?? []),
    ],
    env: {
      OPENCODE_CONFIG_CONTENT: configWith(environment.env.OPENCODE_CONFIG_CONTENT, plugin, dangerous === true),
      OPENCODE_SERVER_USERNAME: OPENCODE_USER,
      OPENCODE_SERVER_PASSWORD: secret,
    },
    files: [{ path: plugin, content: opencodePlugin(launch, session) }],
    ...(session ? { session } : {}),
  }
}

/** What the user has in the variable stays; it is read after all of the user's files, which stay as they are too. */
function configWith(own: string | undefined, plugin: string, dangerous: boolean): string {
  const config = parsed(own)
  const plugins = [...listAt(config, 'plugin'), pathToFileURL(plugin).href]
  return JSON.stringify({ ...config, plugin: plugins, ...(dangerous ? { permission: 'allow' } : {}) })
}

function parsed(own: string | undefined): JsonObject {
  if (!own?.trim()) return {}
  try {
    const config: unknown = JSON.parse(own)
    if (isObject(config)) return config
  } catch {
    // told below
  }
  throw new SkeinError(
    'bad-config',
    'OPENCODE_CONFIG_CONTENT does not contain a JSON object',
    'Correct or unset the variable',
  )
}
