import { freeText, mailReply, optional, usageError } from '../../../operations/index.js'
import type { Cli } from '../../command.js'
import { givenText } from '../../input/own-agent.js'
import { operationCommand } from '../../operation-command.js'
import { safe } from '../../screen/safe-text.js'

export const reply = operationCommand(mailReply, {
  name: 'mail reply',
  description: 'It stays in the same thread. "-" as the body reads it from standard input.',
  examples: [
    ['skein mail reply m-7 "It is on branch login"', 'To whoever wrote it'],
    ['skein mail reply m-7 -m "It is on branch login"', 'The same'],
  ],
  args: ['mail', 'body'],
  fields: { body: optional(freeText('text'), 'What it says') },
  own: { message: optional(freeText('text'), 'What it says, instead of a word', { short: 'm' }) },
  prepare: ({ from, from_session, body, message, ...typed }, cli) => ({
    ...typed,
    body: bodyOf(body, message, cli),
    from: from ?? cli.currentAgent,
    from_session: from_session ?? cli.currentSession,
  }),
  view: ({ id, to }) => safe`${id} is in the inbox of ${to}`,
})

function bodyOf(body: string | undefined, message: string | undefined, cli: Cli): string {
  if (body !== undefined && message !== undefined)
    throw usageError('The reply is given twice', 'Give it as a word or with --message')
  const given = givenText(body ?? message, cli)
  if (given === undefined)
    throw usageError('Missing <body>', 'Say it, like: skein mail reply m-7 -m "It is on branch login"')
  return given
}
