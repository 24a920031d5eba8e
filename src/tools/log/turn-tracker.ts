import type { Counters } from './counters.js'

/** The lane of the conversation itself; each sub-agent has a lane of its own. */
export const MAIN = ''

const MOST_NODES = 200_000
const SAVED_NODES = 64
const SAVED_TIPS = 2_000

interface Lane {
  /** For each turn, the turn it follows: `follows[3]` is what turn 3 comes after, 0 when it is a first turn. */
  follows: number[]
  /** The turn of every entry seen. */
  nodes: Map<string, number>
  /** The last entry of each turn: where the next turn, or a branch, most likely attaches. */
  tips: string[]
  /** The turn of the newest entry. */
  newest: number
  /** Entries were left out of the saved state, so an unknown one may yet be in the log. */
  partial: boolean
}

interface SavedLane {
  follows: number[]
  nodes: SavedNodes[]
  newest: number
}
/** Entries of one turn, one behind the other with a space between: there are many of them. Or one that has a space in its id. */
type SavedNodes = [turn: number, nodes: string] | [node: string, turn: number]
export type SavedTracker = Record<string, SavedLane>

/** Thrown when the saved state does not reach back far enough to place an entry. The answer is to read the log from the start. */
export class LostPlace extends Error {
  constructor(node: string) {
    super(`entry ${node.slice(0, 64)} follows one that the saved state does not hold`)
  }
}

/**
 * Sorts the entries of a log into turns. Logs are trees (a person goes back and asks differently), so an entry belongs to
 * the turn of the entry it follows, wherever the two lines are. Turns are numbered as they appear, so a number never
 * changes when the log grows. What is kept per entry is its id and a number, and only a few hundred of them are saved.
 */
export class TurnTracker {
  #lanes = new Map<string, Lane>()

  constructor(
    private readonly counters: Counters,
    saved?: SavedTracker,
  ) {
    for (const [name, lane] of Object.entries(saved ?? {})) {
      const tips = ['']
      const nodes = new Map(lane.nodes.flatMap(savedNodes))
      for (const [node, turn] of nodes) tips[turn] = node
      this.#lanes.set(name, { ...lane, nodes, tips, partial: true })
    }
  }

  /** Puts an entry into the turn of the entry it follows. `null` follows nothing, undefined the entry before it in the file. */
  place(
    lane: string,
    node: string | undefined,
    after: string | null | undefined,
    options = { mayBeGone: false },
  ): number {
    const to = this.#lane(lane)
    const turn = this.#turnAfter(to, after, options)
    this.#remember(to, node, turn)
    return turn
  }

  /** Begins a turn with this entry. */
  begin(lane: string, node: string | undefined, after: string | null | undefined): { turn: number; follows: number } {
    const to = this.#lane(lane)
    const follows = this.#turnAfter(to, after, { mayBeGone: false })
    const turn = to.follows.length
    to.follows.push(follows)
    this.#remember(to, node, turn)
    return { turn, follows }
  }

  /** The next entry that names nothing to follow comes after this turn: somebody went back to it. */
  goBackTo(lane: string, turn: number): void {
    this.#lane(lane).newest = turn
  }

  /** The turn that a turn follows. */
  before(lane: string, turn: number): number {
    return this.#lanes.get(lane)?.follows[turn] ?? 0
  }

  turnOf(lane: string, node: string): number | undefined {
    return this.#lanes.get(lane)?.nodes.get(node)
  }

  newestTurn(lane: string): number {
    return this.#lanes.get(lane)?.newest ?? 0
  }

  turns(lane: string): number {
    return (this.#lanes.get(lane)?.follows.length ?? 1) - 1
  }

  /**
   * Where the conversation would go on, and the turns that are not on the way there.
   * `pointer` is the entry the tool itself noted; its newest continuation is meant. Unknown or absent: the newest entry.
   */
  head(pointer: string | undefined): { turn: number; abandoned: number[] } {
    const lane = this.#lane(MAIN)
    const noted = pointer === undefined ? undefined : lane.nodes.get(pointer)
    const turn = noted === undefined ? lane.newest : newestAfter(lane.follows, noted)
    const live = new Set<number>()
    for (let at = turn; at > 0 && !live.has(at); at = lane.follows[at] ?? 0) live.add(at)
    const abandoned = []
    for (let at = 1; at < lane.follows.length; at++) if (!live.has(at)) abandoned.push(at)
    return { turn, abandoned }
  }

  save(): SavedTracker {
    return Object.fromEntries([...this.#lanes].map(([name, lane]) => [name, saveLane(lane)]))
  }

  #lane(name: string): Lane {
    let lane = this.#lanes.get(name)
    if (!lane) {
      lane = { follows: [0], nodes: new Map(), tips: [''], newest: 0, partial: false }
      this.#lanes.set(name, lane)
    }
    return lane
  }

  #turnAfter(lane: Lane, after: string | null | undefined, { mayBeGone }: { mayBeGone: boolean }): number {
    if (after === null) return 0
    if (after === undefined) return lane.newest
    const turn = lane.nodes.get(after)
    if (turn !== undefined) return turn
    if (mayBeGone) return lane.newest
    if (lane.partial) throw new LostPlace(after)
    this.counters.orphans += 1
    return lane.newest
  }

  #remember(lane: Lane, node: string | undefined, turn: number): void {
    lane.newest = turn
    if (node === undefined) return
    lane.nodes.set(node, turn)
    lane.tips[turn] = node
    if (lane.nodes.size > MOST_NODES) forgetOldest(lane)
  }
}

function forgetOldest(lane: Lane): void {
  const tips = new Set(lane.tips)
  for (const [node] of lane.nodes) {
    if (lane.nodes.size <= MOST_NODES / 2) break
    if (!tips.has(node)) lane.nodes.delete(node)
  }
}

/** The newest turn that comes, over any number of steps, after this one; turns are in order of appearance. */
function newestAfter(follows: readonly number[], turn: number): number {
  let newest = turn
  const descends = new Set([turn])
  for (let at = turn + 1; at < follows.length; at++) {
    if (!descends.has(follows[at] ?? 0)) continue
    descends.add(at)
    newest = at
  }
  return newest
}

/** The last entry of each turn, then the newest entries: in that order, so that the last entry of each turn can be told again. */
function saveLane(lane: Lane): SavedLane {
  const nodes = new Map<string, number>()
  for (const [turn, node] of lane.tips.entries())
    if (node && turn > lane.tips.length - SAVED_TIPS) nodes.set(node, turn)
  let passed = lane.nodes.size - SAVED_NODES
  for (const [node, turn] of lane.nodes) {
    passed -= 1
    if (passed >= 0) continue
    nodes.delete(node)
    nodes.set(node, turn)
  }
  return { follows: [...lane.follows], nodes: joinedNodes(nodes), newest: lane.newest }
}

function joinedNodes(nodes: ReadonlyMap<string, number>): SavedNodes[] {
  const saved: SavedNodes[] = []
  let last: SavedNodes | undefined
  for (const [node, turn] of nodes) {
    if (node === '' || node.includes(' ')) last = [node, turn]
    else if (last?.[0] === turn) {
      last[1] = `${last[1]} ${node}`
      continue
    } else last = [turn, node]
    saved.push(last)
  }
  return saved
}

function savedNodes([first, second]: SavedNodes): [node: string, turn: number][] {
  if (typeof first === 'string') return [[first, second as number]]
  return String(second)
    .split(' ')
    .map((node) => [node, first])
}
