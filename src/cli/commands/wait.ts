import { agentsWait } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { agentLine, showEach } from '../views/receipts-view.js'

export const wait = operationCommand(agentsWait, {
  name: 'wait',
  examples: [
    ['skein wait web/demo --until idle --timeout 1m', 'Until it has finished'],
    ['skein wait --group web --any', 'Until the first of a group is done'],
  ],
  args: ['agents'],
  fails: (waited) => 'failures' in waited,
  show(waited, cli) {
    const { agents, failures } = 'agents' in waited ? waited : { agents: [waited] }
    showEach({ done: agents, failures }, (agent) => agentLine(agent, cli.out.screen), cli, 'No agent runs there')
  },
})
