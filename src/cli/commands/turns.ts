import { command } from '../command.js'
import { flag, required } from '../input/input.js'
import { sessionRef } from '../input/value-kind.js'
import { turnsView, turnTexts } from '../views/turns-view.js'

export const turns = command({
  name: 'turns',
  summary: "Show a session's turns",
  description:
    "Read from the tool's own log. When the tool has deleted it, what was counted before is shown, without words.",
  examples: [
    ['skein turns 22222222', 'One line per turn'],
    ['skein turns 22222222 --full', 'With prompts and replies'],
  ],
  args: { session: required(sessionRef, 'Id or unique beginning of an id') },
  options: { full: flag('Show prompts and replies whole') },
  async run({ session, full }, { home, out }) {
    const history = await (await home()).history.turns(session)
    const { session: found, from_log, turns: told, steps, counters } = history
    const document = { session: found.id, from_log, turns: told, steps, counters }
    out.result(document, (screen) => (full ? turnTexts(history, screen) : turnsView(history, screen)))
    if (!from_log && !out.json) out.note('The log of this session is gone: these are the counts of when it was read.')
  },
})
