import type { CodeChange } from '../../home/index.js'
import { formatDuration, totalTokens } from '../../model/index.js'
import type { ShownTurns, TurnFork } from '../../operations/index.js'
import type { LoggedTurn } from '../../tools/index.js'
import { relativeTime } from '../screen/moment.js'
import { grouped, money } from '../screen/money.js'
import type { Screen } from '../screen/screen.js'
import { type Column, leastWidth, table } from '../screen/table.js'
import { linesOf } from './code-view.js'

/** A turn, what changed in the code between two of them, or a fork. */
interface TurnRow {
  turn?: LoggedTurn
  code?: CodeChange | undefined
  fork?: { fork: TurnFork; depth: number }
}

/** One line per turn, per change between turns, and per fork. Where the screen is narrow, what matters less is left out. */
export function turnsView(shown: ShownTurns, screen: Screen): string {
  const rows = rowsOf(shown)
  if (rows.length === 0) return ''
  const { number, age, time, outcome, trouble, tools, tokens, cost, files, lines, code, step, mark, prompt } =
    columnsOf(shown, screen)
  const ways: Column<TurnRow>[][] = [
    [number, age, time, outcome, tools, tokens, cost, files, lines, code, step, mark, prompt(40)],
    [number, age, time, trouble, tools, tokens, cost, files, lines, code, step, mark, prompt(40)],
    [number, age, trouble, tools, cost, files, lines, code, step, mark, prompt(24)],
    [number, age, trouble, tools, cost, files, lines, code, mark, prompt(20)],
    [number, age, trouble, files, lines, mark, prompt(10)],
  ]
  const fitting = ways.find((way) => leastWidth(rows, way) <= screen.width) ?? ways.at(-1) ?? []
  return table(rows, fitting, screen)
}

function columnsOf({ history, costs }: ShownTurns, { nowMs }: Screen) {
  const ofTurn =
    (text: (turn: LoggedTurn) => string) =>
    ({ turn }: TurnRow): string =>
      turn ? text(turn) : ''
  const column = (header: string, text: Column<TurnRow>['text'], more: Partial<Column<TurnRow>> = {}) => ({
    header,
    text,
    ...more,
  })
  const right = { align: 'right' } as const
  return {
    number: column(
      'TURN',
      ofTurn(({ number }) => String(number)),
      { ...right, paint: (paint) => paint.cyan },
    ),
    age: column(
      'AGE',
      ofTurn(({ started_at }) => (started_at ? relativeTime(started_at, nowMs).replace(/ ago$/, '') : '')),
      right,
    ),
    time: column(
      'TIME',
      ofTurn(({ duration_ms }) => (duration_ms === undefined ? '' : formatDuration(duration_ms))),
      right,
    ),
    outcome: column('OUTCOME', ofTurn(outcomeOf)),
    trouble: column(
      'OUTCOME',
      ofTurn((turn) => (outcomeOf(turn) === 'completed' ? '' : outcomeOf(turn))),
    ),
    tools: column(
      'TOOLS',
      ofTurn((turn) => String(sumOf(turn, ({ tool_calls }) => tool_calls.length) || '')),
      right,
    ),
    tokens: column('TOKENS', ofTurn(tokensOf), right),
    cost: column(
      'COST',
      ofTurn(({ number }) => costText(costs.get(number))),
      right,
    ),
    files: column('FILES', ({ code }) => (code ? String(code.files) : ''), right),
    lines: column('LINES', ({ code }) => (code && hasLines(code) ? linesOf(code) : ''), right),
    code: column('CODE', ({ code }) => (code ? marksOf(code) : '')),
    step: column(
      'STEP',
      ofTurn((turn) => stepsOf(history.steps, turn)),
      { shrinkTo: 8 },
    ),
    mark: column(
      'NOTE',
      ofTurn(({ number }) => noteOf(history.session.turn_marks?.find((one) => one.turn === number))),
      { shrinkTo: 10, paint: (paint) => paint.yellow },
    ),
    prompt: (shrinkTo: number) =>
      column('PROMPT', promptOf, { shrinkTo, paint: (paint, { turn }) => (turn ? (text) => text : paint.dim) }),
  }
}

/** Of a binary file, and of one that changed before it could be captured, nobody knows how many. */
const hasLines = ({ changes }: CodeChange): boolean => changes.some(({ added }) => added !== undefined)

const stepsOf = (steps: ShownTurns['history']['steps'], { number }: LoggedTurn): string =>
  steps
    .filter((step) => step.turns.includes(number))
    .map((step) => step.step_ref)
    .join(' ')

/** A price that is not known is never shown as nothing. */
const costText = (cost: { cost_micro_usd: number; unpriced_calls: number } | undefined): string =>
  cost ? money({ micro_usd: cost.cost_micro_usd, unpriced_calls: cost.unpriced_calls }).replace(' + unknown', '+?') : ''

const noteOf = (mark: { note?: string; is_pinned?: true } | undefined): string =>
  [...(mark?.is_pinned ? ['pinned'] : []), ...(mark?.note === undefined ? [] : [firstLine(mark.note)])].join(': ')

function promptOf({ turn, fork }: TurnRow): string {
  if (turn) return firstLine(turn.prompt)
  if (!fork) return 'edited between turns'
  const { session, agent, turn: at } = fork.fork
  const where = fork.depth > 0 && at !== undefined ? ` at its turn ${at}` : ''
  return `${'  '.repeat(fork.depth)}└─ fork${where}: ${agent ?? session.slice(0, 8)}${agent ? ` (${session.slice(0, 8)})` : ''}`
}

/** A fork is under the last turn that it shares, and its own forks under it. */
function rowsOf({ history, code: { turns: changed, edits }, forks }: ShownTurns): TurnRow[] {
  const { turns } = history
  const shown = new Set(turns.map(({ number }) => number))
  const forksAt = (isHere: (fork: TurnFork) => boolean): TurnRow[] =>
    forks.filter(isHere).flatMap((fork) => forkRows(fork, 0))
  const early = edits.filter(({ after_turn }) => !shown.has(after_turn)).map((code): TurnRow => ({ code }))
  if (turns.length === 0) return early
  return [
    ...forksAt(({ turn }) => turn === undefined || !shown.has(turn)),
    ...early,
    ...turns.flatMap((turn): TurnRow[] => [
      { turn, code: changed.get(turn.number) },
      ...forksAt((fork) => fork.turn === turn.number),
      ...edits.filter(({ after_turn }) => after_turn === turn.number).map((code) => ({ code })),
    ]),
  ]
}

const forkRows = (fork: TurnFork, depth: number): TurnRow[] => [
  { fork: { fork, depth } },
  ...fork.forks.flatMap((inner) => forkRows(inner, depth + 1)),
]

const marksOf = ({ head_moved, is_partial }: CodeChange): string =>
  [...(head_moved ? ['HEAD moved'] : []), ...(is_partial ? ['partial'] : [])].join(', ')

/** The words a person would use, and the turn's place in the tree. */
export function outcomeOf(turn: LoggedTurn): string {
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
