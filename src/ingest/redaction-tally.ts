import type { Statements } from '../disk/index.js'
import { type Applied, addApplied, filterText, type RedactionNotice, redactionNotice } from '../privacy/index.js'

/** What a session's texts were filtered by, not told to the journal yet. */
export interface PendingRedactions {
  session: string
  notice: RedactionNotice
}

/** A log may name any number of tools; beyond these they are counted together. */
const MOST_TOOLS = 200
const OTHERS = '(others)'
/** Whose log it is may not be known yet. */
const NOBODY = ''

/** Rules and how often they were applied to the texts of one session, by tool. */
export interface Redactions {
  session: string | undefined
  tools: ReadonlyMap<string, Applied>
}

/** Inside the transaction that stores the text, so that a kill neither loses a count nor counts twice. */
export function saveRedactions(db: Statements, { session = NOBODY, tools }: Redactions, run: string): void {
  if (tools.size === 0) return
  db.run("insert or ignore into text_facts (name, value) values ('redactions_run', ?)", run)
  let left = MOST_TOOLS
  for (const [tool, rules] of tools) {
    left -= 1
    const name = left < 0 ? OTHERS : filterText(tool).text
    for (const [rule, times] of Object.entries(rules)) db.run(ADD, session, name, rule, times)
  }
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
    const told = sessions.get(session) ?? { tools: {}, rules: {} }
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

const ADD = `insert into text_redactions (session, tool, rule, times) values (?, ?, ?, ?)
  on conflict (session, tool, rule) do update set times = times + excluded.times`
