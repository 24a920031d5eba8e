import { mailSend } from '../../../operations/index.js'
import { givenText } from '../../input/own-agent.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const send = operationCommand(mailSend, {
  name: 'mail send',
  description: `${mailSend.description} Inside of an agent it is from that agent. "-" as the body reads it from standard input.`,
  examples: [
    ['skein mail send web/toast -s "Review please" -m "Branch login"', 'To an agent'],
    ['skein mail send ada -s "I am done"', 'To a person'],
  ],
  args: ['to'],
  prepare: ({ from, from_session, ...typed }, cli) => ({
    ...typed,
    body: givenText(typed.body, cli),
    from: from ?? cli.currentAgent,
    from_session: from_session ?? cli.currentSession,
  }),
  view: ({ id, to, to_agent_id }) =>
    to_agent_id === undefined
      ? safe`${id} waits for whoever reads ${to}: no agent has that address`
      : safe`${id} is in the inbox of ${to}`,
})
