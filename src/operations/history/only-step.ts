import type { CostSpan, SessionHistory } from '../../home/index.js'
import { type Session, SkeinError } from '../../model/index.js'
import type { LoggedToolCall, LoggedTurn } from '../../tools/index.js'
import { optional } from '../field.js'
import { text } from '../kind.js'

export const STEP = optional(text('ref'), 'Only what belongs to this step')

/** The turns that a step covers, each with the calls of the step alone; as it is when no step is asked for. */
export function onlyStep(history: SessionHistory, step: string | undefined): SessionHistory {
  if (step === undefined) return history
  const covered = history.steps.filter(({ step_ref }) => step_ref === step)
  if (covered.length === 0) throw noStep(history.session, step)
  const numbers = new Set(covered.flatMap(({ turns }) => turns))
  const { before, ...rest } = history
  const early = before && ofStep([before], step)[0]
  return {
    ...rest,
    ...(early && early.tool_calls.length > 0 ? { before: early } : {}),
    turns: ofStep(
      history.turns.filter(({ number }) => numbers.has(number)),
      step,
    ),
    sub_agents: ofStep(history.sub_agents, step).filter(({ tool_calls }) => tool_calls.length > 0),
    steps: covered,
  }
}

const ofStep = (turns: readonly LoggedTurn[], step: string): LoggedTurn[] =>
  turns.map((turn) => ({ ...turn, tool_calls: callsOf(turn.tool_calls, step) }))

/** A call that began before the step stays where its sub-agent went on into the step. */
function callsOf(calls: readonly LoggedToolCall[], step: string): LoggedToolCall[] {
  return calls.flatMap((call) => {
    const { sub_agent, ...rest } = call
    const inner = sub_agent && ofStep(sub_agent, step).filter(({ tool_calls }) => tool_calls.length > 0)
    if (call.step_ref === step) return [sub_agent ? { ...rest, sub_agent: ofStep(sub_agent, step) } : call]
    return inner && inner.length > 0 ? [{ ...rest, sub_agent: inner }] : []
  })
}

/** When a step was open, each time, for what is counted by time. Without a step of that name: nothing. */
export function timesOfStep({ id, steps = [] }: Session, step: string): CostSpan[] {
  return steps
    .filter(({ step_ref }) => step_ref === step)
    .map(({ started_at, completed_at }) => ({
      session: id,
      since: started_at,
      ...(completed_at ? { until: completed_at } : {}),
    }))
}

export function noStep({ id, steps = [] }: Session, step: string): SkeinError {
  const refs = [...new Set(steps.map(({ step_ref }) => step_ref))]
  const next = refs.length === 0 ? 'It has none; begin one: skein step start <ref>' : `It has ${refs.join(', ')}`
  return new SkeinError('bad-input', `Session ${id} has no step ${JSON.stringify(step.slice(0, 140))}`, next)
}
