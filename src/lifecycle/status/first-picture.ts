import { msOf } from '../../model/index.js'
import type { PaneInfo } from '../../terminal/index.js'
import type { Screen, ScreenReading, ToolRunner } from '../../tools/index.js'
import { type AgentRun, liveRun } from '../agent-run.js'
import { activityOf } from './evidence.js'

/** A picture that has not changed for so long is the last one: the program may have been told to show neither title nor model. */
const LASTS_MS = 15_000
const RULE = 'first-picture@1'

/**
 * The reading of a screen with an input line that a program draws before it asks something (`ToolRunner.isFirstPicture`): it is still
 * starting. What was typed then would answer the question or be lost.
 */
export function withFirstPicture(
  runner: ToolRunner,
  reading: ScreenReading,
  screen: Screen,
  { activeAtMs }: Pick<PaneInfo, 'activeAtMs'>,
  run: AgentRun | undefined,
  nowMs: number,
): ScreenReading {
  if (activityOf(reading) !== 'quiet' || !runner.isFirstPicture?.(screen)) return reading
  const isLasting = activeAtMs !== undefined && nowMs - activeAtMs >= LASTS_MS
  if (isLasting || hasBegun(run)) return reading
  return { status: 'starting', rule: `${runner.name}/${RULE}`, reason: 'it draws its prompt and has not begun' }
}

/** Its program runs and draws; what it asks, and its prompt, are still to come. */
export const showsFirstPicture = ({ reading }: { reading?: ScreenReading }): boolean =>
  reading?.rule?.endsWith(`/${RULE}`) === true

/** It was seen at its prompt or at work before, in this run. */
function hasBegun(run: AgentRun | undefined): boolean {
  const live = liveRun(run)
  if (!run || !live || msOf(run.status.since) < msOf(live.started_at)) return false
  return ['quiet', 'running', 'failed'].includes(activityOf(run.status) ?? '')
}
