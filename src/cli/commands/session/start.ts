import { HOOK_INPUT } from '../../../lifecycle/index.js'
import { flag, sessionStart } from '../../../operations/index.js'
import type { Cli } from '../../command.js'
import { hookSession } from '../../input/hook-session.js'
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
  own: { hook: flag("Take the id from a hook's message on standard input") },
  async prepare({ hook, ...typed }, cli) {
    const id = typed.id ?? (await idOf(hook, cli))
    return { ...typed, cwd: typed.cwd ?? cli.cwd, ...(id === undefined ? {} : { id }) }
  },
  view: ({ id }) => safeText(id),
})

/** As a hook names it, else as the environment does. A script inside a session that is recorded already begins another one. */
async function idOf(isHook: boolean, cli: Cli): Promise<string | undefined> {
  const named = hookSession(isHook ? await cli.input(HOOK_INPUT) : undefined, cli)
  if (named === undefined || isHook) return named
  return (await (await cli.home()).sessions.get(named)) ? undefined : named
}
