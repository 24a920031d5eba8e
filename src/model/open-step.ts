import type { Step } from './session.js'
import type { Instant } from './time.js'

/** The step that was open at a time; of several, the one that began last. A call at the very moment a step begins belongs to it. */
export function openStepAt(steps: readonly Step[], at: Instant): Step | undefined {
  return steps.findLast(
    ({ started_at, completed_at }) => started_at <= at && (completed_at === undefined || at < completed_at),
  )
}
