import { dirname, isAbsolute, join } from 'node:path'
import type { SessionId } from '../../model/index.js'
import { isObject, type JsonObject } from '../json-value.js'
import { type Counters, copyCounters, noCounters, noteUnreadCounts } from '../log/counters.js'
import { readDocument } from '../log/document-log.js'
import type { Checkpoint, Fact, SessionNews } from '../log/fact.js'
import { identifyByHead } from '../log/identify.js'
import { fileLog, listDirectory, withoutDoubles } from '../log/log-files.js'
import { CAN, cannot, type Environment, type LogRef, type LogTool, type ReadOptions } from '../log/log-tool.js'
import { LostPlace } from '../log/turn-tracker.js'
import { isDamage, logsIn, type MessagePlace, OpencodeDatabase, unreadable } from './opencode-database.js'
import { exportRecords } from './opencode-records.js'
import { OpencodeTranslator } from './opencode-translator.js'

const NAME = 'opencode'
const FORMAT = 2
const DATABASE = /^opencode(?:-[A-Za-z0-9._-]+)?\.db$/

export const opencode: LogTool = {
  name: NAME,
  can: {
    append: CAN,
    branches: CAN,
    usage: CAN,
    durations: CAN,
    origin: cannot('a fork is stored as a new session, with new ids and nothing that names its origin'),
    sub_agents: CAN,
    cwd: CAN,
    git_branch: cannot('the branch is not stored'),
    aborted: CAN,
    failed: CAN,
    compacted: CAN,
  },
  roots,
  discover: (environment) =>
    withoutDoubles(databases(environment).flatMap(({ root, path }) => logsIn(NAME, root, path))),
  isLogAt: (place) => place.endsWith('.db'),
  logAt,
  logsIn: (path) => logsIn(NAME, dirname(path), path),
  identify,
  read,
  cut: async (log, at, target) => (await import('./opencode-cut.js')).cutOpencode(log, at, target),
  deletes: (session) => ['opencode', 'session', 'delete', session],
}

const dataDirectory = ({ home, env }: Environment): string =>
  join(env.XDG_DATA_HOME || join(home, '.local', 'share'), 'opencode')

function roots(environment: Environment): string[] {
  return [dataDirectory(environment), ...(environment.extraRoots?.[NAME] ?? [])]
}

/** `OPENCODE_DB` names the file, absolute or in the data directory; else every channel's database there is a candidate. */
function databases(environment: Environment): { root: string; path: string }[] {
  const { env, extraRoots } = environment
  const data = dataDirectory(environment)
  const named = env.OPENCODE_DB
  const path = named && (isAbsolute(named) ? named : join(data, named))
  const own = named === ':memory:' ? [] : path ? [{ root: dirname(path), path }] : databasesIn(data)
  return [...own, ...(extraRoots?.[NAME] ?? []).flatMap(databasesIn)]
}

const databasesIn = (root: string): { root: string; path: string }[] =>
  listDirectory(root)
    .filter((entry) => DATABASE.test(entry.name))
    .map((entry) => ({ root, path: entry.path }))

/** A database and the session in it, or a file that `opencode export` wrote. */
function logAt(path: string, session?: SessionId): LogRef | undefined {
  if (path.endsWith('.json')) return fileLog(NAME, dirname(path), path)
  return logsIn(NAME, dirname(path), path).find((log) => session === undefined || log.session === session)
}

function identify(log: LogRef): SessionNews {
  if (log.path.endsWith('.json')) return identifyByHead(opencode, log)
  const news: SessionNews = {}
  for (const fact of read(log)) {
    if (fact.kind !== 'session') break // the row comes first and says it all
    const { kind: _, ...fields } = fact
    Object.assign(news, fields)
  }
  return news
}

function* read(log: LogRef, options: ReadOptions = {}): Iterable<Fact> {
  if (log.path.endsWith('.json')) {
    yield* readDocument(log, options, (setup) => new OpencodeTranslator(setup), exportRecords)
    return
  }
  try {
    yield* readDatabase(log, options)
  } catch (error) {
    if (!log.session || !isDamage(error)) throw unreadable(error, log.path)
    const counters = { ...noCounters(), dropped_lines: 1 }
    yield { kind: 'checkpoint', resume: { v: 0, offset: 0, place: {} }, counters, head: { turn: 0, abandoned: [] } }
  }
}

function* readDatabase(log: LogRef, options: ReadOptions): Iterable<Fact> {
  const place = placeOf(options.from)
  using database = new OpencodeDatabase(log.path)
  if (!log.session) database.sessions() // whose listing failed before, and does again
  // Rows can be removed again (a session is cleaned up after a revert): then earlier facts no longer hold.
  const shrunk = place && log.session && database.messageCount(log.session) < place.messages
  if (options.from && (!place || shrunk)) {
    yield { kind: 'restart', reason: shrunk ? 'messages were removed' : 'the checkpoint is from another version' }
  }
  try {
    yield* readRows(log, database, options, shrunk ? undefined : place)
  } catch (error) {
    if (!(error instanceof LostPlace)) throw error
    yield { kind: 'restart', reason: error.message }
    yield* readRows(log, database, options, undefined)
  }
}

interface Place {
  /** Newest change that was read. Rows of that very millisecond are read again: there may be more of them. */
  since: number
  messages: number
  counters: Counters
  state: JsonObject
  /** Set within a reading: it began with changes since then, and went up to this message. */
  through?: { began: number; created: number; id: string } | undefined
}

/** About how many characters of messages lie between two checkpoints. */
const CHECKPOINT_EVERY = 4 * 1024 * 1024

function* readRows(
  log: LogRef,
  database: OpencodeDatabase,
  options: ReadOptions,
  place: Place | undefined,
): Iterable<Fact> {
  const counters = place ? copyCounters(place.counters) : noCounters()
  const told: Fact[] = []
  const tell = (fact: Fact): void => void told.push(fact)
  const translator = new OpencodeTranslator({ log, counters, tell, saved: place?.state, options })
  const session = log.session && database.session(log.session)
  let since = place?.since ?? 0
  let messages = 0
  const checkpoint = (through?: Place['through']): Checkpoint => {
    database.assertSame()
    const state = translator.save() as unknown as JsonObject
    const reached = { since, messages, counters: copyCounters(counters), state, ...(through ? { through } : {}) }
    const resume = { v: FORMAT, offset: messages, place: reached }
    return { kind: 'checkpoint', resume, counters: reached.counters, head: translator.head() }
  }
  if (!log.session) counters.dropped_lines += 1
  if (log.session && session) {
    translator.accept({ session })
    yield* told.splice(0)
    messages = database.messageCount(log.session)
    const began = place?.through?.began ?? since
    let size = 0
    for (const { record, ...message } of database.changedSince(log.session, (one) => isNews(one, place))) {
      const { id, created, updated } = message
      // Those that are read once more were counted when they were read first.
      const counted = place && updated <= place.since && !isBehind(message, place.through)
      if (record) translator.accept(record)
      if (!counted) noteUnreadCounts(counters)
      if (!counted && record) counters.records += 1
      if (!counted && !record) counters.bad_lines += 1
      yield* told.splice(0)
      since = Math.max(since, updated)
      size += message.size
      if (size < (options.checkpointBytes ?? CHECKPOINT_EVERY)) continue
      yield checkpoint({ began, created, id })
      size = 0
    }
  }
  translator.finish()
  yield* told.splice(0)
  yield checkpoint()
}

/** Whether a message was not read yet as it is. A reading that was interrupted has not seen those behind the place it reached. */
function isNews(message: MessagePlace, place: Place | undefined): boolean {
  const { since = 0, through } = place ?? {}
  return message.updated >= (isBehind(message, through) ? (through?.began ?? since) : since)
}

const isBehind = ({ created, id }: MessagePlace, through: Place['through']): boolean =>
  through !== undefined && (created > through.created || (created === through.created && id > through.id))

function placeOf(from: ReadOptions['from']): Place | undefined {
  if (!from || from.v !== FORMAT || !isObject(from.place) || !isObject(from.place.state)) return undefined
  return from.place as unknown as Place
}
