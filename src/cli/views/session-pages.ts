import type { Home, SessionFilter } from '../../home/index.js'
import type { SessionPage, Spent } from '../../index/index.js'
import type { Session } from '../../model/index.js'
import type { Output } from '../screen/output.js'
import { type Spending, sessionTable, tableFacts } from './session-table.js'

/** One page, or with `all` every page after another. */
export async function readPages(home: Home, query: SessionFilter, options: { all: boolean }): Promise<SessionPage> {
  const first = await home.sessions.query(query)
  const sessions: Session[] = [...first.sessions]
  let next = first.next_cursor
  while (options.all && next !== undefined) {
    const page = await home.sessions.query({ ...query, cursor: next })
    sessions.push(...page.sessions)
    next = page.next_cursor
  }
  return next === undefined ? { sessions } : { sessions, next_cursor: next }
}

/** The page as an answer, with a word on stderr about what it leaves out. */
export async function answerWithPage(home: Home, out: Output, page: SessionPage): Promise<void> {
  const facts = await tableFacts(home, page.sessions)
  const sessions = page.sessions.map((session) => withSpent(session, facts.spent))
  out.result({ ...page, sessions }, (screen) => sessionTable(page.sessions, screen, facts))
  if (out.json) return
  if (page.sessions.length === 0) out.note('No sessions match. Every session: skein sessions list --all')
  if (page.next_cursor !== undefined) out.note(`There are more: --limit <n>, --all or --cursor ${page.next_cursor}`)
}

/** A session as `--json` shows it: with what it has cost, where its log was read. */
export function withSpent(session: Session, spending: Spending): Session & { spent?: Spent } {
  const spent = spending.get(session.id)
  return spent ? { ...session, spent } : session
}
