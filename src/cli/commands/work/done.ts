import { workDone } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const done = operationCommand(workDone, {
  name: 'work done',
  description: 'Closes the unit alone. skein done ends the session of an agent as well.',
  examples: [['skein work done w-42 --reason "merged as 4f2a91c"', 'It is done']],
  args: ['work'],
  prepare: (typed, { currentSession }) => ({ ...typed, session: typed.session ?? currentSession }),
  view: ({ id }) => safe`${id} is done`,
})
