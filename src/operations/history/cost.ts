import type { Home } from '../../home/index.js'
import { COST_GROUPS } from '../../ingest/index.js'
import { type Instant, SkeinError } from '../../model/index.js'
import { defaulted, flag, optional } from '../field.js'
import { choice, path, sessionRef, when } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { usageError } from '../usage-error.js'
import { STEP, timeOfStep } from './only-step.js'

export const cost = operation({
  name: 'cost',
  does: 'reads',
  where: 'either',
  isHeavy: true,
  summary: 'Show what was spent',
  description:
    "Tokens and dollars of every model call in the tools' logs. Each call counts once, even if forks and resumed files contain it several times. A model without a known price is named, never counted as free; set its price under [prices] in config.toml. Logs are checked again if the last check is more than 30 seconds old.",
  input: {
    session: optional(sessionRef, 'Only this session, or the current session of this agent'),
    by: defaulted(choice('group', COST_GROUPS), 'day', 'What to group by'),
    since: optional(when, 'Only calls since then: 1h, 7d, today, yesterday, 2026-01-17 or a full time'),
    until: optional(when, 'Only calls before then'),
    in: optional(path('directory', 'directory'), 'Only sessions that worked in this directory, or below'),
    step: STEP,
    no_index: flag('Read every log from its beginning and store nothing'),
  },
  result: 'cost',
  async run({ session, by, step, in: directory, no_index, ...given }, { home }) {
    const time = step === undefined ? {} : await stepTime(await home(), session, step)
    const { since, until } = { ...given, ...time }
    if (since && until && since >= until)
      throw new SkeinError('usage', '--since is not before --until', 'Use a --since that is earlier than --until')
    const only = present({ session, since, until, directory })
    return (await home()).history.cost({ by, ...only, noIndex: no_index })
  },
})

async function stepTime(
  { sessions }: Home,
  session: string | undefined,
  step: string,
): Promise<{ since: Instant; until?: Instant }> {
  if (session === undefined) throw usageError('--step needs a session', 'Name the session that did the step')
  return timeOfStep(await sessions.find(session), step)
}
