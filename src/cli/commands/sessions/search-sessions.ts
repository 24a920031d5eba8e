import type { Home } from '../../../home/index.js'
import type { SessionPage, SessionQuery } from '../../../index/index.js'
import { type Session, SkeinError } from '../../../model/index.js'
import { readPages } from '../../views/session-pages.js'

/** The session whose id begins with the text, then those with it in their title; the filters hold for both. */
export async function searchSessions(
  home: Home,
  text: string,
  query: SessionQuery,
  options: { all: boolean },
): Promise<SessionPage> {
  const byTitle = await readPages(home, { ...query, title: text }, options)
  const named = query.cursor === undefined ? await sessionNamed(home, text, query) : undefined
  if (!named || byTitle.sessions.some((session) => session.id === named.id)) return byTitle
  return { ...byTitle, sessions: [named, ...byTitle.sessions] }
}

async function sessionNamed(home: Home, prefix: string, query: SessionQuery): Promise<Session | undefined> {
  try {
    const session = await home.sessions.find(prefix)
    if (query.chain_id !== undefined && query.chain_id !== session.chain_id) return undefined
    // A query cannot ask for an id, but the session's chain is short: see whether it passes the filters there.
    const chain = await readPages(home, { ...query, chain_id: session.chain_id }, { all: true })
    return chain.sessions.find((one) => one.id === session.id)
  } catch (error) {
    const isNoName = error instanceof SkeinError && /^(session-not-found|ambiguous-id|bad-id)$/.test(error.code)
    if (isNoName) return undefined
    throw error
  }
}
