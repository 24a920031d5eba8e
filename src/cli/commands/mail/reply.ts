import { mailReply } from '../../../operations/index.js'
import { givenText } from '../../input/own-agent.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const reply = operationCommand(mailReply, {
  name: 'mail reply',
  description: 'It stays in the same thread. "-" as the body reads it from standard input.',
  examples: [['skein mail reply m-7 "It is on branch login"', 'To whoever wrote it']],
  args: ['mail', 'body'],
  prepare: ({ from, from_session, body, ...typed }, cli) => ({
    ...typed,
    body: givenText(body, cli),
    from: from ?? cli.currentAgent,
    from_session: from_session ?? cli.currentSession,
  }),
  view: ({ id, to }) => safe`${id} is in the inbox of ${to}`,
})
