import type { Home } from '../../home/index.js'
import { type Session, SkeinError } from '../../model/index.js'

/**
 * The session that is meant: by its id or the beginning of one, by an agent (the one that it was in last), or by a unit of work (the
 * newest that worked on it). With `isNewest`: the newest of the chain that this one is in.
 */
export async function predecessor(
  { sessions }: Pick<Home, 'sessions'>,
  reference: string,
  { isNewest = false }: { isNewest?: boolean } = {},
): Promise<Session> {
  const named = await sessions.find(reference).catch(unlessUnknown)
  if (named && !isNewest) return named
  // What is no unit of work either is refused there, as an unknown session.
  const chains = await sessions.chain(named?.id ?? reference)
  const newest = chains.flatMap((chain) => chain.sessions.at(-1) ?? [])
  const [only, other] = newest
  if (!only || other) throw severalOf(reference, newest)
  return only
}

function unlessUnknown(error: unknown): undefined {
  if (error instanceof SkeinError && error.code === 'session-not-found') return undefined
  throw error
}

function severalOf(reference: string, sessions: readonly Session[]): SkeinError {
  const some = sessions.slice(0, 5).map(({ id, agent }) => (agent ? `${id} (${agent})` : id))
  return new SkeinError(
    'ambiguous-id',
    `${sessions.length} chains of sessions worked on ${reference}: ${some.join(', ')}`,
    'Name one of these sessions',
  )
}
