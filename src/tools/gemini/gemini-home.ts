import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { withoutComments } from '../json-comments.js'
import { isObject, type JsonObject, listAt, objectAt } from '../json-value.js'
import type { Launch, Preparation } from '../runner.js'
import type { Environment } from '../tool.js'

/**
 * Gemini CLI reads hooks from settings files alone, and takes a file that is named by a variable only where root owns it and
 * every folder above it. So a run gets a home of its own that consists of links: all in it is the user's, credentials and
 * conversations included, but the settings, which are a copy with our hooks in it. What the program writes into its settings
 * during the run goes into the copy.
 */
export interface GeminiHome {
  readonly env: Preparation['env']
  readonly files: Preparation['files']
  /** Makes the links, then becomes the program that follows. */
  readonly before: readonly string[]
}

/** Milliseconds that it waits for a hook of ours, which takes a few. */
const HOOK_TIMEOUT = 10_000

export function geminiHome(launch: Launch, hooks: readonly string[]): GeminiHome | undefined {
  const { environment, directory, spool } = launch
  const user = join(homeOf(environment), '.gemini')
  const own = readSettings(join(user, 'settings.json'))
  // In the home directory itself it would take the user's settings for those of a project, and run the user's hooks twice.
  if (!own || launch.cwd === homeOf(environment)) return undefined
  const home = join(directory, 'gemini-home')
  const settings = join(directory, 'gemini-settings.json')
  const script = join(directory, 'gemini-home.sh')
  return {
    env: {
      GEMINI_CLI_HOME: home,
      GEMINI_CLI_TRUSTED_FOLDERS_PATH:
        environment.env.GEMINI_CLI_TRUSTED_FOLDERS_PATH || join(user, 'trustedFolders.json'),
    },
    files: [
      { path: settings, content: `${JSON.stringify(settingsWith(own, hooks, spool.command), null, 2)}\n` },
      { path: script, content: SCRIPT },
    ],
    before: ['sh', script, user, join(home, '.gemini'), settings],
  }
}

/** `GEMINI_CLI_HOME` stands for the home directory, not for `.gemini` in it. */
export const homeOf = ({ home, env }: Environment): string => env.GEMINI_CLI_HOME || home

/** Nothing for a user who has no settings yet; undefined when they cannot be read, which the program itself tells best. */
function readSettings(path: string): JsonObject | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
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

function settingsWith(own: JsonObject, hooks: readonly string[], command: string): JsonObject {
  const ours = { hooks: [{ type: 'command', command, name: 'skein', timeout: HOOK_TIMEOUT }] }
  // A user who has switched hooks off still has them off; ours are not theirs.
  const isOff = objectAt(own, 'hooksConfig')?.enabled === false
  const theirs = isOff ? {} : (objectAt(own, 'hooks') ?? {})
  const all = hooks.map((event) => [event, [...listAt(theirs, event), ours]])
  const general = objectAt(own, 'general')
  return {
    ...own,
    hooks: { ...theirs, ...Object.fromEntries(all) },
    ...(isOff ? { hooksConfig: { ...objectAt(own, 'hooksConfig'), enabled: true } } : {}),
    // Its clean-up takes a conversation that was resumed for a damaged one, and deletes it.
    general: { ...general, sessionRetention: { ...objectAt(general, 'sessionRetention'), enabled: false } },
  }
}

/**
 * Folders that the program makes when it needs them are made before, and files that it may write are linked before they are
 * there: what it writes must arrive in the user's own home.
 */
const SCRIPT = `user=$1 mirror=$2 settings=$3
shift 3
mkdir -p "$user/tmp" "$user/history" "$user/policies"
rm -rf "$mirror"
mkdir -p "$mirror"
find "$user" -mindepth 1 -maxdepth 1 ! -name settings.json -exec sh -c 'into=$1; shift; ln -s "$@" "$into/"' sh "$mirror" {} +
for name in oauth_creds.json google_accounts.json installation_id mcp-oauth-tokens.json a2a-oauth-tokens.json state.json; do
  [ -e "$user/$name" ] || ln -s "$user/$name" "$mirror/$name"
done
[ ! -e "\${user%/*}/.agents" ] || ln -sfn "\${user%/*}/.agents" "\${mirror%/*}/.agents"
ln -s "$settings" "$mirror/settings.json"
exec "$@"
`
