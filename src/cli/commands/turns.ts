import { flag, turns as operation, turnsDocument, turnsWithCode } from '../../operations/index.js'
import { refuseVerbatimOutput, verbatimFlag } from '../input/verbatim.js'
import { operationCommand } from '../operation-command.js'
import { card } from '../screen/card.js'
import { noteMissingLog } from '../views/missing-log.js'
import { turnBranchFacts } from '../views/turn-branch-view.js'
import { turnsView, turnTexts } from '../views/turns-view.js'

export const turns = operationCommand(operation, {
  name: 'turns',
  examples: [
    ['skein turns 22222222', 'One line per turn'],
    ['skein turns 22222222 --full', 'With prompts and replies'],
    ['skein turns 22222222 --turn 2', 'One turn, whole'],
    ['skein turns 22222222 --files README.md', 'Turns that changed this file'],
  ],
  args: ['session'],
  own: { full: flag('Show full prompts and replies, and who speaks'), verbatim: verbatimFlag },
  order: ['full', 'turn', 'step', 'files', 'verbatim'],
  async instead({ session, full, turn, step, files, verbatim }, { home, out }) {
    if (out.json && !verbatim) return false
    refuseVerbatimOutput(verbatim, `turns ${session}`, out)
    // People are also shown who speaks, and what sub-agents did.
    const opened = await home()
    const told = await opened.history.turns(session, { verbatim })
    const { history, code } = await turnsWithCode(opened, told, { turn, step, files })
    const isWhole = full || turn !== undefined
    const document = turnsDocument(opened, history, code, turn !== undefined || files !== undefined)
    out.result(document, (screen) => {
      if (isWhole) return turnTexts(history, screen)
      const branch = turnBranchFacts(document.turn_branch, screen)
      return [turnsView(history, code, screen), ...(branch.length > 0 ? ['', card(branch, screen)] : [])].join('\n')
    })
    if (out.json) return true
    if (history.turns.length === 0 && history.from_log) out.note('No turns.')
    noteMissingLog(history, out)
    return true
  },
})
