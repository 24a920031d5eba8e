import { choice, defaulted, privacyAudit } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { grouped } from '../../screen/money.js'
import { table } from '../../screen/table.js'

export const audit = operationCommand(privacyAudit, {
  name: 'privacy audit',
  examples: [
    ['skein privacy audit', 'How often was each rule applied?'],
    ['skein privacy audit --by tool --since 7d', 'To which tools, in the last week'],
  ],
  args: ['session'],
  own: { by: defaulted(choice('part', ['rule', 'tool', 'session', 'day']), 'rule', 'One line for each') },
  order: ['by', 'since'],
  show(totals, { out }, { by }) {
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
    if (rows.length === 0) out.note('The journal records no redactions.')
  },
})
