import { readFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Profiles, ProgressBar, plainDescriptor, runCli, safeText, type Terminal } from './cli/index.js'
import type { DaemonFacts } from './daemon/index.js'
import type { Home } from './home/index.js'
import type { Agents, Answering } from './lifecycle/index.js'
import type { Context } from './model/index.js'
import {
  actorName,
  answering,
  type HomeLocation,
  homeLocation,
  randomBytes,
  selfBeside,
  settleHome,
  socketFacts,
  surroundings,
  workingDirectory,
} from './surroundings.js'

const { env } = process
const stdout = plainDescriptor(1) ?? terminal(process.stdout)
const rawStderr = plainDescriptor(2) ?? terminal(process.stderr)
const bar = new ProgressBar(rawStderr, () => performance.now())
const stderr = {
  write: (text: string) => {
    bar.wipe()
    rawStderr.write(text)
  },
}

let isReading = false
let actor: string | undefined
let host: string | undefined
const context: Context = {
  clock: { now: Date.now },
  random: {
    bytes: randomBytes,
    uuid: () => crypto.randomUUID(),
  },
  warn: (line) => stderr.write(`skein: ${safeText(line)}\n`),
  progress: (work) => bar.show(work),
  get actor() {
    actor ??= actorName() // asked for by every event, and by few commands
    return actor
  },
  get host() {
    host ??= hostname()
    return host
  },
}

// No top-level await: the program is bundled as CommonJS, which starts 5 ms sooner.
runCli({
  args: process.argv.slice(2),
  version,
  get cwd() {
    return workingDirectory()
  },
  stdin: () => readFileSync(0, 'utf8'),
  input: async (limits) => {
    isReading = true
    return (await import('./disk/index.js')).boundedInput(0, limits)
  },
  get privacyFile() {
    return location().privacyFile
  },
  stdout,
  stderr,
  settings: {
    profile: env.SKEIN_PROFILE || undefined,
    session: env.SKEIN_SESSION || undefined,
    agent: env.SKEIN_AGENT || undefined,
    run: env.SKEIN_RUN || undefined,
    tmux: env.TMUX || undefined,
    passphrase: env.SKEIN_PASSPHRASE || undefined,
    noColour: Boolean(env.NO_COLOR),
    columns: Number.parseInt(env.COLUMNS ?? '', 10) || undefined,
    debug: env.SKEIN_DEBUG === '1',
  },
  context,
  get answering() {
    return asks()
  },
  get actor() {
    return context.actor
  },
  profiles: profilesOf(location),
  daemon: daemonFacts(location),
  now: Date.now,
  agents,
  handOver,
  detach: async (args, options) => {
    const program = fileURLToPath(new URL('../../bin/skein.js', import.meta.url))
    return (await import('./cli/detach.js')).detachProgram({ program, args, env, ...options })
  },
  terminal: takeTerminal,
  interrupted,
  get isAttended() {
    return Boolean(process.stdin.isTTY && process.stdout.isTTY) // asking makes a stream, which costs every start-up 5 ms
  },
}).then((exitCode) => {
  process.exitCode = exitCode
  if (isReading) process.exit() // a pipe that nobody closes would keep it
})

/** Where the home is, for commands that use one. */
function location(): HomeLocation {
  const warning = settleHome()
  if (warning) context.warn(warning)
  return homeLocation()
}

function asks(): Answering {
  return answering(new URL('../../bin/skein.js', import.meta.url))
}

async function agents(home: Home, { wakes = true }: { wakes?: boolean } = {}): Promise<Agents> {
  const { openAgents } = await import('./cli/open-agents.js')
  const { configFile } = location()
  const daemon = wakes ? { daemon: daemonFacts(location) } : {}
  const self = selfBeside(import.meta.url)
  return openAgents({ home, context, configFile, facts: socketFacts(), self, answering: asks(), ...daemon })
}

/** Its program has the terminal for itself, and interrupts are its business. */
async function handOver([program, ...args]: readonly [string, ...string[]], begun = () => {}): Promise<boolean> {
  if (!process.stdout.isTTY || !process.stdin.isTTY) return false
  const { spawn } = await import('node:child_process')
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) process.on(signal, () => {})
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit' })
    child.on('spawn', begun)
    child.on('error', reject)
    child.on('exit', () => resolve(true))
  })
}

/** For commands that play on the whole screen; they need a person at both ends. */
function takeTerminal(): Promise<Terminal> | undefined {
  if (!process.stdout.isTTY || !process.stdin.isTTY) return undefined
  return import('./cli/screen/terminal.js').then((screen) => screen.takeTerminal(process.stdin, process.stdout))
}

/** A terminal may go away at any time: that ends the command, and nothing is wrong. */
function terminal(stream: NodeJS.WriteStream): NodeJS.WriteStream {
  // Whoever looked on is gone; anything else means that what was said is lost.
  const isGone = ({ code }: NodeJS.ErrnoException): boolean => code === 'EPIPE' || code === 'EIO'
  return stream.on('error', (error) => process.exit(isGone(error) ? 0 : 1))
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
  return typeof manifest === 'object' && manifest && 'version' in manifest ? String(manifest.version) : 'unknown'
}

/** The place is asked for when it is needed: help works where there is none. */
function profilesOf(place: () => HomeLocation): Profiles {
  const homes = () => import('./home/index.js')
  const userId = process.geteuid?.()
  const directoryOf = (name: string) => join(place().root, 'profiles', name)
  return {
    open: async (profile) =>
      (await homes()).openHome({
        root: place().root,
        configFile: place().configFile,
        profile,
        context,
        surroundings: surroundings(),
        cwd: workingDirectory,
        ...(userId === undefined ? {} : { userId }),
      }),
    list: async () =>
      (await homes()).listProfiles(place().root).map((name) => ({ name, directory: directoryOf(name) })),
    create: async (name) => ({ name, directory: (await homes()).createProfile(place().root, name) }),
    remove: async (name) => (await homes()).deleteProfile(place().root, name),
  }
}

function daemonFacts(place: () => HomeLocation): DaemonFacts {
  return {
    get root() {
      return place().root
    },
    get configFile() {
      return place().configFile
    },
    env,
    platform: process.platform,
    userId: process.geteuid?.(),
    get version() {
      return version()
    },
    get temporary() {
      return tmpdir()
    },
    get program() {
      return fileURLToPath(new URL('../daemon/daemon-main.cjs', import.meta.url))
    },
  }
}

/** From now on an interrupt aborts the signal instead of ending the process; a second one ends it all the same. */
function interrupted(): AbortSignal {
  const controller = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => controller.abort())
  return controller.signal
}
