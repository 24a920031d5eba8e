import type { Receipt } from '../../lifecycle/index.js'
import { command } from '../command.js'
import { repeated } from '../input/input.js'
import { agentRef } from '../input/value-kind.js'
import { usageError } from '../usage-error.js'
import { receiptView } from '../views/receipt-view.js'

export const kill = command({
  name: 'kill',
  summary: 'End agents at once',
  description: 'Its own processes and no others. What it was doing is lost; its conversation can be resumed.',
  examples: [['skein kill web/demo', 'End one']],
  args: { agents: repeated(agentRef, 'Addresses, ends of them, titles, ids, or . for here') },
  options: {},
  async run({ agents: references }, cli) {
    if (references.length === 0) throw usageError('Missing <agents>', 'Usage: skein kill <agents...>')
    const agents = await cli.agents()
    const receipts: Receipt[] = []
    for (const one of references) receipts.push(await agents.kill(one))
    cli.out.result({ receipts }, () => receipts.map(receiptView).join('\n'))
  },
})
