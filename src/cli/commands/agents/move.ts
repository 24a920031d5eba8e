import { agentRef, flag, groupRef, optional, required } from '../../../operations/index.js'
import { command } from '../../command.js'
import { safe } from '../../screen/safe-text.js'
import { usageError } from '../../usage-error.js'

export const move = command({
  name: 'agents move',
  summary: 'Move an agent to another group',
  examples: [
    ['skein agents move web/butter ops', 'web/butter becomes ops/butter'],
    ['skein agents move web/jam --top', 'Out of every group'],
  ],
  args: {
    agent: required(agentRef, 'Address, end of it, title, id, or . for here'),
    group: optional(groupRef, 'Where to'),
  },
  options: { top: flag('Out of every group') },
  async run({ agent: reference, group, top }, { home, out }) {
    if ((group === undefined) !== top) {
      throw usageError('Where to is not clear', 'Give a group, or --top: skein agents move <agent> <group>')
    }
    const agent = await (await home()).roster.move(reference, group)
    out.result(agent, () => safe`Moved ${reference} to ${agent.address}`)
  },
})
