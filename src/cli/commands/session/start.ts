import { sessionStart } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safeText } from '../../screen/safe-text.js'

export const start = operationCommand(sessionStart, {
  name: 'session start',
<<<<<<< HEAD
  description: 'Prints the id of the session alone, so that a script can keep it.',
=======
  summary: 'Record that a session started',
  description: 'Prints only the id of the session, for scripts.',
>>>>>>> integration
  examples: [
    ['skein session start --agent web/toast --tool claude --title "Fix the login"', 'A new session of an agent'],
    ['skein session start --parent 7d20b1c4 --link crash', 'Continue after a crash, in the same chain'],
    ['skein session start --fork-of 0f3c9a12:2', 'Branch off at turn 2 of another session'],
    ['skein session start --resume --id 7d20b1c4-second', 'Open an ended session again'],
  ],
<<<<<<< HEAD
  prepare: (typed, { cwd }) => ({ ...typed, cwd: typed.cwd ?? cwd }),
  view: ({ id }) => safeText(id),
=======
  args: {},
  options: { ...START_OPTIONS, ...LINEAGE_OPTIONS },
  async run(given, { home, out, cwd }) {
    if (given.resume && given.id === undefined) {
      throw usageError('--resume needs --id', 'Name the session to open again')
    }
    const options = { cwd, ...startOf(given), ...lineageOf(given) }
    const session = await (await home()).sessions.start(options)
    out.result(session, () => safeText(session.id))
  },
>>>>>>> integration
})
