import { openStepAt, type Step } from '../model/index.js'
import type { LoggedToolCall, LoggedTurn } from '../tools/index.js'

/** Each tool call with the step that was open when it was made, also where a step began in the middle of the turn. */
export function withSteps(turns: readonly LoggedTurn[], steps: readonly Step[]): LoggedTurn[] {
  if (steps.length === 0) return [...turns]
  return turns.map((turn) => ({ ...turn, tool_calls: turn.tool_calls.map((call) => withStep(call, steps)) }))
}

function withStep(call: LoggedToolCall, steps: readonly Step[]): LoggedToolCall {
  const step = call.started_at === undefined ? undefined : openStepAt(steps, call.started_at)
  return {
    ...call,
    ...(step ? { step_ref: step.step_ref } : {}),
    ...(call.sub_agent ? { sub_agent: withSteps(call.sub_agent, steps) } : {}),
  }
}
