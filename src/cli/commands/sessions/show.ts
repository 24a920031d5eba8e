import type { SessionHistory } from '../../../home/index.js'
import { type ShownTurns, sessionsShow, shownTurns, stateOf } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { plural } from '../../screen/plural.js'
import type { Screen } from '../../screen/screen.js'
import { noteMissingLog } from '../../views/missing-log.js'
import { sessionCard } from '../../views/session-card.js'
import { turnCard } from '../../views/turn-card.js'
import { turnsView } from '../../views/turns-view.js'

/** As many turns as fit a screen beside the facts. */
const NEWEST_TURNS = 15

export const show = operationCommand(sessionsShow, {
  name: 'sessions show',
  examples: [
    ['skein sessions show 0f3c9a12', 'By the beginning of its id'],
    ['skein sessions show 22222222 --turn 2', 'One of its turns'],
    ['skein sessions show 0f3c9a12 --json', 'As JSON'],
  ],
  args: ['session'],
  async show(session, { home, out }, { turn }) {
    const opened = await home()
    const told =
      session.turn_count || turn !== undefined || session.source === 'run'
        ? await opened.history.turns(session.id, { readsNew: true })
        : undefined
    const shown = told && told.turns.length > 0 && !out.json ? await shownTurns(opened, told, { turn }) : undefined
    out.result(session, (screen) => {
      if (turn !== undefined && shown) return turnCard(shown.history, stateOf(shown, turn), screen)
      const { spent, turn_count = told?.turns.length ?? 0, tool_call_count = 0 } = session
      const { unread_lines = 0, unknown_records = 0 } = session
      const counted = { turns: turn_count, tool_calls: tool_call_count, unread_lines, unknown_records }
      const table = shown && newestTurns(shown, screen)
      return sessionCard(session, screen, { spent, ...counted, models: told && modelsIn(told), table })
    })
    if (told && (session.turn_count || told.turns.length > 0)) noteMissingLog(told, out)
  },
})

function newestTurns(shown: ShownTurns, screen: Screen): string {
  const { history, code, forks } = shown
  const all = history.turns.length
  if (all <= NEWEST_TURNS) return turnsView(shown, screen)
  const turns = history.turns.slice(-NEWEST_TURNS)
  const isShown = (number: number | undefined): boolean => turns.some((turn) => turn.number === number)
  const newest = {
    ...shown,
    history: { ...history, turns },
    code: { ...code, edits: code.edits.filter(({ after_turn }) => isShown(after_turn)) },
    forks: forks.filter(({ turn }) => isShown(turn)),
  }
  return [`The newest ${NEWEST_TURNS} of ${plural(all, 'turn')}:`, turnsView(newest, screen)].join('\n')
}

/** Most used first. */
function modelsIn({ turns }: SessionHistory): string[] {
  const calls = new Map<string, number>()
  for (const { model } of turns.flatMap((turn) => turn.usage)) calls.set(model, (calls.get(model) ?? 0) + 1)
  return [...calls].sort(([, a], [, b]) => b - a).map(([model]) => model)
}
