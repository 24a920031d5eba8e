import type { Statements } from '../../disk/index.js'
import type { Applied } from '../../privacy/index.js'

/** A log may name any number of tools; beyond these they are counted together. */
const MOST_TOOLS = 200
const OTHERS = '(others)'
/** Whose log it is may not be known yet. */
const NOBODY = ''

/** Rules and how often they were applied to the texts of one session, by tool; the names of tools are without secrets. */
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
    const name = left < 0 ? OTHERS : tool
    for (const [rule, times] of Object.entries(rules)) db.run(ADD, session, name, rule, times)
  }
}

const ADD = `insert into text_redactions (session, tool, rule, times) values (?, ?, ?, ?)
  on conflict (session, tool, rule) do update set times = times + excluded.times`
