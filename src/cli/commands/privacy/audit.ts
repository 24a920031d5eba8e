import { choice, defaulted, optional, present, sessionRef, when } from '../../../operations/index.js'
import { command } from '../../command.js'
import { grouped } from '../../screen/money.js'
import { table } from '../../screen/table.js'

export const audit = command({
  name: 'privacy audit',
  summary: 'Count what was redacted',
  description:
    'Adds up the events in which skein ingest recorded how often each rule was applied, one per session and run. They never contain a value; skein events config shows how long they are kept.',
  examples: [
    ['skein privacy audit', 'How often was each rule applied?'],
    ['skein privacy audit --by tool --since 7d', 'To which tools, in the last week'],
  ],
  args: { session: optional(sessionRef, 'Only this session') },
  options: {
    by: defaulted(choice('part', ['rule', 'tool', 'session', 'day']), 'rule', 'One line for each'),
    since: optional(when, 'Only what was filtered since then: 1h, 7d, today, yesterday, 2026-01-17 or a full time'),
  },
  async run({ session, by, since }, { home, out }) {
    const { privacy, sessions } = await home()
    const id = session === undefined ? undefined : (await sessions.find(session)).id
    const totals = await privacy.audit(present({ session: id, since }))
    const rows = Object.entries(totals[`by_${by}`]).sort(([a, x], [b, y]) =>
      by === 'day' ? (a < b ? 1 : -1) : y - x || (a < b ? -1 : 1),
    )
    out.result(totals, (screen) =>
      table(
        rows,
        [
          { header: by.toUpperCase(), text: ([name]) => name, shrinkTo: 12 },
          { header: 'TIMES', text: ([, times]) => grouped(times), align: 'right' },
        ],
        screen,
      ),
    )
    if (rows.length === 0 && !out.json) out.note('The journal records no redactions.')
  },
})
