import type { AgentStatus } from '../../model/index.js'
import type { PaneInfo } from '../../terminal/index.js'
import type { ScreenReading, ToolRunner } from '../../tools/index.js'
import { activityOf } from './evidence.js'

/** tmux counts in seconds, so this is two at least. */
const QUIET_MS = 3_000

/**
 * The reading of a screen on which no rule of its tool matches, for tools that say how they look at work and when they ask and not
 * how they look otherwise: one that writes nothing is idle. While it writes, what it did before still holds, except a prompt that
 * is no longer there.
 */
export function withQuiet(
  runner: ToolRunner,
  reading: ScreenReading,
  { activeAtMs }: Pick<PaneInfo, 'activeAtMs'>,
  before: AgentStatus | undefined,
  nowMs: number,
): ScreenReading {
  const isUnread = reading.status === 'unknown' && reading.rule === undefined
  if (!runner.isIdleWhenQuiet || !isUnread || activeAtMs === undefined) return reading
  if (nowMs - activeAtMs >= QUIET_MS) {
    const reason = 'its screen is quiet and matches none of its patterns'
    return { status: 'idle', rule: `${runner.name}/quiet@1`, reason }
  }
  const isAnswered = before !== undefined && activityOf(before) === 'blocked'
  const reason = isAnswered ? 'its prompt is gone, and its screen has just changed' : 'its screen has just changed'
  return { status: isAnswered ? 'running' : 'unknown', rule: `${runner.name}/changing@1`, reason }
}
