import { agentsArchive } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { receiptView } from '../../views/receipt-view.js'

/** The same as `skein archive`; its JSON is the agent alone. */
export const archive = operationCommand(agentsArchive, {
  name: 'agents archive',
  summary: 'Take an agent out of the list',
  description: 'The same as skein archive with an agent. With --json it prints the agent.',
  examples: [['skein agents archive web/jam', 'Out of the list']],
  args: ['agent'],
  json: ({ agent }, { out }) => out.result(agent, () => ''),
  view: receiptView,
})
