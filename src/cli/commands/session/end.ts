import { durationMs, formatDuration, OUTCOMES } from '../../../model/index.js'
import { choice, freeText, optional, present, required, when } from '../../../operations/index.js'
import { command } from '../../command.js'
import { namedOrCurrent, SESSION_ARGUMENT } from '../../input/session-argument.js'
import { safe } from '../../screen/safe-text.js'

export const end = command({
  name: 'session end',
  summary: 'Record that a session ended',
  examples: [
    ['skein session end 5e8fa07b --outcome done', 'Its work is finished'],
    ['skein session end c3d94e60 --outcome crash --reason "pane died"', 'It crashed, and why'],
  ],
  args: { session: SESSION_ARGUMENT },
  options: {
    outcome: required(choice('outcome', OUTCOMES), 'How it ended'),
    reason: optional(freeText('text'), 'Why, in words'),
    'ended-at': optional(when, 'When it ended, if not now'),
  },
  async run({ session: named, outcome, reason, 'ended-at': ended_at }, { home, out, currentSession }) {
    const reference = namedOrCurrent(named, currentSession)
    const session = await (await home()).sessions.end(reference, { outcome, ...present({ reason, ended_at }) })
    out.result(
      session,
      ({ nowMs }) => safe`Ended ${session.id} (${outcome}) after ${formatDuration(durationMs(session, nowMs))}`,
    )
  },
})
