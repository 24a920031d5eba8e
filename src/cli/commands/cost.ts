import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { COST_GROUPS } from '../../ingest/index.js'
import { command } from '../command.js'
import { defaulted, flag, optional } from '../input/input.js'
import { present } from '../input/present.js'
import { choice, directory, sessionRef, when } from '../input/value-kind.js'
import { plural } from '../screen/plural.js'
import { safeText } from '../screen/safe-text.js'
import { usageError } from '../usage-error.js'
import { costView } from '../views/cost-view.js'

export const cost = command({
  name: 'cost',
  summary: 'Show what was spent',
  description:
    "Tokens and dollars of every model call in the tools' logs, each call once, whatever number of forks and resumed files hold it. A model without a known price is named, never counted as free: give it one under [prices] in config.toml. Logs are looked at again when the last look is more than 30 seconds old.",
  examples: [
    ['skein cost', 'By day'],
    ['skein cost --by model --since 30d', 'By model, the last month'],
    ['skein cost --by work --json', 'What each unit of work has cost'],
    ['skein cost 22222222 --by model', 'One session'],
    ['skein cost --no-index', 'From the logs alone'],
  ],
  args: { session: optional(sessionRef, 'Only this session, or the one an agent is in') },
  options: {
    by: defaulted(choice('group', COST_GROUPS), 'day', 'What to add up by'),
    since: optional(when, 'Only calls since then: 1h, 7d, today, yesterday, 2026-01-17 or a full time'),
    until: optional(when, 'Only calls before then'),
    in: optional(directory, 'Only sessions that worked in this directory, or below'),
    'no-index': flag('Read every log from its beginning, and keep nothing'),
  },
  async run({ session, by, since, until, in: where, 'no-index': noIndex }, cli) {
    const { home, out } = cli
    if (since && until && since >= until)
      throw usageError('--since is not before --until', 'Give a time between the two')
    // The scan is over before optimized code would pay: compiling it is a fifth of the CPU time for 100 MB of logs.
    if (noIndex) setFlagsFromString('--no-opt')
    const only = present({
      session,
      since,
      until,
      directory: where === undefined ? undefined : resolve(cli.cwd, where),
    })
    const report = await (await home()).history.cost({ by, ...only, noIndex })
    out.result(report, (screen) => costView(report, screen))
    if (out.json) return
    if (report.rows.length === 0) out.note('No model calls in the logs of this time.')
    if (report.unread_counts > 0)
      out.note(
        `Counted as 0: token counts that are no numbers, in ${plural(report.unread_counts, 'record')} of the logs. The sums lack what they stood for`,
      )
    const { unpriced_calls, unpriced_models } = report.total
    if (unpriced_calls > 0) {
      out.note(
        `Not in the sum: ${plural(unpriced_calls, 'call')} of ${unpriced_models.map(safeText).join(', ')}. What they cost is not known: say it under [prices] in config.toml`,
      )
    }
  },
})
