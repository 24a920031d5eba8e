import { workUnhook } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const unhook = operationCommand(workUnhook, {
  name: 'work unhook',
  examples: [['skein work unhook w-42', 'Anybody may take it now']],
  args: ['work'],
  view: ({ id, status }) => safe`${id} is on no hook (${status})`,
})
