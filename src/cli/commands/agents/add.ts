import { agentsAdd } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const add = operationCommand(agentsAdd, {
  name: 'agents add',
  examples: [
    ['skein agents add web/honey --tool claude --role reviewer', 'An agent called honey in the group web'],
    ['skein agents add scout --tool codex --parent web/toast', 'An agent in no group, spawned by another'],
  ],
  args: ['address'],
  view: (agent) => safe`Added ${agent.address} (${agent.tool})`,
})
