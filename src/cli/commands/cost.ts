import { setFlagsFromString } from 'node:v8'
import { cost as operation } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { plural } from '../screen/plural.js'
import { safeText } from '../screen/safe-text.js'
import { costView } from '../views/cost-view.js'

export const cost = operationCommand(operation, {
  name: 'cost',
  examples: [
    ['skein cost', 'By day'],
    ['skein cost --by model --since 30d', 'By model, the last month'],
    ['skein cost --by work --json', 'What each unit of work has cost'],
    ['skein cost 22222222 --by model', 'One session'],
    ['skein cost --no-index', 'From the logs alone'],
  ],
  args: ['session'],
  prepare(typed) {
    // The scan ends before optimized code would pay off: compiling it is a fifth of the CPU time for 100 MB of logs.
    if (typed.no_index) setFlagsFromString('--no-opt')
    return typed
  },
  show(report, { out }) {
    out.result(report, (screen) => costView(report, screen))
    if (report.rows.length === 0) out.note('No model calls in this period.')
    if (report.unread_counts > 0)
      out.note(
        `Counted as 0: token counts that are not numbers, in ${plural(report.unread_counts, 'record')} of the logs. The totals do not include them`,
      )
    const { unpriced_calls, unpriced_models } = report.total
    if (unpriced_calls > 0) {
      out.note(
        `Not in the total: ${plural(unpriced_calls, 'call')} of ${unpriced_models.map(safeText).join(', ')}, without a known price. Set it under [prices] in config.toml`,
      )
    }
  },
})
