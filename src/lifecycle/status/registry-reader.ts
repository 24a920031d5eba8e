import { join } from 'node:path'
import { entriesIn, guardedText, lifeOf, startTimeOf } from '../../disk/index.js'
import type { Environment, RegistryEntry, ToolRunner } from '../../tools/index.js'
import type { LiveRun } from '../agent-run.js'
import { isWithinTree } from './process-family.js'

/** So many files of one registry are looked through when a program does not register under the pid it was started with. */
const MAX_FILES = 500
/** An entry is a few hundred bytes. */
const MOST_BYTES = 256 * 1024

/** What the program itself has registered about this very process; undefined when it has not. */
export function registeredOf(runner: ToolRunner, run: LiveRun, environment: Environment): RegistryEntry | undefined {
  const { registry } = runner
  if (!registry) return undefined
  const directory = registry.directory(environment)
  const pids = [run.pid, ...(run.program_pid === undefined ? [] : [run.program_pid])]
  for (const pid of pids) {
    const entry = entryAt(join(directory, `${pid}.json`), runner)
    if (entry?.pid === pid && isAlive(entry)) return entry
  }
  if (run.program_pid !== undefined) return undefined
  return entriesIn(directory)
    .slice(0, MAX_FILES)
    .map((name) => entryAt(join(directory, name), runner))
    .find((entry) => entry && (entry.pane === undefined || entry.pane === run.pane) && isOfRun(entry, run))
}

const isOfRun = (entry: RegistryEntry, run: LiveRun): boolean =>
  isAlive(entry) && isWithinTree(entry.pid, run.pid) === true

/** A file of a process that was killed stays behind, and its pid may come back as another. */
function isAlive({ pid, processStart }: RegistryEntry): boolean {
  if (lifeOf({ pid }) !== 'alive') return false
  const start = startTimeOf(pid)
  return processStart === undefined || start === undefined || processStart === start
}

function entryAt(path: string, { registry }: ToolRunner): RegistryEntry | undefined {
  const text = guardedText(path, MOST_BYTES)
  try {
    return text === undefined ? undefined : registry?.read(text)
  } catch {
    return undefined
  }
}
