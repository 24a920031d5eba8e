import { stepDone } from '../../../operations/index.js'
import { sessionOf } from '../../input/own-agent.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'
import { STEP_SESSION } from './start.js'

export const done = operationCommand(stepDone, {
  name: 'step done',
  examples: [['skein step done design --session 5e8fa07b', 'It is done']],
  args: ['step'],
  fields: { session: STEP_SESSION },
  prepare: ({ session, ...typed }, cli) => ({ ...typed, session: sessionOf(session, cli) }),
  view: ({ id }, _, { step, failed }) => safe`Step ${step} ${failed ? 'failed' : 'completed'} in ${id}`,
})
