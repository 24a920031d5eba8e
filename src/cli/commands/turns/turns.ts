import { flag, turns as operation, shownTurns, turnsDocument } from '../../../operations/index.js'
import { refuseVerbatimOutput, verbatimFlag } from '../../input/verbatim.js'
import { operationCommand } from '../../operation-command.js'
import { card } from '../../screen/card.js'
import { plural } from '../../screen/plural.js'
import { noteMissingLog } from '../../views/missing-log.js'
import { turnBranchFacts } from '../../views/turn-branch-view.js'
import { turnTexts } from '../../views/turn-texts.js'
import { turnsView } from '../../views/turns-view.js'
import { NAMED_LIKE_A_VERB } from './named-like-a-verb.js'

export const turns = operationCommand(operation, {
  name: 'turns',
  description: `${operation.description} ${NAMED_LIKE_A_VERB}`,
  examples: [
    ['skein turns 22222222', 'One line per turn'],
    ['skein turns 22222222 --full', 'With prompts and replies'],
    ['skein turns 22222222 --turn 2', 'One turn, whole'],
    ['skein turns 22222222 --files README.md', 'Turns that changed this file'],
    ['skein turns 22222222 --noted', 'Turns that somebody has noted something about'],
  ],
  args: ['session'],
  own: { full: flag('Show full prompts and replies, and who speaks'), verbatim: verbatimFlag },
  order: ['full', 'turn', 'step', 'files', 'noted', 'note', 'pinned', 'verbatim'],
  async instead({ session, full, verbatim, ...asked }, { home, out }) {
    if (out.json && !verbatim) return false
    refuseVerbatimOutput(verbatim, `turns ${session}`, out)
    // People are also shown who speaks, and what sub-agents did.
    const opened = await home()
    const told = await opened.history.turns(session, { verbatim, readsNew: true })
    const shown = await shownTurns(opened, told, asked)
    const { history } = shown
    const isWhole = full || asked.turn !== undefined
    const document = turnsDocument(opened, shown, asked.turn !== undefined || asked.files !== undefined)
    out.result(document, (screen) => {
      if (isWhole) return turnTexts(history, screen)
      const branch = turnBranchFacts(document.turn_branch, screen)
      return [turnsView(shown, screen), ...(branch.length > 0 ? ['', card(branch, screen)] : [])].join('\n')
    })
    if (out.json) return true
    if (history.turns.length === 0 && told.turns.length > 0)
      out.note(`None of its ${plural(told.turns.length, 'turn')}.`)
    else if (history.turns.length === 0 && history.from_log) out.note('No turns.')
    noteMissingLog(history, out)
    return true
  },
})
