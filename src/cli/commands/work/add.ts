import { workAdd } from '../../../operations/index.js'
import { givenText } from '../../input/own-agent.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const add = operationCommand(workAdd, {
  name: 'work add',
  description: 'Prints the id of the new unit. "-" as the body reads it from standard input.',
  examples: [
    ['skein work add "Fix the login" --priority 1', 'A unit that is open'],
    ['skein work add "Fix the login" --agent web/toast', 'On the hook of an agent at once'],
  ],
  args: ['title'],
  prepare: (typed, cli) => ({ ...typed, body: givenText(typed.body, cli) }),
  view: ({ id }) => safe`${id}`,
})
