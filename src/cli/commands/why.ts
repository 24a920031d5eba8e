import { agentsWhy, flag } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { explanationView, startView } from '../views/explanation-view.js'

export const why = operationCommand(agentsWhy, {
  name: 'why',
  examples: [
    ['skein why web/demo', 'Why does it have this status?'],
    ['skein why web/demo --start', 'What its last start did, step by step'],
  ],
  args: ['agent'],
  own: { start: flag('Show the steps of its last start, and how long each took') },
  view: (explained, screen, { start }) => (start ? startView : explanationView)(explained, screen),
})
