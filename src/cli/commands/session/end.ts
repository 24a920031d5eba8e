import { durationMs, formatDuration } from '../../../model/index.js'
import { sessionEnd } from '../../../operations/index.js'
import { currentOf, SESSION_ARGUMENT } from '../../input/session-argument.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const end = operationCommand(sessionEnd, {
  name: 'session end',
  examples: [
    ['skein session end 5e8fa07b --outcome done', 'Its work is finished'],
    ['skein session end c3d94e60 --outcome crash --reason "pane died"', 'It crashed, and why'],
  ],
  args: ['session'],
  fields: { session: SESSION_ARGUMENT },
  prepare: currentOf,
  view: (session, { nowMs }, { outcome }) =>
    safe`Ended ${session.id} (${outcome}) after ${formatDuration(durationMs(session, nowMs))}`,
})
