import { ArchiveReader, FactFilter, FactForgetter, type ReadMark } from '../archive/index.js'
import { wasCut } from '../ingest/index.js'
import { parseSessionId, type SessionId, SkeinError } from '../model/index.js'
import type { Policy } from '../privacy/index.js'
import type { PurgeList } from '../store/index.js'
import {
  type Fact,
  foldSession,
  LOG_TOOLS,
  type LoggedSession,
  type LogRef,
  type LogTool,
  type ReadOptions,
} from '../tools/index.js'
import type { FactsFold } from './history-api.js'
import type { LogStores } from './log-stores.js'

/** A longer log is read from both ends only: whoever asks waits for it. */
const LONG_LOG = 64 * 1024 * 1024
const HEAD_BYTES = 4 * 1024 * 1024
const TAIL_BYTES = 32 * 1024 * 1024

/** How logs are read. */
type Read = Pick<ReadOptions, 'resultChars'>

/** Where the history of a session comes from. */
export type ToldFrom = 'log' | 'archive' | 'counts'

interface KnownLog {
  path: string
  part: string
  tool: string
  agent: string | null
}

/** Puts a session together: from its logs, from the archive where a log is gone, or from what was counted when it was read. */
export class ToldSessions {
  readonly #archive: ArchiveReader

  constructor(
    private readonly stores: LogStores,
    archiveDirectory: string,
    private readonly purges: PurgeList,
  ) {
    this.#archive = new ArchiveReader(archiveDirectory)
  }

  /** Filtered by the policy as all that is stored; without one, as the log has it. */
  async tell(
    session: SessionId,
    policy?: Policy,
    read: Read = {},
  ): Promise<LoggedSession & { told_from: ToldFrom; older_versions: number }> {
    try {
      return await this.#tell(session, policy, read)
    } catch (error) {
      // A log that is there and cannot be read says no more than one that is gone.
      if (error instanceof SkeinError || (error as NodeJS.ErrnoException).code === undefined) throw error
      return this.#tell(session, policy, undefined)
    }
  }

  /** Without `read` the logs are left alone. */
  async #tell(
    session: SessionId,
    policy: Policy | undefined,
    read: Read | undefined,
  ): ReturnType<ToldSessions['tell']> {
    const known = await this.#logsOf(session)
    const logs = known.map((log) => ({ log, ...this.#factsOf(log, policy, read) }))
    const own = logs.find(({ log }) => log.agent === null)
    if (own?.facts) {
      const folded = foldSession(logs.flatMap(({ facts }) => (facts ? [facts] : [])))
      const older_versions = this.#archive.entry(this.#archive.keyOf(own.log))?.versions.length ?? 0
      return { ...folded, told_from: own.from ?? 'log', older_versions }
    }
    return { ...(await this.#counted(session)), told_from: 'counts', older_versions: 0 }
  }

  /** The session's own log as it is now, else what is archived of it. `hint` finds a log that was never ingested. */
  async facts<T>(
    session: SessionId,
    policy: Policy,
    fold: FactsFold<T>,
    hint: LogRef | (() => Promise<readonly LogRef[]>),
    after?: Promise<unknown>,
  ): Promise<T | undefined> {
    const filter = new FactFilter({ policy, isOfSubAgent: false, toolOf: () => undefined })
    const kept = (fact: Fact): Fact | undefined => filter.kept(fact)
    const known = (await this.#logsOf(session)).find(({ agent }) => agent === null)
    const stored = 'tool' in hint ? hint : known && logOf(known)
    const log = stored ?? (known || !(hint instanceof Function) ? undefined : (await hint()).find(isOwn))
    const tool = log && LOG_TOOLS.find(({ name }) => name === log.tool)
    const key = known && this.#archive.keyOf(known)
    await after
    if (tool && log && !(key && isLessThan(this.#archive.standing(key), log, tool))) {
      try {
        const isPart = log.size > LONG_LOG && tool.can.append.yes
        const facts = isPart ? endsOf(tool, log) : tool.read(log)
        return fold(this.#remembered(facts), { from: 'log', isPart, kept })
      } catch (error) {
        // A log that is there and cannot be read says no more than one that is gone.
        if (error instanceof SkeinError || (error as NodeJS.ErrnoException).code === undefined) throw error
      }
    }
    using archived = key && this.#archive.open(key)
    return archived && (await fold(archived.facts(), { from: 'archive', isPart: false, kept }))
  }

  /** The tool's log still says what was purged. */
  #remembered(facts: Iterable<Fact>): Iterable<Fact> {
    const forgetter = this.purges.purgeFilter()?.forgetter
    if (!forgetter || forgetter.isEmpty) return facts
    const forget = new FactForgetter(forgetter)
    return (function* () {
      for (const fact of facts) yield forget.storable(fact)
    })()
  }

  /** The session's own log first, those of its sub-agents after it. */
  async #logsOf(session: SessionId): Promise<KnownLog[]> {
    const known = await this.stores.askHistory((history) => history.logsOf(session), [])
    const owns = known.filter((row) => row.agent === null)
    // A log that was moved is known by both places; the newest is first, but as new as its copy.
    const own = owns.find((row) => logOf(row) !== undefined) ?? owns[0]
    return own ? [own, ...known.filter((row) => row.agent !== null)] : this.#archivedOf(session)
  }

  /** For when the history was lost and not filled again yet: every file is asked whose it is. */
  #archivedOf(session: SessionId): KnownLog[] {
    const { entries } = this.#archive.entries()
    const ours = entries.filter((entry) => entry.standing.session === session)
    return ours
      .map(({ origin, standing }) => ({ ...origin, agent: standing.agent ?? null }))
      .sort((a, b) => Number(a.agent !== null) - Number(b.agent !== null))
  }

  #factsOf(
    row: KnownLog,
    policy: Policy | undefined,
    read: Read | undefined,
  ): { facts?: Iterable<Fact>; from?: ToldFrom } {
    const tool = LOG_TOOLS.find((one) => one.name === row.tool)
    const log = read && logOf(row)
    const key = this.#archive.keyOf(row)
    if (tool && log && !isLessThan(this.#archive.standing(key), log, tool))
      return { facts: filtered(this.#remembered(tool.read(log, read)), policy, row.agent !== null), from: 'log' }
    const content = this.#archive.read(key)
    if (!content) return row.agent === null ? {} : { facts: [] }
    const { counters, head } = content.standing
    const end: Fact[] =
      counters && head ? [{ kind: 'checkpoint', resume: { v: 0, offset: 0, place: null }, counters, head }] : []
    return { facts: [...content.facts, ...end], from: 'archive' }
  }

  /** What was counted when the log was still there, without words. */
  async #counted(session: SessionId): Promise<LoggedSession> {
    const { turns, calls } = await this.stores.askHistory(
      (history) => ({ turns: history.turnRows(session), calls: history.callRows(session) }),
      { turns: [], calls: [] },
    )
    const told = turns.filter((row) => row.agent === '' && row.turn > 0)
    return {
      news: {},
      sub_agents: [],
      counters: [],
      turns: told.map((row) => ({
        number: row.turn,
        prompt: '',
        by: row.asked_by as 'person',
        outcome: row.outcome as 'open',
        compacted: row.compacted,
        follows: row.follows,
        live: true,
        copied: row.copied === 1,
        usage: [],
        ...(row.started_at ? { started_at: row.started_at } : {}),
        ...(row.ended_at ? { ended_at: row.ended_at } : {}),
        ...(row.duration_ms === null ? {} : { duration_ms: row.duration_ms }),
        tool_calls: calls
          .filter((call) => call.agent === '' && call.turn === row.turn)
          .map((call) => ({
            id: call.call,
            name: call.name,
            arguments: {},
            ...(call.success === null ? {} : { success: call.success === 1 }),
            ...(call.started_at ? { started_at: call.started_at } : {}),
            ...(call.duration_ms === null ? {} : { duration_ms: call.duration_ms }),
          })),
      })),
    }
  }
}

const isOwn = ({ agent }: LogRef): boolean => agent === undefined

/** Turns of the end are numbered on from here, so that they are none of the beginning. */
const TAIL_TURNS = 1_000_000

function* endsOf(tool: LogTool, log: LogRef): Iterable<Fact> {
  for (const fact of tool.read(log, { limitBytes: HEAD_BYTES })) if (fact.kind !== 'checkpoint') yield fact
  for (const fact of tool.read(log, { tailBytes: TAIL_BYTES })) {
    if (fact.kind === 'checkpoint') {
      const { turn, abandoned } = fact.head
      const head = { turn: turn + TAIL_TURNS, abandoned: abandoned.map((one) => one + TAIL_TURNS) }
      yield { ...fact, head }
    } else if (fact.kind !== 'restart') yield 'turn' in fact ? { ...fact, turn: fact.turn + TAIL_TURNS } : fact
  }
}

/** What may be kept of a log is what is shown of it. */
function filtered(facts: Iterable<Fact>, policy: Policy | undefined, isOfSubAgent: boolean): Iterable<Fact> {
  if (!policy) return facts
  const filter = new FactFilter({ policy, isOfSubAgent, toolOf: () => undefined })
  return (function* () {
    for (const fact of facts) {
      const kept = fact.kind === 'restart' || fact.kind === 'checkpoint' ? fact : filter.kept(fact)
      if (kept) yield kept
    }
  })()
}

/** Whether the archive has more: the log was cut, or it is a fork and the log of its origin is gone. */
export function isLessThan(standing: ReadMark | undefined, log: LogRef, tool: LogTool): boolean {
  if (standing?.stamp !== log.stamp) return false
  return wasCut(log, standing) || (standing.counters?.missing_origins === 0 && tool.lacksHistory?.(log) === true)
}

/** The log itself, if its tool still has it there. */
function logOf({ path, part, tool }: KnownLog): LogRef | undefined {
  return LOG_TOOLS.find((one) => one.name === tool)?.logAt(path, part === '' ? undefined : parseSessionId(part))
}
