import { agentsRename } from '../../../operations/index.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

/** The same as `skein rename`; its JSON is the agent alone. */
export const rename = operationCommand(agentsRename, {
  name: 'agents rename',
  description: 'The same as skein rename. With --json it prints the agent.',
  examples: [['skein agents rename web/toast crumb', 'web/toast becomes web/crumb']],
  args: ['agent', 'name'],
  json: ({ agent }, { out }) => out.result(agent, () => ''),
  view: ({ agent }, _, { agent: reference }) => safe`Renamed ${reference} to ${agent.address}`,
})
