import { type ChildProcess, spawn } from 'node:child_process'

export interface ProgramCall {
  cwd: string
  env: Readonly<Record<string, string | undefined>>
  /** What it reads on its standard input. */
  input?: string
  limitMs: number
  /** Of what it prints, both streams together. */
  mostBytes: number
  /** Ends it. */
  signal?: AbortSignal
}

export type ProgramEnd =
  | { how: 'exited'; code: number | null; stdout: string; stderr: string }
  | { how: 'not-started'; code: string; problem: string }
  | { how: 'late' | 'too-much' | 'stopped' }

/** A child of it may hold its output open: what it printed until then is its answer. */
const DRAIN_MS = 1_000

/**
 * Runs a program without a shell, bounded in time and output. It has a process group of its own, which is ended whole when it exceeds a
 * bound: neither a program that ignores signals nor a child that keeps the pipes open is waited for.
 */
export function runBounded(program: string, args: readonly string[], call: ProgramCall): Promise<ProgramEnd> {
  const { cwd, env, input, limitMs, mostBytes, signal } = call
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env: { ...env }, stdio: 'pipe', detached: true })
    const stdout: Buffer[] = []
    const stderr: Buffer[] = []
    let size = 0
    let drain: NodeJS.Timeout | undefined
    let code: number | null = null
    const settle = (end: ProgramEnd): void => {
      clearTimeout(late)
      clearTimeout(drain)
      signal?.removeEventListener('abort', stop)
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy()
      child.unref()
      resolve(end)
    }
    const refuse = (how: 'late' | 'too-much' | 'stopped'): void => {
      endGroup(child)
      settle({ how })
    }
    const late = setTimeout(() => refuse('late'), limitMs)
    const stop = (): void => refuse('stopped')
    if (signal?.aborted) stop()
    else signal?.addEventListener('abort', stop, { once: true })
    const keep = (into: Buffer[]) => (bytes: Buffer) => {
      size += bytes.length
      into.push(bytes)
      if (size > mostBytes) refuse('too-much')
    }
    const exited = (): void =>
      settle({
        how: 'exited',
        code,
        stdout: Buffer.concat(stdout).toString(),
        stderr: Buffer.concat(stderr).toString(),
      })
    child.stdout.on('data', keep(stdout))
    child.stderr.on('data', keep(stderr))
    child.stdin.on('error', () => {}) // it ended before it had read all: its exit code says why
    child.once('error', (error: NodeJS.ErrnoException) =>
      settle({ how: 'not-started', code: error.code ?? '', problem: error.message }),
    )
    child.once('exit', (status) => {
      code = status
      drain = setTimeout(exited, DRAIN_MS)
    })
    child.once('close', exited)
    child.stdin.end(input)
  })
}

/** The group is ours for as long as its leader was not waited for, and a leader that has exited is never signalled. */
function endGroup({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // it ended in this moment
  }
}
