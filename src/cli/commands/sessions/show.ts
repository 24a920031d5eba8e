import type { SessionHistory } from '../../../home/index.js'
import { command } from '../../command.js'
import { required } from '../../input/input.js'
import { sessionRef } from '../../input/value-kind.js'
import { plural } from '../../screen/plural.js'
import { noteMissingLog } from '../../views/missing-log.js'
import { sessionCard } from '../../views/session-card.js'
import { turnsView } from '../../views/turns-view.js'

/** As many turns as fit a screen beside the facts. */
const NEWEST_TURNS = 15

export const show = command({
  name: 'sessions show',
  summary: 'Show everything about one session',
  examples: [
    ['skein sessions show 0f3c9a12', 'By the beginning of its id'],
    ['skein sessions show 0f3c9a12 --json', 'As JSON'],
  ],
  args: { session: required(sessionRef, 'The beginning of its id, or an agent that is in it') },
  options: {},
  async run({ session: reference }, { home, out }) {
    const { sessions, history } = await home()
    const session = await sessions.find(reference)
    const spent = (await history.spent([session.id])).get(session.id)
    const told = await history.counts(session.id)
    const known = {
      ...session,
      ...(spent ? { spent } : {}),
      ...(told.turns > 0
        ? {
            turn_count: told.turns,
            tool_call_count: told.tool_calls,
            unread_lines: told.unread_lines,
            unknown_records: told.unknown_records,
          }
        : {}),
    }
    const turns = told.turns > 0 && !out.json ? await history.turns(session.id) : undefined
    out.result(known, (screen) => {
      const shown = turns && { ...turns, turns: turns.turns.slice(-NEWEST_TURNS) }
      const isCut = turns && turns.turns.length > NEWEST_TURNS
      const heading = isCut ? [`The newest ${NEWEST_TURNS} of ${plural(turns.turns.length, 'turn')}:`] : []
      const table = shown && [...heading, turnsView(shown, screen)].join('\n')
      return sessionCard(session, screen, { spent, ...told, models: turns && modelsIn(turns), table })
    })
    if (turns) noteMissingLog(turns, out)
  },
})

/** Most used first. */
function modelsIn({ turns }: SessionHistory): string[] {
  const calls = new Map<string, number>()
  for (const { model } of turns.flatMap((turn) => turn.usage)) calls.set(model, (calls.get(model) ?? 0) + 1)
  return [...calls].sort(([, a], [, b]) => b - a).map(([model]) => model)
}
