import { type AgentAddress, type Instant, type SessionId, SkeinError } from '../model/index.js'
import type { LineOrigin, SnapshotBook } from '../snapshots/index.js'
import type { LoggedTurn } from '../tools/index.js'
import { type CodedTurn, codedTurns } from './coded-turns.js'
import type { SessionHistory } from './history-api.js'

/** Who wrote lines of a file. */
export interface LineWriter {
  /**
   * `turn`: an agent, in a turn. `edit`: a person, between turns. `commit`: a commit of the repository. `before`: it was there at the first
   * snapshot. `now`: somebody, since the last snapshot. `elsewhere`: of a commit, what no snapshot has.
   */
  kind: LineOrigin['kind'] | 'elsewhere'
  session?: SessionId
  agent?: AgentAddress
  /** Its number in `skein turns`; absent when the log does not have it. */
  turn?: number
  /** The first line of its prompt, filtered. */
  prompt?: string
  at?: Instant
  /** Sessions that worked in the same directory at the time. */
  beside?: SessionId[]
  /** There is no snapshot of the turn's beginning: another turn of the session, or a person, may have written it since then. */
  since?: Instant
  commit?: string
  author?: string
  summary?: string
}

export interface WriterSources {
  snapshots: Pick<SnapshotBook, 'list'>
  turns(session: string): Promise<SessionHistory>
}

/** What is known of a session. */
export interface KnownSession {
  history: SessionHistory
  coded: CodedTurn[]
}

/** The writers of lines, each once. */
export class LineWriters {
  readonly list: LineWriter[] = []
  readonly #places = new Map<string, number>()
  readonly #known = new Map<string, Promise<KnownSession | undefined>>()

  constructor(private readonly sources: WriterSources) {}

  /** Its place in the list. */
  async placeOf(origin: LineOrigin): Promise<number> {
    const key = keyOf(origin)
    const place = this.#places.get(key) ?? this.list.push(await this.#writerOf(origin)) - 1
    this.#places.set(key, place)
    return place
  }

  /** Undefined for a session that was purged; its snapshots may still name it. */
  session(id: string): Promise<KnownSession | undefined> {
    const asked = this.#known.get(id) ?? lookUp(this.sources, id)
    this.#known.set(id, asked)
    return asked
  }

  /** The turn as its log tells it. */
  async turnOf({ session, turn }: LineWriter): Promise<LoggedTurn | undefined> {
    const known = session === undefined ? undefined : await this.session(session)
    return known?.history.turns.find(({ number }) => number === turn)
  }

  async #writerOf(origin: LineOrigin): Promise<LineWriter> {
    switch (origin.kind) {
      case 'now':
        return { kind: 'now' }
      case 'commit': {
        const { kind, commit, author, at, summary } = origin
        return { kind, commit, author, at: at as Instant, summary }
      }
      case 'turn':
        return turnWriter(origin, await this.session(origin.writer.session))
      default:
        return { kind: origin.kind, at: origin.snapshot.as_of as Instant }
    }
  }
}

async function lookUp({ snapshots, turns }: WriterSources, session: string): Promise<KnownSession | undefined> {
  try {
    const history = await turns(session)
    return { history, coded: codedTurns(history.turns, await snapshots.list(session)) }
  } catch (error) {
    if (error instanceof SkeinError) return undefined
    throw error
  }
}

function keyOf(origin: LineOrigin): string {
  switch (origin.kind) {
    case 'turn':
      return `turn ${origin.writer.session} ${origin.writer.begun.seq}`
    case 'commit':
      return `commit ${origin.commit}`
    case 'now':
      return 'now'
    default:
      return `${origin.kind} ${origin.snapshot.session} ${origin.snapshot.seq}`
  }
}

function turnWriter(
  { kind, writer, snapshot }: Extract<LineOrigin, { kind: 'turn' }>,
  known: KnownSession | undefined,
): LineWriter {
  const { begun, session, beside, since } = writer
  const number = known?.coded.find(
    ({ before, after }) =>
      before?.seq === begun.seq || (after?.session === snapshot.session && after.seq === snapshot.seq),
  )?.turn
  const prompt = known?.history.turns.find((turn) => turn.number === number)?.prompt.split('\n', 1)[0]
  const agent = known?.history.session.agent
  return {
    kind,
    session: session as SessionId,
    ...(agent === undefined ? {} : { agent }),
    ...(number === undefined ? {} : { turn: number }),
    ...(prompt === undefined ? {} : { prompt }),
    at: begun.as_of as Instant,
    ...(beside.length === 0 ? {} : { beside: beside as SessionId[] }),
    ...(since === undefined ? {} : { since: since as Instant }),
  }
}
