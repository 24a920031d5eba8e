import { agentsDone } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { detached, mustDetach } from '../own-pane.js'
import { receiptView } from '../views/receipt-view.js'

export const done = operationCommand(agentsDone, {
  name: 'done',
  examples: [
    ['skein done web/demo', 'Its work is done'],
    ['skein done web/demo --status deferred --reason "waits for review"', 'Its work waits'],
  ],
  args: ['agent'],
  prepare: (typed, { currentAgent }) => ({ ...typed, agent: typed.agent ?? currentAgent }),
  async instead({ agent: named, status, reason }, cli) {
    const agent = named ?? cli.currentAgent
    if (agent === undefined || !(await mustDetach(agent, cli))) return false
    const option = (name: string, value: string | undefined) => (value === undefined ? [] : [`--${name}=${value}`])
    await detached(['done', ...option('status', status), ...option('reason', reason), '--', agent], '', cli)
    return true
  },
  view: receiptView,
})
