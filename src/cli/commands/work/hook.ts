import { workHook } from '../../../operations/index.js'
import { agentOf, ownAgent } from '../../input/own-agent.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const hook = operationCommand(workHook, {
  name: 'work hook',
  examples: [['skein work hook w-42 web/toast', 'The next thing that web/toast does']],
  args: ['work', 'agent'],
  fields: { agent: ownAgent('Whose hook') },
  prepare: ({ agent, ...typed }, cli) => ({ ...typed, agent: agentOf(agent, cli) }),
  view: ({ id, agent = '' }) => safe`${id} is on the hook of ${agent}`,
})
