import { type Instant, plainLine, type SessionId, SkeinError } from '../../model/index.js'
import type { Snapshot, SnapshotBook } from '../../snapshots/index.js'
import { type CodedTurn, codedTurns } from '../coded-turns.js'
import type { SessionHistory } from '../history-api.js'
import { commandEnvironment } from './command-environment.js'
import { answered, nextPlace, type Search, type Verdict } from './search.js'
import { runShell, type ShellEnd } from './shell-run.js'

export interface BisectRequest {
  session: string
  /** Given to `sh -c`. */
  run: string
  /** The same, once, before the first run. */
  setup?: string
  /** Turns after which the command is known to pass and to fail; 0 is before the first turn. */
  good?: number
  bad?: number
  /** Incomplete snapshots are used, too. */
  partial: boolean
  /** Each run, and the setup, may take so long. */
  limitMs: number
  env: Readonly<Record<string, string | undefined>>
  signal: AbortSignal
}

/** One run of the command. */
export interface BisectRun extends ShellEnd {
  turn: number
  edge: 'before' | 'after'
  as_of: Instant
  verdict: Verdict
}

export interface Bisection {
  session: SessionId
  /**
   * `found`: `turn` is the first after which the command fails. `among`: it is one of `turns`, and the others could not say. `never`: it does not fail
   * after the last turn. `before`: it failed before the first turn.
   */
  outcome: 'found' | 'among' | 'never' | 'before'
  turn?: number
  turns?: number[]
  /** The first line of its prompt, filtered. */
  prompt?: string
  /** Files were changed between the turn before and this one, too. */
  is_edited_before?: boolean
  runs: BisectRun[]
  skipped: { turn: number; reason: 'no-snapshot' | 'partial' | 'elsewhere' | 'exit-125' }[]
}

interface Sources {
  snapshots: Pick<SnapshotBook, 'list' | 'scratch'>
  turns(session: string): Promise<SessionHistory>
  /** Told before each run. */
  onRun?: (run: { number: number; most: number; turn: number }) => void
}

/** A command that ends with this cannot say, as in `git bisect run`. */
const SKIP = 125

/** Finds the first turn after which a command fails, in a worktree of its own. */
export async function bisect(sources: Sources, request: BisectRequest): Promise<Bisection> {
  const history = await sources.turns(request.session)
  const { session } = history
  const coded = codedTurns(history.turns, await sources.snapshots.list(session.id))
  const places = placesOf(coded, session.id, request.partial)
  const search = firstSearch(places, request, session.id)
  const first = places.find(({ snapshot }) => snapshot)?.snapshot
  if (!first) throw noneOf(session.id)
  using worktree = await sources.snapshots.scratch(first)
  const most = Math.floor(Math.log2(Math.max(1, search.bad - search.good))) + 1
  const attempt = new Attempt(request, worktree, session.id, (number, turn) => sources.onRun?.({ number, most, turn }))
  const found = await attempt.search(search, places)
  const end = await conclude(found, places, attempt, request.good === undefined)
  const prompt = history.turns.find(({ number }) => number === end.turn)?.prompt
  return {
    session: session.id,
    ...end,
    ...(prompt === undefined ? {} : { prompt: plainLine(prompt.trim().split('\n', 1)[0] ?? '', 200) }),
    runs: attempt.runs,
    skipped: skippedIn(found, places),
  }
}

/** The code after a turn, or why it cannot be shown. */
interface Place {
  turn: number
  before?: Snapshot
  snapshot?: Snapshot
  problem?: 'no-snapshot' | 'partial' | 'elsewhere'
}

/** In the order of time. Only one worktree can be shown: that of the last turn. */
function placesOf(coded: readonly CodedTurn[], session: string, isPartialFine: boolean): Place[] {
  const isUsable = (one: Snapshot): boolean => isPartialFine || isWhole(one)
  const last = coded.findLast(({ after }) => after)?.after
  if (!last) throw noneOf(session)
  return coded.map(({ turn, before, after }): Place => {
    const start = before && isUsable(before) && isSame(before, last) ? { before } : {}
    if (!after) return { turn, ...start, problem: 'no-snapshot' }
    if (!isSame(after, last)) return { turn, ...start, problem: 'elsewhere' }
    return isUsable(after) ? { turn, ...start, snapshot: after } : { turn, ...start, problem: 'partial' }
  })
}

const isSame = (one: Snapshot, other: Snapshot): boolean => one.store === other.store && one.root === other.root
const isWhole = ({ mode, exact }: Snapshot): boolean => mode === 'whole' && exact

function firstSearch(places: readonly Place[], { good, bad }: BisectRequest, session: string): Search {
  const placeOf = (turn: number, option: string): number => {
    const at = places.findIndex((place) => place.turn === turn)
    if (at >= 0) return at
    const id = session.slice(0, 8)
    throw new SkeinError('bad-input', `Session ${id} has no turn ${turn} (${option})`, `Run skein turns ${id}`)
  }
  const from = good === undefined || good === 0 ? -1 : placeOf(good, '--good')
  const to = bad === undefined ? places.length : placeOf(bad, '--bad')
  if (from >= to)
    throw new SkeinError(
      'bad-input',
      `Turn ${good} is not before turn ${bad}`,
      'Give --good an earlier turn than --bad',
    )
  const skipped = places.flatMap(({ problem }, at) => (problem === undefined ? [] : [at]))
  return { good: from, bad: to, skipped: new Set(skipped) }
}

type Shown = Awaited<ReturnType<SnapshotBook['scratch']>>

/** The runs of a search, one after another in one worktree. */
class Attempt {
  readonly runs: BisectRun[] = []
  #isReady = false

  constructor(
    private readonly request: BisectRequest,
    private readonly worktree: Shown,
    private readonly session: string,
    private readonly onRun: (number: number, turn: number) => void,
  ) {}

  async search(begun: Search, places: readonly Place[]): Promise<Search> {
    let search = begun
    for (let at = nextPlace(search); at !== undefined; at = nextPlace(search)) {
      const { turn, snapshot } = places[at] as Place
      if (!snapshot) throw new Error('a turn without its code was asked')
      search = answered(search, at, await this.run(snapshot, turn, 'after'))
    }
    return search
  }

  async run(snapshot: Snapshot, turn: number, edge: BisectRun['edge']): Promise<Verdict> {
    await this.#ready(snapshot)
    this.onRun(this.runs.length + 1, turn)
    await this.worktree.show(snapshot)
    const end = await this.#shell(this.request.run)
    const verdict = end.exit_code === 0 ? 'passed' : end.exit_code === SKIP ? 'skipped' : 'failed'
    this.runs.push({ turn, edge, as_of: snapshot.as_of as Instant, verdict, ...end })
    return verdict
  }

  /** What the setup made stays for all runs. */
  async #ready(snapshot: Snapshot): Promise<void> {
    const { setup } = this.request
    if (this.#isReady || setup === undefined) return
    await this.worktree.show(snapshot)
    const { exit_code, is_late, output } = await this.#shell(setup)
    if (exit_code !== 0) {
      const how = is_late
        ? 'did not end in time'
        : exit_code === undefined
          ? 'was ended by a signal'
          : `ended with code ${exit_code}`
      const details = output.trimEnd().split('\n').slice(-5)
      throw new SkeinError('setup-failed', `The setup command ${how}`, 'Correct --setup, then try again', { details })
    }
    await this.worktree.keepExtras(snapshot)
    this.#isReady = true
  }

  async #shell(text: string): Promise<ShellEnd> {
    const { limitMs, signal } = this.request
    const cwd = this.worktree.path
    const end = await runShell(text, { cwd, env: commandEnvironment(this.request.env, cwd), limitMs, signal })
    if (!signal.aborted) return end
    const next = `Nothing is left of it. Begin again: skein bisect ${this.session.slice(0, 8)} --run <command>`
    throw new SkeinError('interrupted', `The search was interrupted after ${this.runs.length} runs`, next)
  }
}

/** What the end of a search means. That the first turn broke it is true only if the command passed before it. */
async function conclude(
  { good, bad, skipped }: Search,
  places: readonly Place[],
  attempt: Attempt,
  isStartUnknown: boolean,
): Promise<Pick<Bisection, 'outcome' | 'turn' | 'turns' | 'is_edited_before'>> {
  const open = places.map((_, at) => at).filter((at) => at > good && at < bad && skipped.has(at))
  const turnAt = (at: number): number => (places[at] as Place).turn
  // Nothing that could say so failed. Turns at the end that could not say leave it open.
  if (bad === places.length) {
    return open.length === 0 ? { outcome: 'never' } : { outcome: 'never', turns: open.map(turnAt) }
  }
  const before = places[0]?.before
  if (good === -1 && isStartUnknown && before) {
    const verdict = await attempt.run(before, turnAt(0), 'before')
    if (verdict === 'failed') return { outcome: 'before' }
  }
  if (open.length > 0) return { outcome: 'among', turns: [...open, bad].map(turnAt) }
  const [last, own] = [places[bad - 1]?.snapshot, places[bad]?.before]
  const isEdited = last !== undefined && own !== undefined && last.worktree_tree !== own.worktree_tree
  return { outcome: 'found', turn: turnAt(bad), is_edited_before: isEdited }
}

function skippedIn({ skipped }: Search, places: readonly Place[]): Bisection['skipped'] {
  return places.flatMap(({ turn, problem }, at) =>
    skipped.has(at) ? [{ turn, reason: problem ?? ('exit-125' as const) }] : [],
  )
}

function noneOf(session: string): SkeinError {
  const id = session.slice(0, 8)
  const what = `No turn of session ${id} has a snapshot of the code after it`
  return new SkeinError('snapshot-not-found', what, `Run skein turns ${id} to see which turns have their code`)
}
