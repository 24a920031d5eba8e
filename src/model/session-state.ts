import { type Event, isStateType, type StateEvent, type StatePayloads } from './event.js'
import type { SessionId } from './ids.js'
import { OUTCOME_OF_LINK } from './outcome.js'
import type { Session, Step, TurnMark } from './session.js'

/** The sessions whose state an event may change: its own, and the predecessor that a start continues. */
export function sessionsTouchedBy(event: Event): SessionId[] {
  if (!isStateType(event.type) || !event.session) return []
  const state = event as StateEvent
  if (state.type === 'session_start' && state.payload.parent_id && state.payload.parent_id !== event.session) {
    return [event.session, state.payload.parent_id]
  }
  return [event.session]
}

/**
 * What a session is after an event: the only place that says so, shared by the live path and by `skein index rebuild`.
 * It looks at nothing but the session and the event, so sessions can be folded one by one and in any grouping.
 * An event that makes no sense here (an end without a start) leaves the session as it was; the caller counts it.
 */
export function applyToSession(current: Session | undefined, id: SessionId, event: Event): Session | undefined {
  const state = event as StateEvent
  switch (state.type) {
    case 'session_start':
      return state.session === id ? started(current, id, state) : continued(current, state)
    case 'session_resumed': {
      if (!current || current.outcome === undefined) return current
      const { ended_at, outcome, reason, ...rest } = current
      return rest
    }
    case 'session_end': {
      if (!current || current.outcome !== undefined) return current
      const { outcome, ended_at, reason } = state.payload
      return { ...current, ended_at, outcome, ...(reason === undefined ? {} : { reason }) }
    }
    case 'session_update':
      return current && { ...current, ...state.payload, ...mergedCommits(current, state.payload.commits) }
    case 'session_step_started': {
      if (!current) return current
      const { step_ref, molecule_id, started_at } = state.payload
      const step: Step = { step_ref, ...(molecule_id ? { molecule_id } : {}), started_at }
      return { ...current, step_ref, ...(molecule_id ? { molecule_id } : {}), steps: [...(current.steps ?? []), step] }
    }
    case 'session_step_completed':
      return current && stepCompleted(current, state.payload)
    case 'session_turn_marked':
      return current && marked(current, state.payload)
    default:
      return current
  }
}

type StartEvent = Extract<StateEvent, { type: 'session_start' }>

function started(current: Session | undefined, id: SessionId, event: StartEvent): Session {
  const { started_at, chain_id, parent_id, link, forked_from, ...facts } = event.payload
  // Told twice (a tool and a hook both report it): the first telling stands, the second may only add facts.
  if (current) return { ...facts, ...current, ...mergedCommits(current, facts.commits) }
  return {
    id,
    host: event.host,
    ...facts,
    started_at,
    chain_id,
    ...(parent_id ? { parent_id } : {}),
    ...(link ? { link } : {}),
    ...(forked_from ? { forked_from } : {}),
  }
}

/** A successor has started: the predecessor is over, and knows who goes on. */
function continued(predecessor: Session | undefined, event: StartEvent): Session | undefined {
  if (!predecessor || predecessor.child_id || !event.session) return predecessor
  const ending =
    predecessor.outcome === undefined
      ? { outcome: OUTCOME_OF_LINK[event.payload.link ?? 'handoff'], ended_at: event.payload.started_at }
      : {}
  return { ...predecessor, ...ending, child_id: event.session }
}

function stepCompleted(
  current: Session,
  done: { step_ref: string; completed_at: Step['started_at']; success: boolean },
): Session {
  const steps = [...(current.steps ?? [])]
  const open = steps.findLastIndex((step) => step.step_ref === done.step_ref && step.completed_at === undefined)
  const step = steps[open]
  if (!step) return current
  steps[open] = { ...step, completed_at: done.completed_at, success: done.success }
  const { step_ref, ...rest } = current
  return step_ref === done.step_ref ? { ...rest, steps } : { ...current, steps }
}

/** A turn that is left without a note and without a pin has no mark. */
function marked(current: Session, { turn, note, pinned, at }: StatePayloads['session_turn_marked']): Session {
  const { turn_marks = [], ...rest } = current
  const before = turn_marks.find((mark) => mark.turn === turn)
  const words = note ?? before?.note ?? ''
  const isPinned = pinned ?? before?.is_pinned ?? false
  const mark: TurnMark = {
    turn,
    ...(words === '' ? {} : { note: words }),
    ...(isPinned ? { is_pinned: true } : {}),
    at,
  }
  const others = turn_marks.filter((one) => one.turn !== turn)
  const marks = words === '' && !isPinned ? others : [...others, mark].sort((a, b) => a.turn - b.turn)
  return marks.length > 0 ? { ...rest, turn_marks: marks } : rest
}

function mergedCommits(current: Session, more: string[] | undefined): { commits?: string[] } {
  const commits = [...new Set([...(current.commits ?? []), ...(more ?? [])])]
  return commits.length > 0 ? { commits } : {}
}
