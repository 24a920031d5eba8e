import { agentsSetParent, flag, usageError } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const setParent = operationCommand(agentsSetParent, {
  name: 'agents set-parent',
  description: undefined,
  examples: [
    ['skein agents set-parent web/butter web/toast', 'toast spawned butter'],
    ['skein agents set-parent web/butter --none', 'Nobody spawned it'],
  ],
  args: ['agent', 'parent'],
  own: { none: flag('No agent spawned it') },
  prepare({ agent, parent, none }) {
    if ((parent === undefined) !== none)
      throw usageError('Missing <parent> or --none', 'Usage: skein agents set-parent <agent> <parent>')
    return { agent, parent }
  },
  view: (agent, _, { parent }) =>
    parent === undefined ? safe`${agent.address} has no parent now` : safe`${agent.address} was spawned by ${parent}`,
})
