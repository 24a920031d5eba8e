import { parseSessionId, type SessionId } from '../../model/index.js'
import { defaulted, flag, optional, required } from '../field.js'
import { agentRef, count, freeText, sessionRef, text } from '../kind.js'
import { operation } from '../operation.js'
import { present } from '../present.js'
import { readerMeant, senderOf } from '../work/agent-meant.js'
import { priority, priorityOf } from '../work/work.js'

const MAIL = required(text('mail'), 'Id of the mail')
const BODY = required(freeText('text'), 'What it says')
const FROM = optional(agentRef, 'The agent that writes')
const SESSION = optional(sessionRef, "The reader's session")
const sessionOf = (given: string | undefined): { session?: SessionId } =>
  given === undefined ? {} : { session: parseSessionId(given) }

export const mailSend = operation({
  name: 'mail.send',
  does: 'acts',
  where: 'either',
  summary: 'Write to an agent, a role or a person',
  description: 'It waits in the inbox of that address. To type into a running agent, use skein send.',
  input: {
    to: required(agentRef, 'An agent, or an address that somebody reads'),
    subject: required(text('text'), 'What it is about, in one line', { short: 's' }),
    body: optional(freeText('text'), 'What it says', { short: 'm', aliases: ['message'] }),
    priority: optional(priority, 'From 0, the most urgent, to 4', { fallback: '2' }),
    from: FROM,
    from_session: optional(sessionRef, 'The session that writes'),
  },
  result: 'mail',
  async run({ to, subject, body = '', priority: urgency, from, from_session }, { home }) {
    const open = await home()
    const sender = await senderOf(open, from)
    return open.work.send({
      to: await readerMeant(open, to),
      subject,
      body,
      ...priorityOf(urgency),
      ...present({ from: sender }),
      ...(from_session === undefined ? {} : { from_session: parseSessionId(from_session) }),
    })
  },
})

export const mailInbox = operation({
  name: 'mail.inbox',
  does: 'reads',
  where: 'either',
  summary: 'List unread mail, the most urgent first',
  description: 'Mail that was meant for a predecessor of the reader is marked as stale and comes last.',
  input: {
    agent: required(agentRef, 'Whose inbox: an agent, a role or a person'),
    all: flag('Also mail that was read, newest first', { short: 'a' }),
    limit: defaulted(count, 100, 'How many at most', { short: 'n' }),
    session: SESSION,
  },
  result: 'inbox',
  async run({ agent, all, limit, session }, { home }) {
    const open = await home()
    return open.work.inbox(await readerMeant(open, agent), { all, limit, ...sessionOf(session) })
  },
})

export const mailRead = operation({
  name: 'mail.read',
  does: 'acts',
  where: 'either',
  summary: 'Read a mail, and mark it as read',
  input: { mail: MAIL, peek: flag('Leave it unread'), session: SESSION },
  result: 'mail',
  run: async ({ mail, peek, session }, { home }) => (await home()).work.readMail(mail, { peek, ...sessionOf(session) }),
})

export const mailReply = operation({
  name: 'mail.reply',
  does: 'acts',
  where: 'either',
  summary: 'Reply to whoever wrote a mail',
  input: {
    mail: MAIL,
    body: BODY,
    subject: optional(freeText('text'), 'Another subject', { short: 's', fallback: 'Re: the same' }),
    from: FROM,
    from_session: optional(sessionRef, 'The session that writes'),
  },
  result: 'mail',
  async run({ mail, body, subject, from, from_session }, { home }) {
    const open = await home()
    const sender = await senderOf(open, from)
    return open.work.reply(mail, {
      body,
      ...present({ subject, from: sender }),
      ...(from_session === undefined ? {} : { from_session: parseSessionId(from_session) }),
    })
  },
})
