import type { SessionCode, SessionHistory } from '../../../home/index.js'
import { sessionsShow } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { plural } from '../../screen/plural.js'
import { noteMissingLog } from '../../views/missing-log.js'
import { sessionCard } from '../../views/session-card.js'
import { turnsView } from '../../views/turns-view.js'

/** As many turns as fit a screen beside the facts. */
const NEWEST_TURNS = 15

export const show = operationCommand(sessionsShow, {
  name: 'sessions show',
  examples: [
    ['skein sessions show 0f3c9a12', 'By the beginning of its id'],
    ['skein sessions show 0f3c9a12 --json', 'As JSON'],
  ],
  args: ['session'],
  async show(session, { home, out }) {
    const { history } = await home()
    const turns = session.turn_count ? await history.turns(session.id) : undefined
    const code = turns && !out.json ? await history.code(turns) : NO_CODE
    out.result(session, (screen) => {
      const shown = turns && { ...turns, turns: turns.turns.slice(-NEWEST_TURNS) }
      const isCut = turns && turns.turns.length > NEWEST_TURNS
      const heading = isCut ? [`The newest ${NEWEST_TURNS} of ${plural(turns.turns.length, 'turn')}:`] : []
      const isShown = (number: number): boolean => shown?.turns.some((turn) => turn.number === number) ?? false
      const edits = code.edits.filter(({ after_turn }) => isShown(after_turn))
      const table = shown && [...heading, turnsView(shown, { ...code, edits }, screen)].join('\n')
      const { spent, turn_count = 0, tool_call_count = 0, unread_lines = 0, unknown_records = 0 } = session
      const counted = { turns: turn_count, tool_calls: tool_call_count, unread_lines, unknown_records }
      return sessionCard(session, screen, { spent, ...counted, models: turns && modelsIn(turns), table })
    })
    if (turns) noteMissingLog(turns, out)
  },
})

const NO_CODE: SessionCode = { coded: [], turns: new Map(), edits: [] }

/** Most used first. */
function modelsIn({ turns }: SessionHistory): string[] {
  const calls = new Map<string, number>()
  for (const { model } of turns.flatMap((turn) => turn.usage)) calls.set(model, (calls.get(model) ?? 0) + 1)
  return [...calls].sort(([, a], [, b]) => b - a).map(([model]) => model)
}
