import { sessionStart } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safeText } from '../../screen/safe-text.js'

export const start = operationCommand(sessionStart, {
  name: 'session start',
  description: 'Prints only the id of the session, for scripts.',
  examples: [
    ['skein session start --agent web/toast --tool claude --title "Fix the login"', 'A new session of an agent'],
    ['skein session start --parent 7d20b1c4 --link crash', 'Continue after a crash, in the same chain'],
    ['skein session start --fork-of 0f3c9a12:2', 'Branch off at turn 2 of another session'],
    ['skein session start --resume --id 7d20b1c4-second', 'Open an ended session again'],
  ],
  prepare: (typed, { cwd }) => ({ ...typed, cwd: typed.cwd ?? cwd }),
  view: ({ id }) => safeText(id),
})
