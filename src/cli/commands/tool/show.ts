import { toolShow } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { programCard } from '../../views/program-view.js'

export const show = operationCommand(toolShow, {
  name: 'tool show',
  examples: [
    ['skein tool show claude', 'A built-in tool'],
    ['skein tool show vibe', 'Your own tool'],
  ],
  args: ['tool'],
  view: programCard,
})
