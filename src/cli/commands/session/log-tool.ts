import { freeText, optional, sessionLogTool, text, usageError } from '../../../operations/index.js'
import { environmentSession, hookSession } from '../../input/hook-session.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

/** Arguments and results may be long. */
const INPUT = { mostBytes: 8 * 1024 * 1024, waitMs: 2_000 }

export const logTool = operationCommand(sessionLogTool, {
  name: 'session log-tool',
  examples: [
    [
      `skein session log-tool --session 5e8fa07b-hook --message '{"tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"}'`,
      'As a PostToolUse hook reports it; hooks pass the message on standard input',
    ],
  ],
  fields: {
    session: optional(text('id'), 'The session (default: from the message, else from the environment, else a new one)'),
    message: optional(freeText('json'), "The hook's message (default: standard input)"),
  },
  async prepare({ session, tool, message: given }, cli) {
    const message = given ?? (await cli.input(INPUT))
    if (message === undefined)
      throw usageError('The message of the hook is too long', 'Pass at most 8 MB on standard input')
    const id = session ?? hookSession(message) ?? environmentSession(cli) ?? cli.context.random.uuid()
    return { session: id, message, ...(tool === undefined ? {} : { tool }) }
  },
  view: ({ payload, session }) => safe`Recorded ${String(payload.tool)} in ${session ?? ''}`,
})
