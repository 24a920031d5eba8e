import { agentsReport } from '../../operations/index.js'
import { operationCommand } from '../operation-command.js'
import { safe } from '../screen/safe-text.js'

export const report = operationCommand(agentsReport, {
  name: 'report',
  examples: [['skein report web/demo --state running --reason "runs the tests"', 'It is working']],
  args: ['agent'],
  view: (agent) => safe`${agent.address} is ${agent.status} (${agent.source})`,
})
