import { readFileSync, readlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { hostname } from 'node:os'

/** A process, named so that another process can find out whether this very one still lives. */
export interface ProcessOwner {
  pid: number
  /** When the process started, in the kernel's ticks since boot: a pid comes back, a pid with its start time does not. */
  starttime?: number
  /** The machine and the pid namespace: a pid means nothing in another container. */
  place?: string
}

export type Life = 'alive' | 'dead' | 'unknown'

let self: ProcessOwner | undefined

export function thisProcess(): ProcessOwner {
  if (self?.pid !== process.pid) {
    const starttime = startTimeOf(process.pid)
    self = { pid: process.pid, ...(starttime === undefined ? {} : { starttime }), place: thisPlace() }
  }
  return self
}

/** `unknown` only for an owner in another place. When in doubt it is alive: a living owner is never robbed. */
export function lifeOf(owner: ProcessOwner): Life {
  if (owner.place !== undefined && owner.place !== thisProcess().place) return 'unknown'
  try {
    process.kill(owner.pid, 0)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return 'dead'
    // EPERM: it lives, under another user.
  }
  const stat = processStat(owner.pid)
  if (stat?.state === 'Z' || stat?.state === 'X') return 'dead'
  if (stat && owner.starttime !== undefined && stat.starttime !== owner.starttime) return 'dead'
  return 'alive'
}

/** The kernel's start time of a process that runs now, to know it again by. */
export const startTimeOf = (pid: number): number | undefined =>
  hasProc() ? processStat(pid)?.starttime : startTimeByPs(pid)

/** Whether this very process runs now, proven by when it started: nothing less may be signalled. */
export const isProven = ({ pid, starttime }: ProcessOwner): boolean =>
  starttime !== undefined && startTimeOf(pid) === starttime

const hasProc = (): boolean => processStat(process.pid) !== undefined

/** Where there is no /proc: in seconds since 1970. The words of `ps` are the same everywhere in this language and zone. */
function startTimeByPs(pid: number): number | undefined {
  try {
    const env = { PATH: '/bin:/usr/bin', LC_ALL: 'C', TZ: 'UTC' }
    // Loaded here: it takes milliseconds of every command, and Linux does without.
    const { execFileSync } = createRequire(import.meta.url)('node:child_process') as typeof import('node:child_process')
    const said = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      env,
      encoding: 'utf8',
      timeout: 5_000,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const ms = Date.parse(`${said.trim()} UTC`)
    return Number.isNaN(ms) ? undefined : ms / 1_000
  } catch {
    return undefined // gone, or no ps
  }
}

/** What the kernel reports about a process. Linux only; elsewhere there is only the pid. */
export interface ProcessStat {
  /** `Z` and `X` have ended already. */
  state: string
  ppid: number
  /** The pid of the leader of its session: stays when its parent ends. */
  session: number
  starttime: number
  /** Ticks of the CPU that it and its children that have ended used. */
  cpu: number
  threads: number
  /** The wait status of a process that has ended, as `waitpid` will give it to its parent. 0 also where it may not be read. */
  waitStatus: number
}

/** The name in parentheses may contain anything, so fields count from its end. */
export function processStat(pid: number): ProcessStat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return {
      state: fields[0] ?? '',
      ppid: Number(fields[1]),
      session: Number(fields[3]),
      starttime: Number(fields[19]),
      cpu: fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0),
      threads: Number(fields[17]),
      waitStatus: Number(fields[49] ?? 0),
    }
  } catch {
    return undefined
  }
}

/** How a process ended that its parent has not asked for yet. */
export interface ProcessEnd {
  exitStatus?: number
  exitSignal?: number
}

/**
 * The parent learns it only when the last thread is gone, on a busy machine seconds after the process itself; the kernel knows it from the
 * first moment. 0 says nothing while there are other threads (the first one alone may have left), nor of another user's process.
 */
export function endOf(pid: number, stat = processStat(pid)): ProcessEnd | undefined {
  if (stat?.state !== 'Z') return undefined
  const exitSignal = stat.waitStatus & 0x7f
  if (exitSignal !== 0) return { exitSignal }
  if (stat.waitStatus === 0 && (stat.threads > 1 || !isSignallable(pid))) return undefined
  return { exitStatus: stat.waitStatus >> 8 }
}

function isSignallable(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** The name that the kernel has for a process. Linux only. */
export function processName(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim()
  } catch {
    return undefined
  }
}

function thisPlace(): string {
  try {
    return `${hostname()} ${readlinkSync('/proc/self/ns/pid')}`
  } catch {
    return hostname()
  }
}
