import type { CodeChange, SessionCode, SessionHistory } from '../../home/index.js'
import { formatDuration, totalTokens } from '../../model/index.js'
import { type LoggedTurn, turnParts } from '../../tools/index.js'
import { localTime } from '../screen/moment.js'
import { grouped } from '../screen/money.js'
import { safeText } from '../screen/safe-text.js'
import type { Screen } from '../screen/screen.js'
import { table } from '../screen/table.js'
import { linesOf } from './code-view.js'

/** A turn, or what changed in the code between two of them. */
interface TurnRow {
  turn?: LoggedTurn
  code?: CodeChange | undefined
}

/** One line per turn, and one per change between turns. */
export function turnsView({ turns, steps }: SessionHistory, code: SessionCode, screen: Screen): string {
  const rows = rowsOf(turns, code)
  if (rows.length === 0) return ''
  const stepsOf = (turn: LoggedTurn): string =>
    steps
      .filter((step) => step.turns.includes(turn.number))
      .map((step) => step.step_ref)
      .join(' ')
  const ofTurn =
    (text: (turn: LoggedTurn) => string) =>
    ({ turn }: TurnRow): string =>
      turn ? text(turn) : ''
  return table(
    rows,
    [
      { header: 'TURN', text: ofTurn(({ number }) => String(number)), align: 'right', paint: (paint) => paint.cyan },
      { header: 'STARTED', text: ofTurn(({ started_at }) => (started_at ? localTime(started_at) : '')) },
      {
        header: 'TIME',
        text: ofTurn(({ duration_ms }) => (duration_ms === undefined ? '' : formatDuration(duration_ms))),
        align: 'right',
      },
      { header: 'OUTCOME', text: ofTurn(outcomeOf) },
      {
        header: 'TOOLS',
        text: ofTurn((turn) => String(sumOf(turn, ({ tool_calls }) => tool_calls.length) || '')),
        align: 'right',
      },
      { header: 'TOKENS', text: ofTurn(tokensOf), align: 'right' },
      { header: 'FILES', text: ({ code: own }) => (own ? String(own.files) : ''), align: 'right' },
      { header: 'LINES', text: ({ code: own }) => (own && own.files > 0 ? linesOf(own) : ''), align: 'right' },
      { header: 'CODE', text: ({ code: own }) => (own ? marksOf(own) : '') },
      { header: 'STEP', text: ofTurn(stepsOf), shrinkTo: 8 },
      {
        header: 'PROMPT',
        text: ({ turn }) => (turn ? firstLine(turn.prompt) : 'edited between turns'),
        shrinkTo: 20,
        paint: (paint, { turn }) => (turn ? (text) => text : paint.dim),
      },
    ],
    screen,
  )
}

function rowsOf(turns: readonly LoggedTurn[], { turns: changed, edits }: SessionCode): TurnRow[] {
  const shown = new Set(turns.map(({ number }) => number))
  const early = edits.filter(({ after_turn }) => !shown.has(after_turn)).map((code): TurnRow => ({ code }))
  return [
    ...early,
    ...turns.flatMap((turn): TurnRow[] => [
      { turn, code: changed.get(turn.number) },
      ...edits.filter(({ after_turn }) => after_turn === turn.number).map((code) => ({ code })),
    ]),
  ]
}

const marksOf = ({ head_moved, is_partial }: CodeChange): string =>
  [...(head_moved ? ['HEAD moved'] : []), ...(is_partial ? ['partial'] : [])].join(', ')

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
    const failure = turn.error === undefined ? [] : [`${paint.bold('failed:')}\n${lines(turn.error)}`]
    return [head, ...asked, ...onTheWay(turn, says, screen), ...reply, ...failure].join('\n\n')
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

/** The words a person would use, and the turn's place in the tree. */
function outcomeOf(turn: LoggedTurn): string {
  if (turn.copied) return `${turn.outcome}, copied` // what it used was counted where it was made
  if (!turn.live) return `${turn.outcome}, abandoned`
  return turn.compacted > 0 ? `${turn.outcome}, compacted` : turn.outcome
}

function tokensOf(turn: LoggedTurn): string {
  const total = sumOf(turn, ({ usage }) => usage.reduce((sum, call) => sum + totalTokens(call), 0))
  return total === 0 ? '' : grouped(total)
}

/** Of the turn and of the sub-agents that it started, as in the totals of the session. */
function sumOf(turn: LoggedTurn, count: (turn: LoggedTurn) => number): number {
  const inner = turn.tool_calls.flatMap((call) => call.sub_agent ?? [])
  return inner.reduce((sum, one) => sum + sumOf(one, count), count(turn))
}

const firstLine = (text: string): string => text.trim().split('\n')[0] ?? ''
