import { bisect as operation } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { bisectView } from '../views/bisect-view.js'

export const bisect = operationCommand(operation, {
  name: 'bisect',
  examples: [
    ['skein bisect 22222222 --run "npm test"', 'Which turn broke the tests?'],
    ['skein bisect 22222222 --run "make check" --good 3 --bad 9', 'Only between these turns'],
    ['skein bisect 22222222 --run "npm test" --setup "npm ci" --timeout 2m', 'Install once before'],
  ],
  args: ['session'],
  fails: ({ outcome }) => outcome !== 'found',
  view: bisectView,
})
