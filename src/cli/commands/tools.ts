import { required, sessionRef } from '../../operations/index.js'
import { command } from '../command.js'
import { refuseVerbatimOutput, verbatimFlag } from '../input/verbatim.js'
import { noteMissingLog } from '../views/missing-log.js'
import { toolCallsOf, toolsView } from '../views/tools-view.js'

export const tools = command({
  name: 'tools',
  summary: "Show a session's tool calls",
  description: 'Secrets are redacted, and arguments and results are shown as the privacy policy allows.',
  examples: [
    ['skein tools 22222222', 'What was called, when, for how long, and whether it succeeded'],
    ['skein tools 22222222 --json', 'With arguments and the beginning of each result'],
  ],
  args: { session: required(sessionRef, 'The beginning of its id, or its agent') },
  options: { verbatim: verbatimFlag },
  async run({ session, verbatim }, { home, out }) {
    refuseVerbatimOutput(verbatim, `tools ${session}`, out)
    const history = await (await home()).history.turns(session, { verbatim })
    const tool_calls = toolCallsOf(history)
    const { from_log, told_from } = history
    out.result({ session: history.session.id, from_log, told_from, tool_calls }, (screen) =>
      toolsView(tool_calls, screen),
    )
    if (out.json) return
    if (tool_calls.length === 0 && history.turns.length > 0) out.note('No tool calls.')
    noteMissingLog(history, out)
  },
})
