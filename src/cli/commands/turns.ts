import { command } from '../command.js'
import { flag, required } from '../input/input.js'
import { sessionRef } from '../input/value-kind.js'
import { noteMissingLog } from '../views/missing-log.js'
import { turnsView, turnTexts } from '../views/turns-view.js'

export const turns = command({
  name: 'turns',
  summary: "Show a session's turns",
  description: "Read from the tool's own log, or from the archive when the tool has deleted it.",
  examples: [
    ['skein turns 22222222', 'One line per turn'],
    ['skein turns 22222222 --full', 'With prompts and replies'],
  ],
  args: { session: required(sessionRef, 'The beginning of its id, or an agent that is in it') },
  options: { full: flag('Show prompts and replies whole') },
  async run({ session, full }, { home, out }) {
    const history = await (await home()).history.turns(session)
    const { session: found, from_log, told_from, turns: told, steps, counters } = history
    const document = { session: found.id, from_log, told_from, turns: told, steps, counters }
    out.result(document, (screen) => (full ? turnTexts(history, screen) : turnsView(history, screen)))
    if (out.json) return
    if (told.length === 0 && from_log) out.note('No turns.')
    noteMissingLog(history, out)
  },
})
