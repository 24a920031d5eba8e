import { type AgentAddress, type Instant, type SessionId, SkeinError } from '../model/index.js'
import type { FileBlame, LineOrigin, SnapshotBook } from '../snapshots/index.js'
import { type CodedTurn, codedTurns } from './coded-turns.js'
import type { SessionHistory } from './history-api.js'

/** Who wrote lines of a file. */
export interface LineWriter {
  /**
   * `turn`: an agent, in a turn. `edit`: a person, between turns. `commit`: a commit of the repository. `before`: it was there at the first
   * snapshot. `now`: somebody, since the last snapshot.
   */
  kind: LineOrigin['kind']
  session?: SessionId
  agent?: AgentAddress
  /** Its number in `skein turns`; absent when the log does not have it. */
  turn?: number
  /** The first line of its prompt, filtered. */
  prompt?: string
  at?: Instant
  /** Sessions that worked in the same directory at the time. */
  beside?: SessionId[]
  commit?: string
  author?: string
  summary?: string
}

export interface Blame {
  root: string
  path: string
  writers: LineWriter[]
  /** `writer` is a place in `writers`. */
  lines: { number: number; text: string; writer: number }[]
}

interface Sources {
  snapshots: Pick<SnapshotBook, 'blame' | 'list'>
  turns(session: string): Promise<SessionHistory>
}

/** Who wrote each line of a file, or one of them, by turns of sessions. */
export async function blame({ snapshots, turns }: Sources, file: string, only?: number): Promise<Blame> {
  const found = await snapshots.blame(file)
  const lines = only === undefined ? found.lines : found.lines.filter(({ number }) => number === only)
  if (only !== undefined && lines.length === 0)
    throw new SkeinError('bad-input', `${file} has no line ${only}`, `It has ${found.lines.length} lines`)
  const known = new Map<string, Promise<Known | undefined>>()
  const knownOf = (session: string): Promise<Known | undefined> => {
    const asked = known.get(session) ?? lookUp({ snapshots, turns }, session)
    known.set(session, asked)
    return asked
  }
  const writers: LineWriter[] = []
  const places = new Map<string, number>()
  const blamed: Blame['lines'] = []
  for (const { number, text, origin } of lines) {
    const key = keyOf(origin)
    const place = places.get(key) ?? writers.push(await writerOf(origin, knownOf)) - 1
    places.set(key, place)
    blamed.push({ number, text, writer: place })
  }
  return { root: found.root, path: found.path, writers, lines: blamed }
}

interface Known {
  history: SessionHistory
  coded: CodedTurn[]
}

/** What is known of a session; a purged one is still named by its snapshots. */
async function lookUp({ snapshots, turns }: Sources, session: string): Promise<Known | undefined> {
  try {
    const history = await turns(session)
    return { history, coded: codedTurns(history.turns, await snapshots.list(session)) }
  } catch (error) {
    if (error instanceof SkeinError) return undefined
    throw error
  }
}

function keyOf(origin: FileBlame['lines'][number]['origin']): string {
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

async function writerOf(
  origin: LineOrigin,
  knownOf: (session: string) => Promise<Known | undefined>,
): Promise<LineWriter> {
  switch (origin.kind) {
    case 'now':
      return { kind: 'now' }
    case 'commit': {
      const { kind, commit, author, at, summary } = origin
      return { kind, commit, author, at: at as Instant, summary }
    }
    case 'turn':
      return turnOf(origin, await knownOf(origin.writer.session))
    default:
      return { kind: origin.kind, at: origin.snapshot.as_of as Instant }
  }
}

function turnOf(
  { kind, writer, snapshot }: Extract<LineOrigin, { kind: 'turn' }>,
  known: Known | undefined,
): LineWriter {
  const { begun, session, beside } = writer
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
  }
}
