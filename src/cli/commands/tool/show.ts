import { toolShow } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { programCard } from '../../views/program-view.js'

export const show = operationCommand(toolShow, {
  name: 'tool show',
<<<<<<< HEAD
=======
  summary: 'Show how a tool is run and how its screen is read',
  description:
    'Replace the rules for its screen with your own file: patterns/<tool>.toml or .json beside config.toml. Values of variables are never shown.',
>>>>>>> integration
  examples: [
    ['skein tool show claude', 'A built-in tool'],
    ['skein tool show vibe', 'Your own tool'],
  ],
  args: ['tool'],
  view: programCard,
})
