import { optional, sessionRef, usageError } from '../../operations/index.js'
import type { Cli } from '../command.js'

/** The session that a command for scripts is about: named, or the one this process runs in. */
export const SESSION_ARGUMENT = optional(sessionRef, 'Id, or a unique beginning of it', { fallback: '$SKEIN_SESSION' })

/** The input with the session of the environment, where none is named. */
export function currentOf<Typed extends { readonly session: string | undefined }>(
  typed: Typed,
  { currentSession }: Cli,
): Typed & { readonly session: string } {
  const session = typed.session ?? currentSession
  if (session) return { ...typed, session }
  throw usageError('No session is named, and SKEIN_SESSION is not set', 'Name one; see: skein sessions list')
}
