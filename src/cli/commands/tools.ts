import { callsDocument, onlyStep, tools as operation } from '../../operations/index.js'
import { refuseVerbatimOutput, verbatimFlag } from '../input/verbatim.js'
import { operationCommand } from '../operation-command.js'
import { noteMissingLog } from '../views/missing-log.js'
import { toolsView } from '../views/tools-view.js'

export const tools = operationCommand(operation, {
  name: 'tools',
  examples: [
    ['skein tools 22222222', 'What was called, when, for how long, and whether it succeeded'],
    ['skein tools 22222222 --step read', 'Only what was called in a step'],
    ['skein tools 22222222 --json', 'With arguments and the beginning of each result'],
  ],
  args: ['session'],
  own: { verbatim: verbatimFlag },
  async instead({ session, step, verbatim }, { home, out }) {
    if (out.json && !verbatim) return false
    refuseVerbatimOutput(verbatim, `tools ${session}`, out)
    const history = onlyStep(await (await home()).history.turns(session, { verbatim, readsNew: true }), step)
    const document = callsDocument(history, step)
    out.result(document, (screen) => toolsView(document.tool_calls, screen))
    if (out.json) return true
    if (document.tool_calls.length === 0 && history.turns.length > 0) out.note('No tool calls.')
    noteMissingLog(history, out)
    return true
  },
})
