import type { CostSpan, Home } from '../../home/index.js'
import { COST_GROUPS } from '../../ingest/index.js'
import { SkeinError } from '../../model/index.js'
import { defaulted, flag, optional } from '../field.js'
import { choice, path, sessionRef, when } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { noStep, STEP, timesOfStep } from './only-step.js'
import { sessionsNamed } from './sessions-named.js'

const PAGE = 1_000
const BEGIN_ONE = 'Begin one: skein step start <ref>'

export const cost = operation({
  name: 'cost',
  does: 'reads',
  where: 'either',
  isHeavy: true,
  summary: 'Show what was spent',
  description:
    "Tokens and dollars of every model call in the tools' logs. Each call counts once, even if forks and resumed files contain it several times. A model without a known price is named, never counted as free; set its price under [prices] in config.toml. Logs are checked again if the last check is more than 30 seconds old.",
  input: {
    session: optional(
      sessionRef,
      'Only this session, or the current session of this agent; with --step also a chain or a unit of work',
    ),
    by: defaulted(choice('group', COST_GROUPS), 'day', 'What to group by'),
    since: optional(when, 'Only calls since then: 1h, 7d, today, yesterday, 2026-01-17 or a full time'),
    until: optional(when, 'Only calls before then'),
    in: optional(path('directory', 'directory'), 'Only sessions that worked in this directory, or below'),
    step: STEP,
    no_index: flag('Read every log from its beginning and store nothing'),
  },
  result: 'cost',
  async run({ session, by, step, in: directory, no_index, since, until }, { home }) {
    if (since && until && since >= until)
      throw new SkeinError('usage', '--since is not before --until', 'Use a --since that is earlier than --until')
    const only = present({ since, until, directory })
    const open = await home()
    const of = step === undefined ? present({ session }) : { spans: await spansOfStep(open, session, step) }
    return open.history.cost({ by, ...only, ...of, noIndex: no_index })
  },
})

/** The times of a step: of a session, of those of a unit of work or a chain, or of every session that did it. */
async function spansOfStep(home: Home, reference: string | undefined, step: string): Promise<CostSpan[]> {
  if (reference === undefined) {
    const spans: CostSpan[] = []
    for (let cursor: string | undefined, isMore = true; isMore; ) {
      const page = await home.sessions.query({ limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
      for (const session of page.sessions) spans.push(...timesOfStep(session, step))
      cursor = page.next_cursor
      isMore = cursor !== undefined
    }
    if (spans.length > 0) return spans
    throw new SkeinError('bad-input', `No session has a step ${JSON.stringify(step.slice(0, 140))}`, BEGIN_ONE)
  }
  const sessions = await sessionsNamed(home, reference, false)
  const spans = sessions.flatMap((session) => timesOfStep(session, step))
  const [first] = sessions
  if (spans.length === 0 && first) throw noStep({ ...first, steps: sessions.flatMap(({ steps = [] }) => steps) }, step)
  return spans
}
