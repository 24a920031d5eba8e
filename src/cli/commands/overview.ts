import type { Home } from '../../home/index.js'
import { DAY_MS, instantOf } from '../../model/index.js'
import type { Cli } from '../command.js'
import { money } from '../screen/money.js'
import { plural } from '../screen/plural.js'
import { expectShortRun } from '../short-run.js'
import { sessionTable } from '../views/session-table.js'
import { noteUnreadable } from '../views/unreadable-logs.js'

const NEWEST = 10

/**
 * What `skein` alone says: the newest sessions, the spend, and how to go on. The first time it reads every log it finds, so that
 * a new user sees something of theirs within the first minute. False when there is nothing to show yet.
 */
export async function overview({ home, out, nowMs }: Cli): Promise<boolean> {
  expectShortRun()
  const open = await home()
  const read = await open.history.ingest()
  const { sessions } = await open.sessions.query({ limit: NEWEST })
  if (!out.json) noteUnreadable(read, out)
  if (sessions.length === 0) return false
  const spent = await open.history.spent(sessions.map((session) => session.id))
  const spend = await spending(open, nowMs)
  out.result(
    { read, sessions: sessions.map((session) => ({ ...session, spent: spent.get(session.id) })), spend },
    (screen) => {
      const found =
        read.sessions_found > 0
          ? [`Found ${plural(read.sessions_found, 'session')} in ${plural(read.logs, 'log')}.`]
          : []
      const sums = `Spent: ${money(spend.today)} today, ${money(spend.week)} in 7 days, ${money(spend.month)} in 30 days, ${money(spend.all)} in all`
      return [...found, sessionTable(sessions, screen, spent), sums, HINTS].join('\n\n')
    },
  )
  return true
}

async function spending(home: Home, nowMs: number) {
  const since = async (ms: number) => (await home.history.cost({ by: 'month', since: instantOf(ms) })).total
  return {
    today: await since(new Date(nowMs).setHours(0, 0, 0, 0)), // as `skein cost` has its days: from midnight
    week: await since(nowMs - 7 * DAY_MS),
    month: await since(nowMs - 30 * DAY_MS),
    all: (await home.history.cost({ by: 'month' })).total,
  }
}

const HINTS = `Next:
  skein show <id>            everything about one session
  skein turns <id>           what was asked and done
  skein cost --by model      where the money goes
  skein sessions list --all  every session
  skein --help               every command`
