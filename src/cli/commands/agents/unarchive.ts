import { agentsUnarchive } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { receiptView } from '../../views/receipt-view.js'

/** The same as `skein unarchive`; its JSON is the agent alone. */
export const unarchive = operationCommand(agentsUnarchive, {
  name: 'agents unarchive',
  summary: 'Put an agent back in the list',
  description: 'The same as skein unarchive with an agent. With --json it prints the agent.',
  examples: [['skein agents unarchive web/jam', 'Back in the list']],
  args: ['agent'],
  json: ({ agent }, { out }) => out.result(agent, () => ''),
  view: receiptView,
})
