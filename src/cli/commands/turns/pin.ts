import { turnsPin } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { turnMarkView } from '../../views/turn-mark-view.js'

export const pin = operationCommand(turnsPin, {
  name: 'turns pin',
  examples: [['skein turns pin 22222222 2', 'Its code stays, however old it is']],
  args: ['session', 'turn'],
  view: turnMarkView,
})
