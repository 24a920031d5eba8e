import { type Life, lifeOf, type ProcessPlace, startTimeOf, thisPlace, whereaboutsOf } from '../../disk/index.js'
import { type Instant, isSessionId, type SessionId, shapes } from '../../model/index.js'
import { ownerOf } from '../run/run-life.js'

const { count, shape, shaped, text, time } = shapes

/**
 * The process that is this agent. It is held by the agent's own program, which lives as long as the agent does, and not by the command that
 * takes it: it is free as soon as that process is gone, and nobody has to release it.
 */
export interface IdentityLock {
  pid: number
  /** The kernel's start time of that pid: another process that got the same number does not hold the lock. */
  process_start?: number
  place?: ProcessPlace
  session?: SessionId
  at: Instant
}

const PLACE = shaped(shape({ host: text, 'machine?': text, 'boot?': text, 'pid_namespace?': text }))

export const isIdentityLock = shaped(
  shape({ pid: count, 'process_start?': count, 'place?': PLACE, 'session?': isSessionId, at: time }),
)

export type LockVerdict =
  | { readonly kind: 'taken'; readonly lock: IdentityLock }
  /** Another living process is this agent. It is reported and left alone. */
  | { readonly kind: 'held'; readonly by: IdentityLock }

interface Claim {
  pid: number
  session: SessionId | undefined
  at: Instant
}

/** The lock for a process that says it is this agent. */
export function lockFor(
  current: IdentityLock | undefined,
  { pid, session, at }: Claim,
  life: (lock: IdentityLock) => Life = lifeOfHolder,
): LockVerdict {
  const start = startTimeOf(pid)
  const isSame = current?.pid === pid && (current.process_start ?? start) === start
  if (current && !isSame && life(current) !== 'dead') return { kind: 'held', by: current }
  return { kind: 'taken', lock: holderOf({ pid, session, at }) }
}

/** A process here, so that it is known again. */
export function holderOf({ pid, session, at }: Claim): IdentityLock {
  const start = startTimeOf(pid)
  return {
    pid,
    ...(start === undefined ? {} : { process_start: start }),
    place: thisPlace(),
    ...(session ? { session } : {}),
    at,
  }
}

/** A holder on another machine or in another container cannot be asked: it is taken to live. */
export function lifeOfHolder(lock: IdentityLock): Life {
  switch (whereaboutsOf(lock.place)) {
    case 'here':
      return lifeOf(ownerOf(lock))
    case 'restarted':
      return 'dead'
    case 'elsewhere':
      return 'unknown'
  }
}
