import { agentRef, flag, optional, required } from '../../../operations/index.js'
import { command } from '../../command.js'
import { safe } from '../../screen/safe-text.js'
import { usageError } from '../../usage-error.js'

export const setParent = command({
  name: 'agents set-parent',
  summary: 'Say which agent spawned another',
  examples: [
    ['skein agents set-parent web/butter web/toast', 'toast spawned butter'],
    ['skein agents set-parent web/butter --none', 'Nobody spawned it'],
  ],
  args: {
    agent: required(agentRef, 'Address, end of it, title, id, or . for here'),
    parent: optional(agentRef, 'The agent that spawned it'),
  },
  options: { none: flag('No agent spawned it') },
  async run({ agent: reference, parent, none }, { home, out }) {
    if ((parent === undefined) !== none) {
      throw usageError('The parent is not clear', 'Give one, or --none: skein agents set-parent <agent> <parent>')
    }
    const agent = await (await home()).roster.setParent(reference, parent)
    out.result(agent, () =>
      parent === undefined ? safe`${agent.address} has no parent now` : safe`${agent.address} was spawned by ${parent}`,
    )
  },
})
