import { isActive, type Session, SkeinError } from '../model/index.js'

export const illegal = (session: Session, what: string, next: string): SkeinError =>
  new SkeinError('illegal-transition', `Session ${session.id} ${what}`, next)

export const alreadyEnded = (session: Session): SkeinError =>
  illegal(
    session,
    `has already ended (${session.outcome})`,
    `Open it again with: skein session start --resume --id ${session.id}`,
  )

export const sessionExists = (session: Session): SkeinError =>
  new SkeinError(
    'session-exists',
    `There is already a session ${session.id}`,
    isActive(session) ? `See it with: skein sessions show ${session.id}` : 'Give --resume to open it again',
  )
