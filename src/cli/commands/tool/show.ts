import { toolShow } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { programCard } from '../../views/program-view.js'

export const show = operationCommand(toolShow, {
  name: 'tool show',
  examples: [
    ['skein tool show claude', 'A tool that Skein knows'],
    ['skein tool show vibe', 'One of your own'],
  ],
  args: ['tool'],
  view: programCard,
})
