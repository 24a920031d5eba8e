import { sessionStep } from '../../../operations/index.js'
import { currentOf, SESSION_ARGUMENT } from '../../input/session-argument.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const step = operationCommand(sessionStep, {
  name: 'session step',
  examples: [
    ['skein session step start build 5e8fa07b --molecule mol-7', 'A session begins a step'],
    ['skein session step complete design 5e8fa07b', 'It is done'],
    ['skein session step complete tests 5e8fa07b --failed', 'It was tried, and failed'],
  ],
  args: ['action', 'step', 'session'],
  fields: { session: SESSION_ARGUMENT },
  prepare: currentOf,
  view(session, _, { action, step: named, failed }) {
    const done = failed ? 'failed' : 'completed'
    return safe`Step ${named} ${action === 'start' ? 'started' : done} in ${session.id}`
  },
})
