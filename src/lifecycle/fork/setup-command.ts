import { execFile } from 'node:child_process'
import { plainLine, SkeinError } from '../../model/index.js'
import type { Parts } from '../parts.js'
import { isPassedOn } from '../run/launch-environment.js'

const LIMIT_MS = 600_000
const OUTPUT_MOST = 4 * 1024 * 1024

/** Runs the user's `[fork] setup` in a new worktree, without a shell. A repository cannot name it. */
export async function runSetup(parts: Parts, cwd: string): Promise<string | undefined> {
  const command = await parts.home.programs.forkSetup()
  if (!command) return undefined
  const [program = '', ...args] = command
  const env = Object.fromEntries(Object.entries(parts.environment.env).filter(([name]) => isPassedOn(name)))
  const failed = await new Promise<string | undefined>((resolve) => {
    const options = { cwd, env, timeout: LIMIT_MS, killSignal: 'SIGKILL' as const, maxBuffer: OUTPUT_MOST }
    execFile(program, args, options, (error, stdout, stderr) => {
      const last = `${stdout}\n${stderr}`.trim().split('\n').at(-1) ?? ''
      resolve(error ? plainLine(error.killed ? 'it did not end in time' : last || error.message, 300) : undefined)
    }).stdin?.end()
  })
  if (failed === undefined) return program
  const next = 'Correct [fork] setup in config.toml, or remove it, then try again. Nothing is left of the fork'
  throw new SkeinError('setup-failed', `The setup command ${program} failed: ${failed}`, next)
}
