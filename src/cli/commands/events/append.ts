import { eventsAppend } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safeText } from '../../screen/safe-text.js'

export const append = operationCommand(eventsAppend, {
  name: 'events append',
  examples: [
    [`skein events append mail --agent web/toast --payload '{"subject":"hello"}'`, 'A message to an agent'],
    ['skein events append nudge --session 5e8fa07b', 'Something about a session'],
  ],
  args: ['type'],
  view: ({ id }) => safeText(id),
})
