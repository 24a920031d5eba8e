import type { SessionHistory } from '../../home/index.js'
import { type LoggedTurn, turnParts } from '../../tools/index.js'
import { localTime } from '../screen/moment.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { outcomeOf } from './turns-view.js'

/** Prompts and replies, whole, each under the name of who speaks. */
export function turnTexts({ turns, session }: SessionHistory, screen: Screen): string {
  const { paint } = screen
  const blocks = turns.map((turn) => {
    const head = paint.bold(
      `Turn ${turn.number}${turn.started_at ? `, ${localTime(turn.started_at)}` : ''} (${outcomeOf(turn)})`,
    )
    const agent = paint.bold(`${safeText(session.tool ?? 'agent')}:`)
    const says = (text: string): string => `${agent}\n${lines(text)}`
    const asked = turn.prompt === '' ? [] : [`${paint.bold(ASKED_BY[turn.by])}\n${paint.cyan(lines(turn.prompt))}`]
    const reply = turn.reply === undefined ? [] : [says(turn.reply)]
    const mark = session.turn_marks?.find((one) => one.turn === turn.number)
    const note = mark?.note === undefined ? [] : [`${paint.bold('note:')}\n${paint.yellow(lines(mark.note))}`]
    const failure = turn.error === undefined ? [] : [`${paint.bold('failed:')}\n${lines(turn.error)}`]
    return [head, ...note, ...asked, ...onTheWay(turn, says, screen), ...reply, ...failure].join('\n\n')
  })
  return blocks.join('\n\n')
}

/** What was said between calls; calls in a row by their names. */
function onTheWay(turn: LoggedTurn, says: (text: string) => string, { paint }: Screen): string[] {
  const blocks: string[] = []
  let row: string[] = []
  const endRow = (): void => {
    if (row.length > 0) blocks.push(`${paint.bold('tools:')} ${paint.dim(row.join(', '))}`)
    row = []
  }
  for (const part of turnParts(turn)) {
    if (part.kind === 'call') row.push(safeText(part.call.name))
    else {
      endRow()
      blocks.push(says(part.text))
    }
  }
  endRow()
  return blocks
}

/** Who began a turn. */
const ASKED_BY: Record<LoggedTurn['by'], string> = {
  person: 'you:',
  queue: 'you, queued:',
  program: 'a program:',
  tool: 'a tool:',
}

const lines = (text: string): string => text.split('\n').map(safeText).join('\n')
