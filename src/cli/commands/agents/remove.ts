import { command } from '../../command.js'
import { required } from '../../input/input.js'
import { agentRef } from '../../input/value-kind.js'
import { safe } from '../../screen/safe-text.js'

export const remove = command({
  name: 'agents remove',
  summary: 'Remove an agent; its sessions stay',
  examples: [['skein agents remove web/butter', 'Take it off the roster']],
  args: { agent: required(agentRef, 'Address, end of it, title, id, or . for here') },
  options: {},
  async run({ agent: reference }, { home, out }) {
    const agent = await (await home()).roster.remove(reference)
    out.result(agent, () => safe`Removed ${agent.address}`)
  },
})
