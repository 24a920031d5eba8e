import { agentRef, flag, optional } from '../../operations/index.js'
import { command } from '../command.js'
import { usageError } from '../usage-error.js'
import { receiptView } from '../views/receipt-view.js'

export const remove = command({
  name: 'remove',
  summary: 'Remove an agent, or undo that',
  description: 'Its conversations stay. For 30 days it can be brought back as it was.',
  examples: [
    ['skein remove web/jam', 'Take it off the list'],
    ['skein remove --undo', 'Bring back the one that was removed last'],
  ],
  args: { agent: optional(agentRef, 'Address, end of it, title, id, or . for here') },
  options: { undo: flag('Bring it back'), force: flag('Also when it runs: it is killed') },
  async run({ agent, undo, force }, cli) {
    if (agent === undefined && !undo) throw usageError('Missing <agent>', 'Usage: skein remove <agent>')
    const agents = await cli.agents()
    const receipt = undo || agent === undefined ? await agents.undoRemove(agent) : await agents.remove(agent, { force })
    cli.out.result(receipt, () => receiptView(receipt))
  },
})
