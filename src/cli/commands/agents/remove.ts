import { agentRef, agentsRemove, required } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

/** The same as `skein remove`; its JSON is the agent alone. */
export const remove = operationCommand(agentsRemove, {
  name: 'agents remove',
  summary: 'Remove an agent; its sessions stay',
  description: 'The same as skein remove, which can also undo it.',
  examples: [['skein agents remove web/butter', 'Remove it from the roster']],
  args: ['agent'],
  fields: {
    agent: required(agentRef, 'Address, unique suffix, title, id, or . for the current directory'),
    undo: undefined,
  },
  json: ({ agent }, { out }) => out.result(agent, () => ''),
  view: ({ agent }) => safe`Removed ${agent.address}`,
})
