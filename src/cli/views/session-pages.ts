import type { Home } from '../../home/index.js'
import type { SessionPage, SessionQuery } from '../../index/index.js'
import type { Session } from '../../model/index.js'
import type { Output } from '../screen/output.js'
import { sessionTable } from './session-table.js'

/** One page, or with `all` every page after another. */
export async function readPages(home: Home, query: SessionQuery, options: { all: boolean }): Promise<SessionPage> {
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
export function answerWithPage(out: Output, page: SessionPage): void {
  out.result(page, (screen) => sessionTable(page.sessions, screen))
  if (out.json) return
  if (page.sessions.length === 0) out.note('No sessions match. Every session: skein sessions list --all')
  if (page.next_cursor !== undefined) out.note(`There are more: --limit <n>, --all or --cursor ${page.next_cursor}`)
}
