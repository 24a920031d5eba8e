import { type ChildProcess, spawn } from 'node:child_process'
import { entriesIn, processStat, refuseDeadDirectory } from '../../disk/index.js'

export interface ShellCall {
  cwd: string
  env: Readonly<Record<string, string | undefined>>
  limitMs: number
  signal: AbortSignal
}

export interface ShellEnd {
  /** Absent when it was ended by a signal, or did not end in time. */
  exit_code?: number
  is_late: boolean
  duration_ms: number
  /** The last of what it printed, both streams. */
  output: string
}

const TAIL_BYTES = 4_096
/** Between the request to end and the signal that no program can ignore. */
const GRACE_MS = 2_000
/** A child of it may hold its output open. */
const DRAIN_MS = 1_000

/**
 * Runs what the user wrote with `sh`, as the user's own shell would. It has a process group of its own, which is ended whole when its time is
 * up or nobody waits any longer.
 */
export function runShell(text: string, { cwd, env, limitMs, signal }: ShellCall): Promise<ShellEnd> {
  refuseDeadDirectory(cwd)
  return new Promise((resolve, reject) => {
    const begun = performance.now()
    const child = spawn('/bin/sh', ['-c', text], {
      cwd,
      env: { ...env, PWD: cwd },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let tail = Buffer.alloc(0)
    let isLate = false
    let ended: number | null = null
    let [kill, drain]: (NodeJS.Timeout | undefined)[] = []
    const stop = (): void => {
      signalGroup(child, 'SIGTERM')
      kill = setTimeout(() => signalGroup(child, 'SIGKILL'), GRACE_MS)
    }
    const late = setTimeout(() => {
      isLate = true
      stop()
    }, limitMs)
    const keep = (bytes: Buffer): void => {
      tail = Buffer.concat([tail, bytes]).subarray(-TAIL_BYTES)
    }
    const settle = (): void => {
      for (const timer of [late, kill, drain]) clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      for (const stream of [child.stdout, child.stderr]) stream.destroy()
    }
    const done = (): void => {
      settle()
      resolve({
        ...(ended === null || isLate ? {} : { exit_code: ended }),
        is_late: isLate,
        duration_ms: Math.round(performance.now() - begun),
        output: tail.toString(),
      })
    }
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    child.once('error', (error) => {
      settle()
      reject(error)
    })
    child.once('exit', (code) => {
      ended = code
      endRest(child.pid)
      drain = setTimeout(done, DRAIN_MS)
    })
    child.once('close', done)
  })
}

/** What the command left running in the background would go on in a worktree that shows another turn. Its session is the mark of all of them. */
function endRest(leader: number | undefined): void {
  const left = (): { pid: number; starttime: number }[] =>
    entriesIn('/proc').flatMap((name) => {
      const pid = Number(name)
      const stat = Number.isInteger(pid) ? processStat(pid) : undefined
      if (stat?.session !== leader || !stat || 'ZX'.includes(stat.state)) return []
      return [{ pid, starttime: stat.starttime }]
    })
  const end = (name: NodeJS.Signals, some: readonly { pid: number; starttime: number }[]): void => {
    for (const { pid, starttime } of some)
      if (processStat(pid)?.starttime === starttime) {
        try {
          process.kill(pid, name)
        } catch {
          // it ended in this moment
        }
      }
  }
  const found = leader === undefined ? [] : left()
  end('SIGTERM', found)
  if (found.length > 0) setTimeout(() => end('SIGKILL', [...found, ...left()]), GRACE_MS / 4)
}

/** The group is ours for as long as its leader was not waited for: one that has exited is never signalled. */
function signalGroup({ pid, exitCode, signalCode }: ChildProcess, name: NodeJS.Signals): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  try {
    process.kill(-pid, name)
  } catch {
    // it ended in this moment
  }
}
