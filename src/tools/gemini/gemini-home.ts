import { join } from 'node:path'
import { readGuarded } from '../../disk/index.js'
import { isObject, type JsonObject, listAt, objectAt } from '../json-value.js'
import { listDirectory } from '../log/log-files.js'
import type { Environment } from '../log/log-tool.js'
import { hookLine } from '../run/hook-line.js'
import { withoutComments } from '../run/json-comments.js'
import type { Launch, Link, Preparation } from '../run/tool-runner.js'
import { lateHookLine } from './gemini-late-answer.js'

/** Milliseconds that it waits for a hook of ours. */
export const HOOK_TIMEOUT = 10_000
const MOST_BYTES = 4 * 1024 * 1024
const SETTINGS = 'settings.json'

/** Made when they are needed: what is put into them must arrive in the user's own home. */
const TMP = 'tmp'
const FOLDERS = [TMP, 'history', 'policies']
const FILES = [
  'a2a-oauth-tokens.json',
  'google_accounts.json',
  'installation_id',
  'mcp-oauth-tokens.json',
  'oauth_creds.json',
  'state.json',
]

const homeIn = (directory: string): string => join(directory, 'gemini-home')

/** Where a run that is aside has its conversations. */
export const rootAside = (directory: string): string => join(homeIn(directory), '.gemini')

/**
 * Gemini CLI reads hooks from settings files alone, and takes a file that is named by a variable only where root owns it and
 * every folder above it. So a run gets a home of its own that consists of links: all in it is the user's, credentials and
 * conversations included, but the settings, which are a copy with our hooks in it. What the program writes into its settings
 * during the run goes into the copy. When it starts it writes a summary into the newest other conversation of the directory, so a run that
 * must leave those alone keeps its own apart. Undefined where that cannot be done: then it runs without hooks.
 */
export function geminiHome(
  launch: Launch,
  hooks: readonly string[],
): Pick<Preparation, 'env' | 'files' | 'links'> | undefined {
  const { environment, directory } = launch
  const user = join(homeOf(environment), '.gemini')
  const own = readSettings(join(user, SETTINGS))
  // In the home directory itself it would take the user's settings for those of a project, and run the user's hooks twice.
  if (!own || launch.cwd === homeOf(environment)) return undefined
  const home = homeIn(directory)
  return {
    env: {
      GEMINI_CLI_HOME: home,
      // Written as a new file in the place of the old, which a link would not survive.
      GEMINI_CLI_TRUSTED_FOLDERS_PATH:
        environment.env.GEMINI_CLI_TRUSTED_FOLDERS_PATH || join(user, 'trustedFolders.json'),
    },
    files: [
      {
        path: join(home, '.gemini', SETTINGS),
        content: `${JSON.stringify(settingsWith(own, hooks, launch), null, 2)}\n`,
      },
    ],
    links: linksTo(homeOf(environment), home).filter(
      ({ path }) => !launch.isAside || path !== join(home, '.gemini', TMP),
    ),
  }
}

function linksTo(userHome: string, home: string): Link[] {
  const entries = listDirectory(join(userHome, '.gemini')).map((entry) => entry.name)
  const names = new Set([...entries, ...FILES].filter((name) => name !== SETTINGS && !FOLDERS.includes(name)))
  const link = (...parts: string[]): Link => ({ path: join(home, ...parts), target: join(userHome, ...parts) })
  return [
    link('.agents'),
    ...[...names].map((name) => link('.gemini', name)),
    ...FOLDERS.map((name) => ({ ...link('.gemini', name), isDirectory: true as const })),
  ]
}

/** `GEMINI_CLI_HOME` replaces the home directory, not `.gemini` in it. */
export const homeOf = ({ home, env }: Environment): string => env.GEMINI_CLI_HOME || home

/** Nothing for a user who has no settings yet; undefined when they cannot be read, which the program itself tells best. */
function readSettings(path: string): JsonObject | undefined {
  let text: string
  try {
    text = readGuarded(path, { mostBytes: MOST_BYTES }).toString('utf8')
  } catch (error) {
    return isObject(error) && error.code === 'ENOENT' ? {} : undefined
  }
  try {
    const settings: unknown = JSON.parse(withoutComments(text))
    return isObject(settings) ? settings : undefined
  } catch {
    return undefined
  }
}

function settingsWith(own: JsonObject, hooks: readonly string[], { spool, kind }: Launch): JsonObject {
  const lineOf = kind === 'new' ? hookLine : lateHookLine
  const ours = (event: string): object => ({
    hooks: [{ type: 'command', command: lineOf(spool, event), name: 'skein', timeout: HOOK_TIMEOUT }],
  })
  // A user who has switched hooks off still has them off; ours are not theirs.
  const config = objectAt(own, 'hooksConfig')
  const isOff = config?.enabled === false
  const theirs = isOff ? {} : (objectAt(own, 'hooks') ?? {})
  const all = hooks.map((event) => [event, [...listAt(theirs, event), ours(event)]])
  const general = objectAt(own, 'general')
  return {
    ...own,
    hooks: { ...theirs, ...Object.fromEntries(all) },
    ...(isOff ? { hooksConfig: { ...config, enabled: true } } : {}),
    // Its clean-up takes a conversation that was resumed for a damaged one, and deletes it.
    general: { ...general, sessionRetention: { ...objectAt(general, 'sessionRetention'), enabled: false } },
  }
}
