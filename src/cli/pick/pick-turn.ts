import { spawnSync } from 'node:child_process'
import type { CodeChange } from '../../home/index.js'
import { SkeinError } from '../../model/index.js'
import { usageError } from '../../operations/index.js'
import type { LoggedTurn } from '../../tools/index.js'
import type { Cli } from '../command.js'
import { relativeTime } from '../screen/moment.js'
import { plural } from '../screen/plural.js'
import { safeText } from '../screen/safe-text.js'
import type { Terminal } from '../screen/terminal.js'
import { linesOf } from '../views/code-view.js'
import { TurnList, type TurnRow } from './turn-list.js'

/** Asks a person for one of the turns of a session. */
export async function pickTurn(session: string, { fzf }: { fzf: boolean }, cli: Cli): Promise<number> {
  const asked = cli.isAttended
  const next = `Name it: skein fork ${session} --turn <n> ; see: skein turns ${session}`
  if (!asked) throw usageError('No turn is named, and there is no terminal to choose it in', next)
  const rows = await rowsOf(session, cli)
  if (rows.length === 0) throw usageError(`Session ${session} has no turns`, 'Fork another session')
  const chosen = fzf ? byFzf(rows) : await byList(rows, cli)
  if (chosen !== undefined) return chosen
  throw new SkeinError('usage', 'No turn was chosen', next)
}

async function rowsOf(session: string, cli: Cli): Promise<TurnRow[]> {
  const home = await cli.home()
  const history = await home.history.turns(session)
  const { coded, turns: changes } = await home.history.code(history)
  const kept = new Set(coded.filter(({ after }) => after !== undefined).map(({ turn }) => turn))
  const { nowMs } = cli.out.screen
  return history.turns.map((turn) => {
    const change = changes.get(turn.number)
    return turnRow(turn, { nowMs, isKept: kept.has(turn.number), ...(change ? { change } : {}) })
  })
}

interface RowFacts {
  nowMs: number
  /** There is a snapshot of its end. */
  isKept: boolean
  change?: CodeChange
}

const MOST_FILES = 3

/** A turn as one line with its age and what it changed, and its words and files beside it. */
export function turnRow(turn: LoggedTurn, { nowMs, isKept, change }: RowFacts): TurnRow {
  const { number, prompt, reply = '', tool_calls, started_at, live, outcome } = turn
  const { changes = [] } = change ?? {}
  const paths = changes.map(({ path }) => path)
  const more = paths.length > MOST_FILES ? ` and ${paths.length - MOST_FILES} more` : ''
  const facts = [
    started_at === undefined ? undefined : relativeTime(started_at, nowMs),
    change && paths.length > 0 ? `${linesOf(change)} ${paths.slice(0, MOST_FILES).join(', ')}${more}` : undefined,
    tool_calls.length > 0 ? plural(tool_calls.length, 'call') : undefined,
    isKept ? undefined : 'no snapshot',
    live ? undefined : 'abandoned',
    outcome === 'completed' ? undefined : outcome,
  ].filter((fact) => fact !== undefined)
  const files = changes.map((one) => `${linesOf(one)} ${one.path}`)
  return {
    number,
    label: safeText(`${String(number).padStart(4)}  ${prompt.split('\n')[0] ?? ''}  (${facts.join(', ')})`),
    preview: [...prompt.split('\n').slice(0, 3), ...files.slice(0, 2), '', ...reply.split('\n')].map(safeText),
  }
}

async function byList(rows: readonly TurnRow[], cli: Cli): Promise<number | undefined> {
  const taken = cli.terminal()
  if (!taken) throw usageError('There is no terminal to choose a turn in', 'Name it: --turn <n>')
  using terminal = await taken
  const list = new TurnList(rows)
  draw(terminal, list)
  terminal.onResize(() => draw(terminal, list))
  // Awaited here: the terminal is ours until then.
  return await new Promise((resolve) => {
    terminal.onKeys((typed) => {
      const done = press(list, typed)
      if (done === 'leave') resolve(undefined)
      else if (done === 'choose') resolve(list.marked?.number)
      else draw(terminal, list)
    })
  })
}

/** One key: what a terminal sends for an arrow or a page, or a character. */
const KEY = /\x1b\[[0-9;]*[A-Za-z~]|\x1bO[A-Z]|[\s\S]/gu
const MOVES: Readonly<Record<string, number>> = {
  ...{ '\x1b[A': -1, '\x1bOA': -1, '\x10': -1, '\x1b[5~': -10 },
  ...{ '\x1b[B': 1, '\x1bOB': 1, '\x0e': 1, '\x1b[6~': 10 },
}

/** Keys come one by one, or several at once when they are typed or pasted quickly. */
function press(list: TurnList, typed: string): 'leave' | 'choose' | undefined {
  for (const key of typed.match(KEY) ?? []) {
    const by = MOVES[key]
    if (by !== undefined) list.move(by)
    else if (key === '\x1b' || key === '\x03') return 'leave'
    else if (key === '\r' || key === '\n') {
      if (list.marked) return 'choose'
    } else if (key === '\x7f' || key === '\b') list.erase()
    else if (key >= ' ') list.type(key)
  }
  return undefined
}

function draw(terminal: Terminal, list: TurnList): void {
  terminal.write(`\x1b[H\x1b[2J${list.draw(terminal.size()).join('\r\n')}`)
}

/** fzf reads the rows and talks to the terminal itself. */
function byFzf(rows: readonly TurnRow[]): number | undefined {
  const ran = spawnSync('fzf', ['--prompt', 'Turn? ', '--tac', '--no-sort'], {
    input: rows.map(({ label }) => label).join('\n'),
    stdio: ['pipe', 'pipe', 'inherit'],
    encoding: 'utf8',
  })
  if (ran.error) throw usageError('fzf is not installed, or not in PATH', 'Leave out --fzf')
  const number = Number(/^\s*(\d+)/.exec(ran.stdout)?.[1])
  return Number.isInteger(number) && number > 0 ? number : undefined
}
