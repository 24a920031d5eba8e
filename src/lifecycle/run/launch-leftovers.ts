import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, namesIn } from '../../disk/index.js'
import type { Parts } from '../parts.js'

const DIRECTORY = 'launch'
/** A script is read and removed as soon as its pane is there. One that is this old was left by a start that was killed. */
const MAX_AGE_MS = 60_000

/** Where the launch script of a run is written: all in one directory, so that looking for leftovers costs one read. */
export function launchScriptOf({ home }: Parts, run: string): string {
  const directory = join(home.paths.agents, DIRECTORY)
  makeDirectory(directory)
  return join(directory, `${run}.sh`)
}

/** Removes launch scripts that nobody will run: they hold the environment of an agent. */
export function sweepLaunchScripts({ home, context }: Parts): void {
  for (const name of namesIn(join(home.paths.agents, DIRECTORY))) {
    removeOld(join(home.paths.agents, DIRECTORY, name), context.clock.now())
  }
}

/** Also those that an earlier version wrote, in the directory of each run: for a process that stays. */
export function sweepAllLaunchScripts(parts: Parts): void {
  sweepLaunchScripts(parts)
  for (const agent of directoriesIn(parts.home.paths.agents)) {
    for (const run of directoriesIn(agent)) removeOld(join(run, 'launch.sh'), parts.context.clock.now())
  }
}

function directoriesIn(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => join(path, name))
  } catch {
    return []
  }
}

/** By either clock that may be wrong: what seems to be from the future is as old. */
function removeOld(path: string, nowMs: number): void {
  const stat = statSync(path, { throwIfNoEntry: false })
  if (stat && Math.abs(nowMs - stat.mtimeMs) > MAX_AGE_MS) rmSync(path, { force: true })
}
