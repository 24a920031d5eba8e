import type { Receipt } from '../../lifecycle/index.js'
import { command } from '../command.js'
import { duration } from '../input/duration.js'
import { optional, repeated } from '../input/input.js'
import { agentRef } from '../input/value-kind.js'
import { usageError } from '../usage-error.js'
import { receiptView } from '../views/receipt-view.js'

export const stop = command({
  name: 'stop',
  summary: 'Stop agents in good order',
  description:
    'Interrupts it, asks it to leave, and ends its own processes when it does not. Its conversation can be resumed.',
  examples: [['skein stop web/demo', 'Stop one']],
  args: { agents: repeated(agentRef, 'Addresses, ends of them, titles, ids, or . for here') },
  options: { grace: optional(duration, 'How long it may take to leave', { fallback: '8s' }) },
  async run({ agents: references, grace }, cli) {
    if (references.length === 0) throw usageError('Missing <agents>', 'Usage: skein stop <agents...>')
    const agents = await cli.agents()
    const receipts: Receipt[] = []
    for (const one of references) receipts.push(await agents.stop(one, grace === undefined ? {} : { graceMs: grace }))
    cli.out.result({ receipts }, () => receipts.map(receiptView).join('\n'))
  },
})
