import { freeText, optional, present } from '../../../operations/index.js'
import { command } from '../../command.js'
import { namedOrCurrent, SESSION_ARGUMENT } from '../../input/session-argument.js'
import { START_OPTIONS, startOf } from '../../input/start-options.js'
import { safeText } from '../../screen/safe-text.js'

export const handoff = command({
  name: 'session handoff',
  summary: 'End a session and start the one that continues it',
  description: 'Prints only the id of the new session. Facts that are not given are taken from the previous one.',
  examples: [
    [
      'skein session handoff b1a7e2d9 --subject "Login half done" --message "Tests are red"',
      'With a subject and a message',
    ],
  ],
  args: { session: SESSION_ARGUMENT },
  options: {
    ...START_OPTIONS,
    subject: optional(freeText('text'), 'What the handoff is about'),
    message: optional(freeText('text'), 'What the successor should know'),
  },
  async run({ session: named, subject, message, ...given }, { home, out, currentSession }) {
    const reference = namedOrCurrent(named, currentSession)
    const successor = await (await home()).sessions.handoff(reference, {
      ...startOf(given),
      ...present({ subject, message }),
    })
    out.result(successor, () => safeText(successor.id))
  },
})
