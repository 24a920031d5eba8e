import { agentsSet } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const set = operationCommand(agentsSet, {
  name: 'agents set',
  examples: [['skein agents set web/toast --title "Front end" --role builder', 'A title and a role']],
  args: ['agent'],
  view: (agent) => safe`Updated ${agent.address}`,
})
