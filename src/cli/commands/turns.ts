import { flag, onlyStep, onlyTurn, turns as operation, turnsDocument } from '../../operations/index.js'
import { refuseVerbatimOutput, verbatimFlag } from '../input/verbatim.js'
import { operationCommand } from '../operation-command.js'
import { noteMissingLog } from '../views/missing-log.js'
import { turnsView, turnTexts } from '../views/turns-view.js'

export const turns = operationCommand(operation, {
  name: 'turns',
  examples: [
    ['skein turns 22222222', 'One line per turn'],
    ['skein turns 22222222 --full', 'With prompts and replies'],
    ['skein turns 22222222 --turn 2', 'One turn, whole'],
  ],
  args: ['session'],
  own: { full: flag('Show full prompts and replies, and who speaks'), verbatim: verbatimFlag },
  order: ['full', 'turn', 'step', 'verbatim'],
  async instead({ session, full, turn, step, verbatim }, { home, out }) {
    if (out.json && !verbatim) return false
    refuseVerbatimOutput(verbatim, `turns ${session}`, out)
    // People are also shown who speaks, and what sub-agents did.
    const history = onlyTurn(onlyStep(await (await home()).history.turns(session, { verbatim }), step), turn)
    const isWhole = full || turn !== undefined
    out.result(turnsDocument(history), (screen) => (isWhole ? turnTexts(history, screen) : turnsView(history, screen)))
    if (out.json) return true
    if (history.turns.length === 0 && history.from_log) out.note('No turns.')
    noteMissingLog(history, out)
    return true
  },
})
