import type { AgentView } from '../../lifecycle/index.js'
import { shownReason } from '../../model/index.js'
import { agentsOutput } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { safe, safeText } from '../screen/safe-text.js'

export const output = operationCommand(agentsOutput, {
  name: 'output',
  examples: [['skein output web/demo', 'What it said last']],
  args: ['agent'],
  show(shown, { out }) {
    const { agent, text, is_earlier } = shown
    if (is_earlier) out.note(safe`This is the reply to an earlier prompt: ${agent.address} ${lastTurn(agent)}`)
    out.result(shown, () => text.split('\n').map(safeText).join('\n'))
  },
})

/** What became of the last prompt. */
function lastTurn(agent: AgentView): string {
  const why = shownReason(agent)
  return `is ${agent.status}${why === undefined ? '' : ` (${why})`}`
}
