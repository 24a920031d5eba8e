import { agentsMove, flag, usageError } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

/** The same as `skein move`; its JSON is the agent alone. */
export const move = operationCommand(agentsMove, {
  name: 'agents move',
  description: 'The same as skein move, which needs no --top. With --json it prints the agent.',
  examples: [
    ['skein agents move web/butter ops', 'web/butter becomes ops/butter'],
    ['skein agents move web/jam --top', 'Out of every group'],
  ],
  args: ['agent', 'group'],
  own: { top: flag('Out of every group') },
  prepare({ agent, group, top }) {
    if ((group === undefined) !== top)
      throw usageError('Missing <group> or --top', 'Usage: skein agents move <agent> <group>')
    return { agent, group }
  },
  json: ({ agent }, { out }) => out.result(agent, () => ''),
  view: ({ agent }, _, { agent: reference }) => safe`Moved ${reference} to ${agent.address}`,
})
