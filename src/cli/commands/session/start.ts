import { usageError } from '../../../operations/index.js'
import { command } from '../../command.js'
import { LINEAGE_OPTIONS, lineageOf, START_OPTIONS, startOf } from '../../input/start-options.js'
import { safeText } from '../../screen/safe-text.js'

export const start = command({
  name: 'session start',
  summary: 'Record that a session started',
  description: 'Prints only the id of the session, for scripts.',
  examples: [
    ['skein session start --agent web/toast --tool claude --title "Fix the login"', 'A new session of an agent'],
    ['skein session start --parent 7d20b1c4 --link crash', 'Continue after a crash, in the same chain'],
    ['skein session start --fork-of 0f3c9a12:2', 'Branch off at turn 2 of another session'],
    ['skein session start --resume --id 7d20b1c4-second', 'Open an ended session again'],
  ],
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
})
