import type { SessionHistory } from '../../home/index.js'
import { SkeinError } from '../../model/index.js'
import { count, flag, optional, required, sessionRef } from '../../operations/index.js'
import { command } from '../command.js'
import { refuseVerbatimOutput, verbatimFlag } from '../input/verbatim.js'
import { plural } from '../screen/plural.js'
import { noteMissingLog } from '../views/missing-log.js'
import { turnsView, turnTexts } from '../views/turns-view.js'

export const turns = command({
  name: 'turns',
  summary: "Show a session's turns",
  description:
    "Reads the tool's own log, or the archive if the tool has deleted it. Secrets are redacted, and tool calls are shown as the privacy policy allows.",
  examples: [
    ['skein turns 22222222', 'One line per turn'],
    ['skein turns 22222222 --full', 'With prompts and replies'],
    ['skein turns 22222222 --turn 2', 'One turn, whole'],
  ],
  args: { session: required(sessionRef, 'The beginning of its id, or its agent') },
  options: {
    full: flag('Show full prompts and replies, and who speaks'),
    turn: optional(count, 'Only this turn, in full'),
    verbatim: verbatimFlag,
  },
  async run({ session, full, turn, verbatim }, { home, out }) {
    refuseVerbatimOutput(verbatim, `turns ${session}`, out)
    const all = await (await home()).history.turns(session, { verbatim })
    const history = turn === undefined ? all : onlyTurn(all, turn)
    const { session: found, from_log, told_from, turns: told, steps, counters } = history
    const document = { session: found.id, from_log, told_from, turns: told, steps, counters }
    const isWhole = full || turn !== undefined
    out.result(document, (screen) => (isWhole ? turnTexts(history, screen) : turnsView(history, screen)))
    if (out.json) return
    if (told.length === 0 && from_log) out.note('No turns.')
    noteMissingLog(history, out)
  },
})

function onlyTurn(history: SessionHistory, number: number): SessionHistory {
  const turns = history.turns.filter((turn) => turn.number === number)
  if (turns.length > 0) return { ...history, turns }
  const last = history.turns.at(-1)?.number
  const known =
    last === undefined ? 'It has no turns' : `It has ${plural(history.turns.length, 'turn')}, the last is ${last}`
  const id = history.session.id.slice(0, 8)
  throw new SkeinError('bad-input', `Session ${id} has no turn ${number}`, `${known}: skein turns ${id}`)
}
