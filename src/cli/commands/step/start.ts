import { optional, sessionRef, stepStart } from '../../../operations/index.js'
import { sessionOf } from '../../input/own-agent.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const STEP_SESSION = optional(sessionRef, 'The session, or the agent that is in it', {
  fallback: '$SKEIN_AGENT, then $SKEIN_SESSION',
})

export const start = operationCommand(stepStart, {
  name: 'step start',
  examples: [['skein step start build --session 5e8fa07b --molecule mol-7', 'A session begins a step of its plan']],
  args: ['step'],
  fields: { session: STEP_SESSION },
  prepare: ({ session, ...typed }, cli) => ({ ...typed, session: sessionOf(session, cli) }),
  view: ({ id }, _, { step }) => safe`Step ${step} started in ${id}`,
})
