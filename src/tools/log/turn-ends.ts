import type { Instant } from '../../model/index.js'
import type { Fact } from './fact.js'

const MOST_CALLS = 64

/** The newest turn of a lane. */
interface OpenTurn {
  turn: number
  /** Its last words came after its last tool call. */
  said: boolean
  ended: boolean
  /** Tool calls without a result. */
  calls: string[]
  at?: Instant | undefined
}
export type SavedEnds = [agent: string, open: OpenTurn][]

/**
 * Says that a turn was completed where its log only implies it: it was timed, or its last words followed its last tool call and
 * another turn came after it. A program that was killed behind a tool call leaves a result, and no words after it.
 * Said here, among the facts, so that everyone who stores or folds them comes to the same end.
 */
export class TurnEnds {
  #lanes: Map<string, OpenTurn>

  constructor(
    private readonly tell: (fact: Fact) => void,
    saved: SavedEnds | undefined,
  ) {
    this.#lanes = new Map(saved?.map(copyOf))
  }

  save(): SavedEnds {
    return [...this.#lanes].map(copyOf)
  }

  /** Passes a fact on, with what follows from it. */
  pass(fact: Fact): void {
    if (!('turn' in fact)) {
      this.tell(fact)
      return
    }
    const lane = fact.agent ?? ''
    if (fact.kind === 'turn' && fact.turn > (this.#lanes.get(lane)?.turn ?? 0)) {
      this.#leave(lane, fact.agent)
      this.#lanes.set(lane, { turn: fact.turn, said: false, ended: false, calls: [] })
    }
    this.tell(fact)
    const open = this.#lanes.get(lane)
    if (open?.turn === fact.turn) this.#note(open, fact)
  }

  #leave(lane: string, agent: string | undefined): void {
    const open = this.#lanes.get(lane)
    if (open?.said && !open.ended && open.calls.length === 0) this.#complete(open, agent)
  }

  #note(open: OpenTurn, fact: Extract<Fact, { turn: number }>): void {
    open.at = fact.at ?? open.at
    if (fact.kind === 'said') open.said = true
    else if (fact.kind === 'tool-call') {
      open.ended = false
      open.said = false
      if (open.calls.length < MOST_CALLS) open.calls.push(fact.call)
    } else if (fact.kind === 'tool-result') open.calls = open.calls.filter((call) => call !== fact.call)
    else if (fact.kind === 'mark' && fact.mark === 'timed') {
      if (!open.ended) this.#complete(open, fact.agent)
    } else if (fact.kind === 'mark' && fact.mark !== 'compacted') open.ended = true
  }

  #complete(open: OpenTurn, agent: string | undefined): void {
    open.ended = true
    this.tell({ kind: 'mark', agent, turn: open.turn, mark: 'completed', at: open.at })
  }
}

const copyOf = ([agent, open]: SavedEnds[number]): SavedEnds[number] => [agent, { ...open, calls: [...open.calls] }]
