import { checkpointClear } from '../../../operations/index.js'
import { agentOf, ownAgent } from '../../input/own-agent.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const clear = operationCommand(checkpointClear, {
  name: 'checkpoint clear',
  examples: [['skein checkpoint clear --agent web/toast', 'Its work is done']],
  fields: { agent: ownAgent('The agent') },
  prepare: ({ agent }, cli) => ({ agent: agentOf(agent, cli) }),
  view: ({ agent, cleared }) => (cleared ? safe`Removed the checkpoint of ${agent}` : safe`${agent} had no checkpoint`),
})
