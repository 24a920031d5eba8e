import { SkeinError } from '../../model/index.js'
import type { Fact } from '../log/fact.js'
import type { LoggedSession, LoggedTurn } from '../log/turn.js'
import type { CutPoint } from './cut.js'

/** The turns that a cut keeps, oldest first: those on the way to it, whatever else the log has. */
export function keptTurns({ turns }: Pick<LoggedSession, 'turns'>, { turn, edge }: CutPoint): LoggedTurn[] {
  const known = new Map(turns.map((one) => [one.number, one]))
  const meant = known.get(turn)
  if (!meant) throw noSuchTurn(turns, turn)
  if (edge === 'after') refuseOpen(meant)
  const kept = new Set<LoggedTurn>()
  let at = edge === 'after' ? meant : known.get(meant.follows)
  for (; at && !kept.has(at); at = known.get(at.follows)) kept.add(at)
  return [...kept].reverse()
}

/** A tool call without a result would be answered by the tool itself when the copy is opened. */
function refuseOpen({ number, tool_calls, outcome, reply }: LoggedTurn): void {
  const open = tool_calls.filter(({ result }) => result === undefined)
  const before = `Fork before its prompt (--before), or at an earlier turn`
  if (open.length > 0) {
    const names = [...new Set(open.map(({ name }) => name))].slice(0, 3).join(', ')
    const what =
      open.length === 1
        ? `a tool call without a result (${names})`
        : `${open.length} tool calls without a result (${names})`
    throw new SkeinError('turn-open', `Turn ${number} has ${what}`, before)
  }
  if (outcome === 'open' && reply === undefined)
    throw new SkeinError('turn-open', `Turn ${number} has not ended`, before)
}

function noSuchTurn(turns: readonly LoggedTurn[], turn: number): SkeinError {
  const last = turns.at(-1)?.number
  const next =
    last === undefined
      ? 'The session has no turns yet; those before a /clear are in its chain: skein sessions chain <agent>'
      : `List them: skein turns <session> . The last is ${last}`
  return new SkeinError('bad-input', `There is no turn ${turn}`, next)
}

/**
 * Finds where the records of a turn end. What comes between the end of a turn and the next prompt is not part of it: a context that was
 * summarised then, commands that the program answered itself.
 */
export class TurnEnd {
  /** Behind the last record of the turn. */
  at: number | undefined
  #isOver = false
  #isPast = false

  constructor(private readonly turn: number) {}

  note(facts: readonly Fact[], index: number): void {
    for (const fact of facts) {
      if (!('turn' in fact) || fact.turn !== this.turn || fact.agent !== undefined || this.#isPast) continue
      if (fact.kind === 'mark' && fact.mark === 'compacted') {
        this.#isPast = this.#isOver
        continue
      }
      if (fact.kind === 'mark' && fact.mark !== 'timed') this.#isOver = true
      else if (fact.kind === 'tool-call') this.#isOver = false
      this.at = index + 1
    }
  }
}
