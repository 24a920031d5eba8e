import { type ArchiveEntry, ArchiveReader } from '../../archive/index.js'
import { explainDiskError } from '../../disk/index.js'
import { formatDuration, type SessionId, SkeinError } from '../../model/index.js'
import type { Config } from '../../settings/index.js'
import type { Events, ProfileStore, StoredSessions } from '../../store/index.js'
import type { LogStores } from '../log-stores.js'
import { logOfEntry } from '../pending-logs.js'
import type {
  ArchiveBook,
  ArchiveCheck,
  ArchivedLog,
  ArchivePrune,
  ArchiveRetention,
  ArchiveStats,
  RestoredSession,
} from './archive-api.js'
import { verifyArchive } from './archive-check.js'

/** The archive as users see it. */
export class StoredArchive implements ArchiveBook {
  readonly #reader: ArchiveReader

  constructor(
    private readonly store: ProfileStore,
    private readonly sessions: StoredSessions,
    private readonly config: Config,
    private readonly stores: LogStores,
    private readonly events: Pick<Events, 'append'>,
  ) {
    this.#reader = new ArchiveReader(store.paths.words)
  }

  async list({ session, gone }: { session?: string; gone?: boolean } = {}): Promise<ArchivedLog[]> {
    const wanted = session === undefined ? undefined : (await this.sessions.find(session)).id
    return this.#entries()
      .filter((entry) => wanted === undefined || entry.standing.session === wanted)
      .map(listed)
      .filter((log) => gone === undefined || (log.log === 'gone') === gone)
  }

  async stats(): Promise<ArchiveStats> {
    const logs = this.#entries().map(listed)
    const by_tool: ArchiveStats['by_tool'] = {}
    for (const { tool, stored_bytes } of logs) {
      const known = by_tool[tool] ?? { logs: 0, stored_bytes: 0 }
      by_tool[tool] = { logs: known.logs + 1, stored_bytes: known.stored_bytes + stored_bytes }
    }
    const sum = (of: (log: ArchivedLog) => number): number => logs.reduce((total, log) => total + of(log), 0)
    const [bytes, stored_bytes] = [sum((log) => log.bytes), sum((log) => log.stored_bytes)]
    const [newest, oldest] = [logs[0], logs.at(-1)]
    return {
      logs: logs.length,
      sessions: new Set(logs.map((log) => log.session)).size,
      live: sum((log) => Number(log.is_live)),
      gone: sum((log) => Number(log.log === 'gone')),
      older_versions: sum((log) => log.older_versions.length),
      facts: sum((log) => log.facts),
      bytes,
      stored_bytes,
      ratio: bytes === 0 ? 0 : Math.round((stored_bytes / bytes) * 1000) / 1000,
      ...(oldest && newest ? { oldest: oldest.modified_at, newest: newest.modified_at } : {}),
      by_tool,
      retention: await this.#retention(),
    }
  }

  async verify(): Promise<ArchiveCheck> {
    const checked = await this.stores.askHistory((history) => verifyArchive(this.#reader, history), undefined)
    return checked ?? verifyArchive(this.#reader, undefined)
  }

  async restore(reference: string, { version }: { version?: number } = {}): Promise<RestoredSession> {
    const session = await this.sessions.find(reference)
    const entries = this.#entriesOf(session.id)
    if (entries.length === 0) {
      const next = 'See: skein archive list'
      throw new SkeinError('not-archived', `Nothing of session ${session.id} is in the archive`, next)
    }
    const problems: string[] = []
    const logs = entries.flatMap((entry) => {
      const isOwn = entry.standing.agent === undefined
      if (version !== undefined && !isOwn) return []
      const content = this.#reader.read(entry, version)
      if (!content) {
        if (version !== undefined) throw noVersion(entry, version)
        problems.push(`${entry.tool}/${entry.name} cannot be read`)
        return []
      }
      problems.push(...content.problems)
      const { tool, path } = content.origin
      const { agent, modified_at } = content.standing
      return [{ tool, path, ...(agent ? { agent } : {}), modified_at, facts: content.facts }]
    })
    return { session, logs, problems }
  }

  /**
   * The oldest first. A log that its tool still keeps stays: it would be archived again. So does what an agent goes on with when it is
   * started again.
   */
  async prune({ dryRun = false }: { dryRun?: boolean } = {}): Promise<ArchivePrune> {
    const { maxAgeMs, maxBytes } = await this.config.archiveRetention()
    const entries = this.#entries().toReversed()
    const before = maxAgeMs === undefined ? Number.NEGATIVE_INFINITY : this.store.context.clock.now() - maxAgeMs
    let left = entries.reduce((sum, entry) => sum + entry.stored_bytes, 0)
    const isConfigured = maxAgeMs !== undefined || maxBytes !== undefined
    const needed = isConfigured ? await this.#needed() : new Set()
    const chosen: { entry: ArchiveEntry; because: 'age' | 'size' }[] = []
    for (const entry of entries) {
      if (entry.standing.session && needed.has(entry.standing.session)) continue
      const isOld = Date.parse(entry.standing.modified_at) < before
      const isTooMuch = left > (maxBytes ?? Number.POSITIVE_INFINITY)
      if ((!isOld && !isTooMuch) || logOfEntry(entry)) continue
      chosen.push({ entry, because: isOld ? 'age' : 'size' })
      left -= entry.stored_bytes
    }
    if (!dryRun && chosen.length > 0) await this.#remove(chosen.map(({ entry }) => entry))
    const logs = chosen.map(({ entry, because }) => {
      const { tool, session, path, modified_at, stored_bytes } = listed(entry)
      return { tool, ...(session ? { session } : {}), path, modified_at, stored_bytes, because }
    })
    const bytes_freed = logs.reduce((sum, log) => sum + log.stored_bytes, 0)
    if (!dryRun && logs.length > 0) {
      const count = (because: string): number => logs.filter((log) => log.because === because).length
      const payload = { logs: logs.length, bytes_freed, by_age: count('age'), by_size: count('size') }
      await this.events.append({ type: 'archive_pruned', payload, visibility: 'audit' })
    }
    return { dry_run: dryRun, is_configured: isConfigured, logs, bytes_freed }
  }

  /** The session that each agent is in or was in last. */
  async #needed(): Promise<ReadonlySet<string>> {
    const { agents } = await this.store.ask((index) => index.roster())
    const found = await Promise.all(
      [...agents.values()].map(({ address }) => this.sessions.find(address).catch(noSession)),
    )
    return new Set(found.flatMap((session) => session?.id ?? []))
  }

  /** The text that can be searched goes with it: both come from the log that is gone. */
  async #remove(entries: readonly ArchiveEntry[]): Promise<void> {
    await this.stores.withAll(async ({ text, archive }) => {
      for (const entry of entries) {
        await archive.remove(entry)
        text.forget(entry.origin)
      }
    })
  }

  #entriesOf(session: SessionId): ArchiveEntry[] {
    const ours = this.#entries().filter((entry) => entry.standing.session === session)
    return ours.sort((a, b) => Number(a.standing.agent !== undefined) - Number(b.standing.agent !== undefined))
  }

  #entries(): ArchiveEntry[] {
    try {
      const { entries, unreadable } = this.#reader.entries()
      for (const { tool, name } of unreadable)
        this.store.context.warn(`${tool}/${name} in the archive cannot be read; see skein archive verify`)
      return entries.sort((a, b) => (a.standing.modified_at < b.standing.modified_at ? 1 : -1))
    } catch (error) {
      throw explainDiskError(error, this.store.paths.words)
    }
  }

  async #retention(): Promise<ArchiveRetention> {
    const { maxAgeMs, maxBytes } = await this.config.archiveRetention()
    return {
      ...(maxAgeMs === undefined ? {} : { max_age: formatDuration(maxAgeMs) }),
      ...(maxBytes === undefined ? {} : { max_bytes: maxBytes }),
      config_file: this.config.file,
    }
  }
}

/** An agent that was never started has none. */
function noSession(error: unknown): undefined {
  if (!(error instanceof SkeinError)) throw error
  return undefined
}

function listed(entry: ArchiveEntry): ArchivedLog {
  const { origin, standing, is_live, stored_bytes, versions } = entry
  const log = logOfEntry(entry)
  return {
    tool: origin.tool,
    ...(standing.session ? { session: standing.session } : {}),
    ...(standing.agent ? { agent: standing.agent } : {}),
    path: origin.path,
    log: !log ? 'gone' : log.stamp === standing.stamp ? 'there' : 'grown',
    is_live,
    facts: standing.facts,
    bytes: standing.bytes,
    stored_bytes,
    modified_at: standing.modified_at,
    older_versions: versions.map(({ number, superseded_at }) => ({
      version: number,
      ...(superseded_at ? { superseded_at } : {}),
    })),
  }
}

function noVersion(entry: ArchiveEntry, version: number): SkeinError {
  const known = entry.versions.map((one) => one.number).join(', ')
  const next = known ? `Use one of ${known}` : 'It has only the version that is shown without --version'
  return new SkeinError('bad-input', `There is no older version ${version} of it`, next)
}
