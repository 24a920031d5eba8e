import { HOOK_INPUT, MAYBE_HOOK_INPUT } from '../../../lifecycle/index.js'
import { flag, sessionStart } from '../../../operations/index.js'
import type { Cli } from '../../command.js'
import { environmentSession, hookSession } from '../../input/hook-session.js'
import { operationCommand } from '../../operation-command.js'
import { safeText } from '../../screen/safe-text.js'

export const start = operationCommand(sessionStart, {
  name: 'session start',
  description:
    'Prints only the id of the session, for scripts. It is the one of --id, else of a hook\'s message on standard input, else of CLAUDE_SESSION_ID and its kin unless that session is recorded already, else a new one. Standard input is read for at most 200 ms, and only if the process that runs the command does not have the same input: the lines of a "while read" loop stay where they are. --hook reads it in any case.',
  examples: [
    ['skein session start --agent web/toast --tool claude --title "Fix the login"', 'A new session of an agent'],
    ['skein session start --parent 7d20b1c4 --link crash', 'Continue after a crash, in the same chain'],
    ['skein session start --fork-of 0f3c9a12:2', 'Branch off at turn 2 of another session'],
    ['skein session start --resume --id 7d20b1c4-second', 'Open an ended session again'],
  ],
  own: { hook: flag('A hook runs this: wait for its message on standard input, whoever else has that input') },
  async prepare({ hook, ...typed }, cli) {
    const id = typed.id ?? (await idOf(hook, cli))
    return { ...typed, cwd: typed.cwd ?? cli.cwd, ...(id === undefined ? {} : { id }) }
  },
  view: ({ id }) => safeText(id),
})

/** As a hook names it, else as the environment does. A script inside a session that is recorded already begins another one. */
async function idOf(isHook: boolean, cli: Cli): Promise<string | undefined> {
  const told = hookSession(await cli.input(isHook ? HOOK_INPUT : MAYBE_HOOK_INPUT))
  const named = told ?? environmentSession(cli)
  if (named === undefined || told !== undefined || isHook) return named
  return (await (await cli.home()).sessions.get(named)) ? undefined : named
}
