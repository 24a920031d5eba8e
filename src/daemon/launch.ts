import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { isProven, lifeOf } from '../disk/index.js'
import { SkeinError } from '../model/index.js'
import { daemonEnvironment } from './environment.js'
import { DaemonClient } from './http/client.js'
import { newestLines } from './log-file.js'
import { type DaemonPlace, makePrivate } from './place.js'
import { API_VERSION, compareVersions, type DaemonRecord, livingDaemon } from './record.js'

/** From the start of the process to its first answer; a busy machine with a large home takes a second or two. */
const START_MS = 15_000
/** A daemon that was asked to end gets this long before it receives a signal, and again before it is killed. */
const STOP_MS = 3_000

/** How to reach, start and stop the daemon of one profile. */
export interface DaemonAccess {
  readonly place: DaemonPlace
  readonly profile: string
  readonly userId: number | undefined
  /** Of this program. */
  readonly version: string
  /** The daemon's own program, for Node to run. */
  readonly program: string
  readonly env: Readonly<Record<string, string | undefined>>
}

export type Launched = { readonly client: DaemonClient; readonly did: 'found' | 'started' | 'replaced' }

/** What is running, seen from this version. */
export type DaemonState =
  | { readonly kind: 'none' }
  | { readonly kind: 'usable'; readonly record: DaemonRecord }
  | { readonly kind: 'older'; readonly record: DaemonRecord }
  /** Newer, and it speaks another language: it is left alone. */
  | { readonly kind: 'foreign'; readonly record: DaemonRecord }

export function daemonStateOf({ place, version }: Pick<DaemonAccess, 'place' | 'version'>): DaemonState {
  const record = livingDaemon(place)
  if (!record) return { kind: 'none' }
  if (compareVersions(record.version, version) < 0) return { kind: 'older', record }
  return record.api === API_VERSION ? { kind: 'usable', record } : { kind: 'foreign', record }
}

/** A daemon that answers: the one that runs, or one that is started now. An older one is replaced. */
export async function ensureDaemon(access: DaemonAccess): Promise<Launched> {
  const standing = daemonStateOf(access)
  if (standing.kind === 'foreign') throw foreign(standing.record, access)
  if (standing.kind === 'usable') {
    const client = await answering(access)
    if (client) return { client, did: 'found' }
  }
  if (standing.kind === 'older') await stopDaemon(access)
  const client = await untilAnswering(access, spawnDaemon(access))
  if (client) return { client, did: standing.kind === 'older' ? 'replaced' : 'started' }
  const last = newestLines(access.place.log, 1)[0]
  throw new SkeinError(
    'daemon-failed',
    `The daemon did not start${last === undefined ? '' : `; its log ends with: ${last}`}`,
    'See: skein daemon logs. Commands also work without it',
  )
}

/** Starts one and does not wait for it. Of several that are started at once, one stays; the others end in good order. */
export function spawnDaemon({ place, profile, userId, program, env }: DaemonAccess): { hasFailed: boolean } {
  makePrivate(place.directory, userId)
  const log = openSync(place.log, 'a', 0o600)
  try {
    const child = spawn(process.execPath, [program, profile], {
      cwd: '/',
      env: daemonEnvironment(env),
      detached: true,
      stdio: ['ignore', log, log],
    })
    const start = { hasFailed: false }
    child.on('error', () => {
      start.hasFailed = true
    })
    child.on('exit', (code) => {
      start.hasFailed = code !== 0
    })
    child.unref()
    return start
  } finally {
    closeSync(log)
  }
}

/**
 * Ends the daemon that runs, and says which it was. Signals reach only the very process that the record names: proven by when it
 * started, or by its own word over its socket.
 */
export async function stopDaemon({ place, userId }: DaemonAccess): Promise<DaemonRecord | undefined> {
  const record = livingDaemon(place)
  if (!record) return undefined
  const client = DaemonClient.find(place, userId)
  const isItself = isProven(record) || (await saysItIs(client, record))
  // An older one may speak another language, a stuck one none: signals follow.
  await client?.post('/v1/stop').catch(() => {})
  if (!isItself && !(await isGoneWithin(record, STOP_MS))) throw unproven(record, place)
  for (const signal of [undefined, 'SIGTERM', 'SIGKILL'] as const) {
    if (signal !== undefined && lifeOf(record) === 'alive') process.kill(record.pid, signal)
    if (await isGoneWithin(record, STOP_MS)) return record
  }
  throw new SkeinError('daemon-failed', `Process ${record.pid} did not exit`, `Check it with: ps -p ${record.pid}`)
}

async function saysItIs(client: DaemonClient | undefined, { pid }: DaemonRecord): Promise<boolean> {
  const health = await client?.get('/v1/health').catch(() => undefined)
  return typeof health === 'object' && health !== null && 'pid' in health && health.pid === pid
}

const unproven = ({ pid }: DaemonRecord, { record }: DaemonPlace): SkeinError =>
  new SkeinError(
    'daemon-failed',
    `Process ${pid} does not answer and may be another program by now, so it was not signalled`,
    `Check it: ps -p ${pid} . If it is not a Skein daemon, remove ${record}`,
  )

async function isGoneWithin(record: DaemonRecord, ms: number): Promise<boolean> {
  const until = performance.now() + ms
  while (lifeOf(record) === 'alive') {
    if (performance.now() > until) return false
    await pause(10)
  }
  return true
}

async function untilAnswering(access: DaemonAccess, start: { hasFailed: boolean }): Promise<DaemonClient | undefined> {
  const until = performance.now() + START_MS
  while (performance.now() < until && !start.hasFailed) {
    if (livingDaemon(access.place)) {
      const client = await answering(access)
      if (client) return client
    }
    await pause(15)
  }
  return undefined
}

async function answering({ place, userId }: DaemonAccess): Promise<DaemonClient | undefined> {
  const client = DaemonClient.find(place, userId)
  try {
    await client?.get('/v1/health')
    return client
  } catch {
    return undefined // it is just ending, or not ready yet
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const foreign = (record: DaemonRecord, { version }: DaemonAccess): SkeinError =>
  new SkeinError(
    'daemon-failed',
    `A daemon of version ${record.version} is running, and this version (${version}) cannot talk to it`,
    'Use the newer skein, or stop it with: skein daemon stop',
  )
