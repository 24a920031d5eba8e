import type { Home, SessionFilter } from '../../home/index.js'
import type { Spent } from '../../index/index.js'
import type { Session } from '../../model/index.js'

/** A session as it is shown: with what it has cost, where its log was read. */
export type ShownSession = Session & { spent?: Spent }

export interface ShownPage {
  sessions: ShownSession[]
  next_cursor?: string
}

/** One page, or with `all` every page after another. */
export async function pageOf(home: Home, filter: SessionFilter, options: { all: boolean }): Promise<ShownPage> {
  const first = await home.sessions.query(filter)
  const sessions: Session[] = [...first.sessions]
  let next = first.next_cursor
  while (options.all && next !== undefined) {
    const page = await home.sessions.query({ ...filter, cursor: next })
    sessions.push(...page.sessions)
    next = page.next_cursor
  }
  const spent = await home.history.spent(sessions.map(({ id }) => id))
  const shown = sessions.map((session) => withSpent(session, spent))
  return next === undefined ? { sessions: shown } : { sessions: shown, next_cursor: next }
}

export function withSpent(session: Session, spending: ReadonlyMap<string, Spent>): ShownSession {
  const spent = spending.get(session.id)
  return spent ? { ...session, spent } : session
}
