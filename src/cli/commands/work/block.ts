import { workBlock } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const block = operationCommand(workBlock, {
  name: 'work block',
  examples: [['skein work block w-42 --reason "needs the key"', 'It cannot go on']],
  args: ['work'],
  view: ({ id, reason = '' }) => safe`${id} is blocked${reason === '' ? '' : `: ${reason}`}`,
})
