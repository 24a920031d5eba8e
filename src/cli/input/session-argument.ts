import { optional, sessionRef, usageError } from '../../operations/index.js'

/** The session a plumbing command is about: named, or the one this process runs in. */
export const SESSION_ARGUMENT = optional(sessionRef, 'Id, or a unique beginning of it', { fallback: '$SKEIN_SESSION' })

export function namedOrCurrent(named: string | undefined, current: string | undefined): string {
  const session = named ?? current
  if (session) return session
  throw usageError('No session is named, and SKEIN_SESSION is not set', 'Name one; see: skein sessions list')
}
