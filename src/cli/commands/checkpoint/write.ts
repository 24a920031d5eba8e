import { checkpointWrite } from '../../../operations/index.js'
import { agentOf, givenText, ownAgent } from '../../input/own-agent.js'
import { operationCommand } from '../../operation-command.js'
import { checkpointView } from '../../views/checkpoint-view.js'

export const write = operationCommand(checkpointWrite, {
  name: 'checkpoint write',
  examples: [
    ['skein checkpoint write --agent web/toast --notes "the parser is done, the tests are not"', 'Before a risky step'],
  ],
  fields: { agent: ownAgent('The agent') },
  prepare: ({ agent, notes, ...typed }, cli) => ({
    ...typed,
    agent: agentOf(agent, cli),
    notes: givenText(notes, cli),
  }),
  view: checkpointView,
})
