import { spawn } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const BINARY = fileURLToPath(new URL('../../bin/skein.js', import.meta.url))

export interface Ran {
  stdout: string
  stderr: string
  exitCode: number | null
}

/** An environment in which Skein sees nothing of the user who runs the tests. `skein` is on the PATH. */
export function environmentIn(directory: string, more: Record<string, string> = {}): Record<string, string> {
  const bin = join(directory, 'bin')
  mkdirSync(bin, { recursive: true })
  try {
    symlinkSync(BINARY, join(bin, 'skein'))
  } catch {
    // It already exists: the environment was asked for twice.
  }
  return {
    PATH: `${bin}${delimiter}${process.env.PATH ?? ''}`,
    HOME: directory,
    SKEIN_HOME: join(directory, 'home'),
    SKEIN_ACTOR: 'ada',
    TZ: 'UTC',
    LANG: 'C.UTF-8',
    ...more,
  }
}

/** Runs a program to its end. */
export function run(
  program: string,
  args: readonly string[],
  options: { env: Record<string, string>; cwd?: string; input?: string },
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env: options.env, cwd: options.cwd, stdio: 'pipe' })
    const ran: Ran = { stdout: '', stderr: '', exitCode: null }
    child.stdout.setEncoding('utf8').on('data', (text) => (ran.stdout += text))
    child.stderr.setEncoding('utf8').on('data', (text) => (ran.stderr += text))
    child.on('error', reject)
    child.on('close', (exitCode) => resolve({ ...ran, exitCode }))
    child.stdin.on('error', () => {}) // a program may end without reading what it is given
    child.stdin.end(options.input ?? '')
  })
}

/** Types a line into a shell that knows `skein`. */
export const shell = (line: string, env: Record<string, string>): Promise<Ran> => run('sh', ['-c', line], { env })
