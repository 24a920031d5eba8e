import { spawn } from 'node:child_process'
import { closeSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeDirectory } from '../disk/index.js'

export interface Detached {
  /** What Node runs. */
  readonly program: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** What it reads on standard input: never an argument, which others could see. */
  readonly input: string
  /** Where its output goes (0600). */
  readonly log: string
}

/** Names of variables by which a process counts as one of an agent's run. */
const OF_A_RUN = ['SKEIN_RUN', 'SKEIN_AGENT', 'SKEIN_SESSION', 'TMUX', 'TMUX_PANE']

/**
 * Starts a program that does not belong to the process tree it is started from: in a session of its own, without the marks of the agent's
 * run, and as a child of nobody here, because the shell between has ended.
 */
export function detachProgram({ program, args, env, input, log }: Detached): void {
  makeDirectory(dirname(log))
  const given = `${log}.${process.pid}.in`
  writeFileSync(given, input, { mode: 0o600 })
  const [output, source] = [openSync(log, 'w', 0o600), openSync(given, 'r')]
  rmSync(given)
  try {
    const rest = Object.fromEntries(Object.entries(env).filter(([name]) => !OF_A_RUN.includes(name)))
    spawn('/bin/sh', ['-c', '"$0" "$@" <&3 3<&- &', process.execPath, program, ...args], {
      cwd: '/',
      env: rest,
      detached: true,
      stdio: ['ignore', output, output, source],
    }).unref()
  } finally {
    closeSync(output)
    closeSync(source)
  }
}
