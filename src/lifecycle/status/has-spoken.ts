import { msOf } from '../../model/index.js'
import type { ToolRunner } from '../../tools/index.js'
import { type AgentRun, type LiveRun, liveRun } from '../agent-run.js'
import type { Parts } from '../parts.js'

/** A program that has no hooks in this run is believed by its looks after this. */
const LOOKS_MS = 15_000
/** One that has hooks has so long to report: on a busy machine it shows an input line long before it listens, or asks something first. */
const SPEAK_MS = 300_000

/** Whether it listens already, for programs that look ready before they are. One that never speaks is believed by its looks in the end. */
export function hasSpoken(parts: Parts, run: AgentRun | undefined, runner: ToolRunner): boolean {
  const live = liveRun(run)
  if (!runner.isReadyWhenTold || !live || isTimeUp(parts, live)) return true
  return (run?.told ?? []).some(({ at }) => at >= live.started_at)
}

/** Whether it had its time to report. A start in the future means that the clock was set back since: nothing is left to wait for. */
export function isTimeUp(parts: Parts, { started_at, is_mute }: LiveRun): boolean {
  const ageMs = parts.context.clock.now() - msOf(started_at)
  return ageMs >= (is_mute ? LOOKS_MS : SPEAK_MS) || ageMs < 0
}
