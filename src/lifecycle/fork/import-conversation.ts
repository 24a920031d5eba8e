import { join } from 'node:path'
import { runBounded, ScratchDirectory, statOf, writeAtomic } from '../../disk/index.js'
import { type SessionId, SkeinError } from '../../model/index.js'
import { type Environment, findProgram, type LogTool, refuseMisread, type Written } from '../../tools/index.js'

/** An import of two megabytes takes a second or two on a quiet machine. */
const IMPORT_MS = 120_000
const MOST_BYTES = 16 * 1024 * 1024

/**
 * Has a tool's own program read a written conversation into its store. The conversation is compared with what was to be written before
 * it is given to the program, and again as the store has it. Refused where the store has a session of that id: the program would move it.
 */
export async function importConversation(
  tool: LogTool,
  written: Written,
  environment: Environment,
  { signal, place }: { signal?: AbortSignal | undefined; place: () => void },
): Promise<void> {
  const { import: how, files, session, turns } = written
  const [file] = files
  if (!how || !file) return
  if (storedLog(tool, environment, session))
    throw new SkeinError('session-exists', `${tool.name} has session ${session} already`, 'Resume that one, or fork it')
  using directory = await ScratchDirectory.make()
  const path = join(directory.path, file.path)
  writeAtomic(path, file.content, { durable: false })
  const log = tool.logAt(path)
  if (!log) throw new Error(`no log at ${path}`)
  refuseMisread(tool, log, session, turns)
  const argv = how.argv.map((word) => (word === file.path ? path : word)) as [string, ...string[]]
  place()
  const printed = await outputOf(argv, how.cwd, environment, signal)
  const stored = storedLog(tool, environment, session)
  if (!stored) throw notImported(argv, `it printed ${JSON.stringify(printed.slice(-300))}`)
  refuseMisread(tool, stored, session, turns)
}

const WHY = { late: 'it took too long', 'too-much': 'it printed too much', stopped: 'it was interrupted' } as const

const storedLog = (tool: LogTool, environment: Environment, session: SessionId) =>
  tool.discover(environment).find((log) => log.session === session)

/** What a program prints, within a bounded time. It is run without a shell, in the user's environment. */
export async function outputOf(
  argv: readonly [string, ...string[]],
  cwd: string,
  environment: Environment,
  signal?: AbortSignal,
): Promise<string> {
  const [name, ...args] = argv
  const program = findProgram(name, environment)
  if (!program) throw new SkeinError('bad-input', `${name} is not installed, or not in PATH`, `Install ${name}`)
  if (!statOf(cwd)?.isDirectory()) throw new SkeinError('bad-input', `${cwd} is not a directory`, 'Create it')
  const { env } = environment
  const bounds = { limitMs: IMPORT_MS, mostBytes: MOST_BYTES, ...(signal ? { signal } : {}) }
  const end = await runBounded(program.path, args, { cwd, env, ...bounds })
  if (end.how === 'exited' && end.code === 0) return end.stdout
  if (end.how === 'exited') throw notImported(argv, end.stderr.trim().slice(-500) || `exit code ${end.code}`)
  throw notImported(argv, end.how === 'not-started' ? end.problem : WHY[end.how])
}

export const notImported = (argv: readonly string[], because: string): SkeinError =>
  new SkeinError(
    'illegal-transition',
    `The conversation was not written: ${argv.slice(0, 2).join(' ')} failed: ${because}`,
    'Run the program once by hand to see whether it works, then try again',
  )
