import { turnsNote } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { turnMarkView } from '../../views/turn-mark-view.js'
import { NAMED_LIKE_A_VERB } from './named-like-a-verb.js'

export const note = operationCommand(turnsNote, {
  name: 'turns note',
  description: `${turnsNote.description} ${NAMED_LIKE_A_VERB}`,
  examples: [
    ['skein turns note 22222222 2 "the fix that worked"', 'Note it'],
    ['skein turns note 22222222 2 --remove', 'Remove the note'],
  ],
  args: ['session', 'turn', 'text'],
  view: turnMarkView,
})
