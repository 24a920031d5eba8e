import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { processStat } from './process-owner.js'

/** A file system that has not answered by then is taken for dead. On a busy machine starting the probe takes most of it. */
const PATIENCE_MS = 2_000
const NEXT_PATIENCE_MS = 500
/** How long an answer counts. What follows it within that time was asked in the same breath. */
const FRESH_MS = 250
const STEP_MS = 2
/** Where `stat` is. The user's PATH may lead through the very mount that is dead. */
const PATHS = '/usr/bin:/bin:/run/current-system/sw/bin'

/** A process that asks a file system something. It is there for as long as there is no answer; no signal need end it. */
interface Probe {
  readonly pid: number
  readonly starttime: number
  readonly begunMs: number
}

interface Mount {
  answeredMs?: number | undefined
  probe?: Probe | undefined
}

const mounts = new Map<string, Mount>()

/**
 * Whether the file system that is mounted here answers. A system call on one that does not answer never returns, in this process or in a
 * thread of it, and cannot be interrupted: a process of its own makes the call. It is waited for up to two seconds, then left behind;
 * for as long as it is there, this and every other process of ours says no at once. Linux only.
 */
export function doesAnswer(mountPoint: string): boolean {
  const mount = mounts.get(mountPoint) ?? {}
  mounts.set(mountPoint, mount)
  if (mount.answeredMs !== undefined && performance.now() - mount.answeredMs < FRESH_MS) return true
  mount.probe ??= probeLeftBehind(mountPoint) ?? newProbe(mountPoint)
  const { probe } = mount
  while (probe && isRunning(probe)) {
    if (performance.now() - probe.begunMs >= patienceMs()) return false
    Atomics.wait(PAUSE, 0, 0, STEP_MS)
  }
  mount.probe = undefined
  mount.answeredMs = performance.now()
  return true
}

/** Who has waited for one dead file system does not wait as long for the next. */
const patienceMs = (): number => {
  const dead = [...mounts.values()].filter(({ probe }) => probe && performance.now() - probe.begunMs > PATIENCE_MS)
  return dead.length > 0 ? NEXT_PATIENCE_MS : PATIENCE_MS
}

const PAUSE = new Int32Array(new SharedArrayBuffer(4))

function isRunning({ pid, starttime }: Probe): boolean {
  const stat = processStat(pid)
  return stat?.starttime === starttime && stat.state !== 'Z' && stat.state !== 'X'
}

/** `stat -f` goes to the server every time; what `stat` alone asks for is answered from memory for up to a minute. */
function newProbe(mountPoint: string): Probe | undefined {
  // Loaded here: most machines have no such mount, and it takes milliseconds of every command.
  const { spawn } = createRequire(import.meta.url)('node:child_process') as typeof import('node:child_process')
  const begunMs = performance.now()
  const args = ['-c', 'exec stat -f -- "$1"', 'sh', mountPoint]
  const child = spawn('/bin/sh', args, { cwd: '/', env: { PATH: PATHS }, stdio: 'ignore' })
  child.on('error', () => {})
  child.unref()
  const starttime = child.pid === undefined ? undefined : processStat(child.pid)?.starttime
  if (child.pid === undefined || starttime === undefined) return undefined
  return { pid: child.pid, starttime, begunMs }
}

/** One that another process of ours had to leave behind: else every command would wait, and add another one. */
function probeLeftBehind(mountPoint: string): Probe | undefined {
  const words = ['stat', '-f', '--', mountPoint, ''].join('\0')
  const here = namespaceOf('self')
  for (const name of readdirSync('/proc')) {
    const pid = Number(name)
    if (!Number.isInteger(pid) || kernelText(`/proc/${pid}/cmdline`) !== words) continue
    if (namespaceOf(pid) !== here) continue // the mounts of a container are others
    const starttime = processStat(pid)?.starttime
    if (starttime !== undefined) return { pid, starttime, begunMs: performance.now() - ageMs(starttime) }
  }
  return undefined
}

/** The kernel counts a process's start in these; every Linux that Node runs on says 100. */
const TICKS_PER_SECOND = 100

function ageMs(starttime: number): number {
  const [upSeconds = '0'] = kernelText('/proc/uptime').split(' ')
  return Math.max(0, Number(upSeconds) * 1_000 - (starttime * 1_000) / TICKS_PER_SECOND)
}

/** Which mounts a process sees. */
function namespaceOf(pid: number | 'self'): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`)
  } catch {
    return undefined // of another user
  }
}

function kernelText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // it has just ended
  }
}
