import { turnsPin } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { turnMarkView } from '../../views/turn-mark-view.js'
import { NAMED_LIKE_A_VERB } from './named-like-a-verb.js'

export const pin = operationCommand(turnsPin, {
  name: 'turns pin',
  description: `${turnsPin.description} ${NAMED_LIKE_A_VERB}`,
  examples: [['skein turns pin 22222222 2', 'Its code stays, however old it is']],
  args: ['session', 'turn'],
  view: turnMarkView,
})
