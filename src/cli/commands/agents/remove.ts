import { agentRef, flag, required } from '../../../operations/index.js'
import { command } from '../../command.js'
import { safe } from '../../screen/safe-text.js'

export const remove = command({
  name: 'agents remove',
  summary: 'Remove an agent; its sessions stay',
  description: 'The same as skein remove, which can also undo it.',
  examples: [['skein agents remove web/butter', 'Take it off the roster']],
  args: { agent: required(agentRef, 'Address, end of it, title, id, or . for here') },
  options: { force: flag('Also when it runs: it is killed') },
  async run({ agent: reference, force }, { agents, out }) {
    const { agent } = await (await agents()).remove(reference, { force })
    out.result(agent, () => safe`Removed ${agent.address}`)
  },
})
