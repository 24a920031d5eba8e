import { lifeOf, thisProcess } from '../../disk/index.js'
import { type Instant, msOf } from '../../model/index.js'
import type { AskedEnd, LiveRun } from '../agent-run.js'

/** So long after whoever asked for the end was killed, the program may be ending by it. What ends it later has a cause of its own. */
const HOLDS_MS = 30_000

/** The mark that the end of a run is asked for, by this process. */
export const askFor = (end: Omit<AskedEnd, 'at' | 'by'>, at: Instant): AskedEnd => ({ ...end, at, by: thisProcess() })

/** That the end of a run is asked for, unless whoever asked was killed before it was carried out. */
export function askedOf({ asked }: LiveRun, nowMs: number): AskedEnd | undefined {
  if (!asked) return undefined
  const isHeld = asked.by !== undefined && lifeOf(asked.by) !== 'dead'
  return isHeld || nowMs - msOf(asked.at) < HOLDS_MS ? asked : undefined
}

/** A run without what was asked for and never carried out. */
export function withoutOldAsk(run: LiveRun, nowMs: number): LiveRun {
  if (!run.asked || askedOf(run, nowMs)) return run
  const { asked: _asked, ...rest } = run
  return rest
}
