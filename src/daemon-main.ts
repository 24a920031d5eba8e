import { AsyncLocalStorage } from 'node:async_hooks'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  answerApart,
  CaptureQueue,
  daemonPlace,
  type FromCapture,
  type FromIntake,
  LogFile,
  makePrivate,
  REPLACED,
  removeSocket,
  runDaemon,
  runIntake,
  spawnDaemon,
  type ToCapture,
  type ToIntake,
  type ToOperation,
} from './daemon/index.js'
import { createProfile, type Home, listProfiles, openHome } from './home/index.js'
import { agentsOf, configuredParts } from './lifecycle/index.js'
import type { Context } from './model/index.js'
import {
  answering,
  homeLocation,
  randomBytes,
  selfBeside,
  settleHome,
  socketFacts,
  surroundings,
} from './surroundings.js'

// The program of the daemon: `node daemon.cjs <profile>`. It has no terminal and no one to talk to but its log. With `intake` behind the
// profile it is the process in which the daemon reads logs, and talks to the daemon alone; with `operation`, the one that runs an operation;
// with `capture`, the one that takes snapshots of turns.
process.umask(0o077)
// What it does, and what the processes do that it starts, is not done by whoever happened to start it, perhaps an agent. An operation that
// it runs apart is done by whoever asked the daemon for it.
const caller = process.argv[3] === 'operation' ? process.env.SKEIN_ACTOR : undefined
const actor = caller || 'skein-daemon'
process.env.SKEIN_ACTOR = actor
/** What is being stored may be finished when the daemon is gone; it is safe at any moment. */
const END_MS = 2_000
const profile = process.argv[2] || 'default'
settleHome()
const { root, configFile, privacyFile } = homeLocation()
const userId = process.geteuid?.()
const package_ = fileURLToPath(new URL('../..', import.meta.url))
const facts = {
  root,
  configFile,
  temporary: tmpdir(),
  userId,
  version: version(),
  program: fileURLToPath(import.meta.url),
  env: process.env,
  platform: process.platform,
}
/** Who asked for what is being done: changes are recorded for whoever called the API. */
const callers = new AsyncLocalStorage<string>()
const contextWith = (warn: (line: string) => void): Context => ({
  clock: { now: Date.now },
  random: { bytes: randomBytes, uuid: () => crypto.randomUUID() },
  warn,
  progress: () => {},
  get actor() {
    return callers.getStore() ?? actor
  },
  host: hostname(),
})
const open = (context: Context): ReturnType<typeof openHome> =>
  openHome({
    ...{ root, configFile, profile, context, surroundings: surroundings() },
    ...(userId === undefined ? {} : { userId }),
  })
if (process.argv[3] === 'intake') readLogs()
else if (process.argv[3] === 'operation') runOperation()
else if (process.argv[3] === 'capture') captureTurns()
else beDaemon()

function beDaemon(): void {
  process.title = 'skein-daemon'
  const place = daemonPlace({ ...facts, profile })
  // Whoever starts a daemon makes this first. If it is gone, so is the home, and a daemon must not make one.
  if (!existsSync(place.directory)) process.exit(0)
  makePrivate(dirname(place.log), userId)
  const log = new LogFile(place.log, { now: Date.now })
  const say = (line: string): void => log.write(line)
  const fatal = (error: unknown): never => {
    say(`process ${process.pid} ends: ${wordsOf(error)}`)
    process.exit(70)
  }
  process.on('SIGHUP', () => {}) // the terminal it was started from may go
  process.on('warning', (warning) => say(`node: ${warning.message}`))
  process.on('uncaughtException', fatal)
  process.on('unhandledRejection', fatal)
  const told = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => told.abort())
  const context = contextWith(say)
  runDaemon({
    ...{
      facts,
      profile,
      context,
      say,
      socketFacts: socketFacts(),
      self: selfBeside(import.meta.url),
      signal: told.signal,
    },
    answering: answering(new URL('../../bin/skein.js', import.meta.url)),
    abandon: () => {
      removeSocket(place)
      process.exit(0)
    },
    openHome: () => open(context),
    privacyFile,
    as: (caller, work) => callers.run(caller ?? actor, work),
  }).then((why) => {
    say(`process ${process.pid} ends: ${why}`)
    if (why === REPLACED) spawnDaemon({ ...facts, place, profile })
    process.exit(0)
  }, fatal)
}

function readLogs(): void {
  process.title = 'skein-ingest'
  // Where memory runs out, this is what can be spared.
  try {
    writeFileSync('/proc/self/oom_score_adj', '500')
  } catch {
    // Another system.
  }
  const gone = new AbortController()
  const send = (message: FromIntake): void => {
    if (process.connected) process.send?.(message)
  }
  const fatal = (error: unknown): never => {
    if (!gone.signal.aborted) send({ warning: `reading logs: ${wordsOf(error)}` })
    process.exit(gone.signal.aborted ? 0 : 70)
  }
  process.on('uncaughtException', fatal)
  process.on('unhandledRejection', fatal)
  process.on('SIGHUP', () => {})
  const told = new Promise<ToIntake>((resolve) => {
    process.once('message', (message) => resolve(message as ToIntake))
    process.once('disconnect', () => {
      gone.abort()
      setTimeout(() => process.exit(0), END_MS).unref()
    })
  })
  const context = contextWith((warning) => send({ warning }))
  const abandon = (): never => process.exit(0)
  runIntake({ openHome: () => open(context), signal: gone.signal, send, told, abandon, now: Date.now }).then(
    () => process.exit(0),
    fatal,
  )
}

/** Takes snapshots for the daemon until that is gone; what is under way then is finished. */
function captureTurns(): void {
  process.title = 'skein-capture'
  const queue = new CaptureQueue(
    () => open(contextWith(() => {})),
    (answer: FromCapture) => {
      if (process.connected) process.send?.(answer)
    },
    () => process.exit(0),
    Date.now,
  )
  const endWhenIdle = (): void => {
    if (queue.isIdle) process.exit(0)
  }
  process.on('SIGHUP', () => {})
  process.on('message', (asked) => queue.ask(asked as ToCapture)) // from the daemon, which is this very program
  process.on('disconnect', () => {
    endWhenIdle()
    setInterval(endWhenIdle, 100)
  })
}

/** Runs one operation for the daemon, which waits for its answer. */
function runOperation(): void {
  process.title = 'skein-operation'
  process.on('disconnect', () => process.exit(0))
  process.once('message', (asked) => {
    const context = contextWith(() => {})
    const profiles = {
      current: profile,
      list: async () => listProfiles(root).map((name) => ({ name, directory: join(root, 'profiles', name) })),
      create: async (name: string) => ({ name, directory: createProfile(root, name) }),
    }
    // From the daemon, which is this very program.
    const agentsIn = async (home: Home) =>
      agentsOf(
        await configuredParts({ home, context, configFile, facts: socketFacts(), self: selfBeside(import.meta.url) }),
      )
    const where = { configFile, privacyFile, profiles }
    answerApart(asked as ToOperation, () => open(context), where, agentsIn).then(
      (answer) => process.send?.(answer, () => process.exit(0)),
      (error) => {
        process.stderr.write(wordsOf(error))
        process.exit(70)
      },
    )
  })
}

function wordsOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(package_, 'package.json'), 'utf8'))
  return typeof manifest === 'object' && manifest && 'version' in manifest ? String(manifest.version) : 'unknown'
}
