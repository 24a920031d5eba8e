import { agentsOutput } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { safeText } from '../screen/safe-text.js'

export const output = operationCommand(agentsOutput, {
  name: 'output',
  examples: [['skein output web/demo', 'What it said last']],
  args: ['agent'],
  view: ({ text }) => text.split('\n').map(safeText).join('\n'),
})
