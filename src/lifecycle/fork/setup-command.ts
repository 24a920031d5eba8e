import { type ProgramEnd, runBounded } from '../../disk/index.js'
import { plainLine, SkeinError } from '../../model/index.js'
import type { Parts } from '../parts.js'
import { isPassedOn } from '../run/launch-environment.js'

const LIMIT_MS = 600_000
const OUTPUT_MOST = 4 * 1024 * 1024

/** Runs the user's `[fork] setup` in a new worktree, without a shell. A repository cannot name it. */
export async function runSetup(parts: Parts, cwd: string, signal?: AbortSignal): Promise<string | undefined> {
  const command = await parts.home.programs.forkSetup()
  if (!command) return undefined
  const [program = '', ...args] = command
  const env = Object.fromEntries(Object.entries(parts.environment.env).filter(([name]) => isPassedOn(name)))
  const bounds = { limitMs: LIMIT_MS, mostBytes: OUTPUT_MOST, ...(signal ? { signal } : {}) }
  const end = await runBounded(program, args, { cwd, env, ...bounds })
  const failed = problemOf(end)
  if (failed === undefined) return program
  const next = 'Correct [fork] setup in config.toml, or remove it, then try again. Nothing is left of the fork'
  throw new SkeinError('setup-failed', `The setup command ${program} failed: ${failed}`, next)
}

function problemOf(end: ProgramEnd): string | undefined {
  if (end.how === 'exited' && end.code === 0) return undefined
  if (end.how === 'not-started') return plainLine(end.problem, 300)
  if (end.how !== 'exited')
    return { late: 'it did not end in time', 'too-much': 'it printed too much', stopped: 'it was interrupted' }[end.how]
  const last = `${end.stdout}\n${end.stderr}`.trim().split('\n').at(-1) ?? ''
  return plainLine(last || `exit code ${end.code}`, 300)
}
