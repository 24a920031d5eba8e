import { agentRef, required, text } from '../../../operations/index.js'
import { command } from '../../command.js'
import { safe } from '../../screen/safe-text.js'

export const rename = command({
  name: 'agents rename',
  summary: 'Rename an agent',
  description: 'It stays in its group and keeps its sessions.',
  examples: [['skein agents rename web/toast crumb', 'web/toast becomes web/crumb']],
  args: {
    agent: required(agentRef, 'Address, end of it, title, id, or . for here'),
    name: required(text('name'), 'The new name, without a group'),
  },
  options: {},
  async run({ agent: reference, name }, { home, out }) {
    const agent = await (await home()).roster.rename(reference, name)
    out.result(agent, () => safe`Renamed ${reference} to ${agent.address}`)
  },
})
