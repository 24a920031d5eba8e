import { type Agent, type Instant, isSessionId, type SessionId, shapes } from '../../model/index.js'
import type { Parts } from '../parts.js'

const { shape, shaped, text, time } = shapes

const KINDS = ['fresh', 'cycle', 'auto'] as const
/** `fresh`: a new conversation. `cycle`: a new process in the same one. `auto`: only saved; the process continues. */
export type HandoffKind = (typeof KINDS)[number]

/** Each names what is complete. `saved` is all that an `auto` handoff does. */
const STEPS = ['saved', 'marked', 'linked', 'respawned'] as const
type HandoffStep = (typeof STEPS)[number]

/** A handoff that is under way, or whose successor has not read it yet. Kept in the agent's file, so that any process can finish it. */
export interface HandoffMarker {
  id: string
  /** The session that hands off. */
  from: SessionId
  /** The session that continues it, chosen before anything is ended. Absent where the program chooses its own id. */
  to?: SessionId
  /** The tool that the successor runs, where it is another one. */
  tool?: string
  reason?: string
  /** The mail that holds what the successor has to know. */
  mail?: string
  subject?: string
  topic?: string
  /** The agent that asked for it, where it is another one. */
  sender?: string
  at: Instant
  /** Of a cycle that ends a turn: its program is told to go on. */
  is_cut?: true
  step: HandoffStep
  kind: HandoffKind
}

const oneOf = (values: readonly unknown[]) => (value: unknown) => values.includes(value)

export const isHandoffMarker = shaped(
  shape({
    id: text,
    from: isSessionId,
    'to?': isSessionId,
    'tool?': text,
    'reason?': text,
    'mail?': text,
    'subject?': text,
    'topic?': text,
    'sender?': text,
    at: time,
    'is_cut?': oneOf([true]),
    step: oneOf(STEPS),
    kind: oneOf(KINDS),
  }),
)

/** The marker, while the successor does not run yet: whoever starts the agent finishes the handoff. */
export function unfinished(run: { handoff?: HandoffMarker } | undefined): HandoffMarker | undefined {
  const { handoff } = run ?? {}
  return handoff && handoff.kind !== 'auto' && handoff.step !== 'respawned' ? handoff : undefined
}

/** A session that gets a successor says so itself, in the same event as the link. For others, this is the event. */
export function handoffEvents({ id, from, mail, subject, kind, reason, to, tool }: HandoffMarker) {
  const facts = { ...(mail ? { mail } : {}), ...(reason ? { reason } : {}), ...(tool ? { tool } : {}) }
  const payload = { handoff: id, kind, subject: subject ?? 'Handoff', ...facts }
  return to ? [] : [{ type: 'handoff', session: from, payload }]
}

/** Whether a process that was killed had written that event, and not yet that it had. */
export async function wasTold({ home }: Pick<Parts, 'home'>, { id, from }: HandoffMarker): Promise<boolean> {
  const told = await home.events.read({ type: 'handoff', session: from })
  return told.some(({ payload }) => payload.handoff === id)
}

/** Where a session's start says that it comes from: the program started, resumed, was cleared or compacted its context. */
export type PrimeSource = 'startup' | 'resume' | 'clear' | 'compact'

/** Whether the session that is being primed is the one that this handoff is for. */
export function isFor(marker: HandoffMarker, session: SessionId, source: PrimeSource): boolean {
  if (marker.kind === 'fresh') return session !== marker.from
  return session !== marker.from || source === 'compact' || source === 'resume'
}

/**
 * Takes the marker away for the session that it is meant for, and gives it back: to one caller, once. Undefined when there is none, or
 * when this session is still the one that hands off.
 */
export async function consumeHandoff(
  parts: Pick<Parts, 'runs'>,
  agent: Agent,
  session: SessionId,
  source: PrimeSource = 'startup',
): Promise<HandoffMarker | undefined> {
  return parts.runs.update(agent, (current) => {
    if (!current?.handoff || !isFor(current.handoff, session, source)) return undefined
    const { handoff, ...next } = current
    return { next, result: handoff }
  })
}
