import { readFileSync } from 'node:fs'
import { homedir, hostname, userInfo } from 'node:os'
import { join } from 'node:path'
import { makeProgress, type Profiles, runCli, safeText } from './cli/index.js'
import type { Context } from './model/index.js'

// The reader of our output may go away at any time (`| head`): that ends the command, and nothing is wrong.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(process.exitCode ?? 0)
    throw error
  })
}

const { env } = process
const context: Context = {
  clock: { now: Date.now },
  random: {
    bytes: (count) => crypto.getRandomValues(new Uint8Array(count)),
    uuid: () => crypto.randomUUID(),
  },
  warn: (line) => process.stderr.write(`skein: ${safeText(line)}\n`),
  progress: makeProgress(process.stderr, Date.now),
  actor: env.SKEIN_ACTOR || userName(),
  host: hostname(),
}

process.exitCode = await runCli({
  args: process.argv.slice(2),
  version,
  cwd: process.cwd(),
  stdout: process.stdout,
  stderr: process.stderr,
  settings: {
    profile: env.SKEIN_PROFILE || undefined,
    session: env.SKEIN_SESSION || undefined,
    noColour: Boolean(env.NO_COLOR),
    columns: Number.parseInt(env.COLUMNS ?? '', 10) || undefined,
    debug: env.SKEIN_DEBUG === '1',
  },
  profiles: profilesOf(homeLocation()),
  now: Date.now,
  interrupted,
})

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return typeof manifest === 'object' && manifest && 'version' in manifest ? String(manifest.version) : 'unknown'
}

interface HomeLocation {
  root: string
  configFile: string
}

/** Everything under SKEIN_HOME when it is set, else where the XDG rules put data and settings. */
function homeLocation(): HomeLocation {
  if (env.SKEIN_HOME) return { root: env.SKEIN_HOME, configFile: join(env.SKEIN_HOME, 'config.toml') }
  const data = env.XDG_DATA_HOME || join(homedir(), '.local', 'share')
  const config = env.XDG_CONFIG_HOME || join(homedir(), '.config')
  return { root: join(data, 'skein'), configFile: join(config, 'skein', 'config.toml') }
}

function profilesOf({ root, configFile }: HomeLocation): Profiles {
  const homes = () => import('./home/index.js')
  const userId = process.geteuid?.()
  const directoryOf = (name: string) => join(root, 'profiles', name)
  return {
    open: async (profile) =>
      (await homes()).openHome({ root, configFile, profile, context, ...(userId === undefined ? {} : { userId }) }),
    list: async () => (await homes()).listProfiles(root).map((name) => ({ name, directory: directoryOf(name) })),
    create: async (name) => ({ name, directory: (await homes()).createProfile(root, name) }),
    remove: async (name) => (await homes()).deleteProfile(root, name),
  }
}

/** The system may not know who we are: a container can run under a number without a name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return env.USER || `user-${process.geteuid?.()}`
  }
}

/** From now on an interrupt aborts the signal instead of ending the process; a second one ends it all the same. */
function interrupted(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
  return controller.signal
}
