import { turnsUnpin } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { turnMarkView } from '../../views/turn-mark-view.js'
import { NAMED_LIKE_A_VERB } from './named-like-a-verb.js'

export const unpin = operationCommand(turnsUnpin, {
  name: 'turns unpin',
  description: `${turnsUnpin.description} ${NAMED_LIKE_A_VERB}`,
  examples: [['skein turns unpin 22222222 2', 'Its code expires again']],
  args: ['session', 'turn'],
  view: turnMarkView,
})
