import type { Statements } from '../../disk/index.js'
import { type Applied, addApplied, type RedactionNotice, redactionNotice } from '../../privacy/index.js'

/** What a session's texts were filtered by, not told to the journal yet. */
export interface PendingRedactions {
  session: string
  notice: RedactionNotice
}

/**
 * Per session one notice. All of them carry the name of the run they were counted in: a process that is killed after the journal has
 * a notice and before it is forgotten here makes the next one tell it again, with what was added since, in place of the first.
 */
export function pendingRedactions(db: Statements): PendingRedactions[] {
  const run = runOf(db)
  if (run === undefined) return []
  const rows = db.all('select session, tool, rule, times from text_redactions order by session') as Counted[]
  const sessions = new Map<string, { tools: Record<string, number>; rules: Applied }>()
  for (const { session, tool, rule, times } of rows) {
    // A tool may be called `constructor`.
    const told = sessions.get(session) ?? { tools: Object.create(null) as Record<string, number>, rules: {} }
    sessions.set(session, told)
    told.tools[tool] = (told.tools[tool] ?? 0) + times
    addApplied(told.rules, { [rule]: times })
  }
  return [...sessions].flatMap(([session, { tools, rules }]) => {
    const notice = redactionNotice({ run, tools, rules })
    return notice ? [{ session, notice }] : []
  })
}

/** Once the journal has them. What another process added meanwhile begins a run of its own. */
export function forgetRedactions(db: Statements, told: readonly PendingRedactions[]): void {
  const run = told[0]?.notice.run
  db.inTransaction(() => {
    if (run === undefined || runOf(db) !== run) return
    const now = new Map(pendingRedactions(db).map((one) => [one.session, one.notice.count]))
    const isSame = told.length === now.size && told.every((one) => now.get(one.session) === one.notice.count)
    // Somebody counted on since: the next telling of this run replaces ours.
    if (!isSame) return
    db.run('delete from text_redactions')
    db.run("delete from text_facts where name = 'redactions_run'")
  })
}

const runOf = (db: Statements): string | undefined =>
  (db.get("select value from text_facts where name = 'redactions_run'") as { value: string } | undefined)?.value

interface Counted {
  session: string
  tool: string
  rule: string
  times: number
}
