import { checkpointRead } from '../../../operations/index.js'
import { agentOf, ownAgent } from '../../input/own-agent.js'
import { operationCommand } from '../../operation-command.js'
import { checkpointView } from '../../views/checkpoint-view.js'

export const read = operationCommand(checkpointRead, {
  name: 'checkpoint read',
  examples: [['skein checkpoint read --agent web/toast', 'How far it came']],
  fields: { agent: ownAgent('The agent') },
  prepare: ({ agent }, cli) => ({ agent: agentOf(agent, cli) }),
  view: checkpointView,
})
