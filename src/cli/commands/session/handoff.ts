import { sessionHandoff } from '../../../operations/index.js'
import { currentOf, SESSION_ARGUMENT } from '../../input/session-argument.js'
import { operationCommand } from '../../operation-command.js'
import { safeText } from '../../screen/safe-text.js'

export const handoff = operationCommand(sessionHandoff, {
  name: 'session handoff',
  examples: [
    [
      'skein session handoff b1a7e2d9 --subject "Login half done" --message "Tests are red"',
      'With a subject and a message',
    ],
  ],
  args: ['session'],
  fields: { session: SESSION_ARGUMENT },
  prepare: currentOf,
  view: ({ id }) => safeText(id),
})
