import { sessionUpdate } from '../../../operations/index.js'
import { currentOf, SESSION_ARGUMENT } from '../../input/session-argument.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const update = operationCommand(sessionUpdate, {
  name: 'session update',
  examples: [
    ['skein session update 5e8fa07b --title "Fix the login form" --branch login', 'A better title, and its branch'],
    ['skein session update 5e8fa07b --commit 4f2a91c --commit 9be07d3', 'Commits it made'],
  ],
  args: ['session'],
  fields: { session: SESSION_ARGUMENT },
  prepare: currentOf,
  view: ({ id }) => safe`Updated ${id}`,
})
