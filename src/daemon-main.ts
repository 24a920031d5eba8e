import { readFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { daemonPlace, LogFile, makePrivate, removeSocket, runDaemon } from './daemon/index.js'
import { openHome } from './home/index.js'
import type { Context } from './model/index.js'
import { homeLocation, randomBytes, socketFacts, surroundings } from './surroundings.js'

// The program of the daemon: `node daemon.cjs <profile>`. It has no terminal and no one to talk to but its log.
process.umask(0o077)
process.title = 'skein-daemon'
// What it does, and what the processes do that it starts, is not done by whoever happened to start it, perhaps an agent.
process.env.SKEIN_ACTOR = 'skein-daemon'
const profile = process.argv[2] || 'default'
const { root, configFile } = homeLocation()
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
const place = daemonPlace({ ...facts, profile })
makePrivate(dirname(place.log), userId)
const log = new LogFile(place.log, { now: Date.now })
const say = (line: string): void => log.write(line)

process.on('SIGHUP', () => {}) // the terminal it was started from may go
process.on('warning', (warning) => say(`node: ${warning.message}`))
process.on('uncaughtException', fatal)
process.on('unhandledRejection', fatal)
const told = new AbortController()
for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => told.abort())

const context: Context = {
  clock: { now: Date.now },
  random: { bytes: randomBytes, uuid: () => crypto.randomUUID() },
  warn: say,
  progress: () => {},
  actor: process.env.SKEIN_ACTOR,
  host: hostname(),
}
runDaemon({
  facts,
  profile,
  context,
  say,
  socketFacts: socketFacts(),
  skein: join(package_, 'bin', 'skein.js'),
  signal: told.signal,
  abandon: () => {
    removeSocket(place)
    process.exit(0)
  },
  openHome: () =>
    openHome({
      root,
      configFile,
      profile,
      context,
      surroundings: surroundings(),
      ...(userId === undefined ? {} : { userId }),
    }),
}).then((why) => {
  say(`process ${process.pid} ends: ${why}`)
  process.exit(0)
}, fatal)

function fatal(error: unknown): never {
  say(`process ${process.pid} ends: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`)
  process.exit(70)
}

function version(): string {
  const manifest: unknown = JSON.parse(readFileSync(join(package_, 'package.json'), 'utf8'))
  return typeof manifest === 'object' && manifest && 'version' in manifest ? String(manifest.version) : 'unknown'
}
