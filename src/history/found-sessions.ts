import type { FoundSession, HistoryStore } from '../ingest/index.js'
import type { ProfileStore, PurgeList, StoredSessions } from '../store/index.js'
import { type Environment, LOG_TOOLS, type Succession } from '../tools/index.js'
import { recordFound } from './discovered-session.js'
import { withOrigin } from './fork-origin.js'
import type { LoggedCommits } from './logged-commits.js'
import { OpenSessions } from './open-sessions.js'

/** So many sessions without an end are looked at; more are never open at once. */
const MOST_ACTIVE = 10_000
/** Sessions recorded in one write. */
const ANNOUNCE_BATCH = 2_000

interface Parts {
  readonly store: ProfileStore
  readonly sessions: StoredSessions
  readonly purges: PurgeList
  readonly commits: LoggedCommits
}

/** Records the sessions found in logs, and the ends that no log records. One for each look at the logs. */
export class FoundSessions {
  readonly #opened: OpenSessions

  constructor(
    private readonly parts: Parts,
    private readonly history: HistoryStore,
    private readonly environment: Environment,
  ) {
    this.#opened = new OpenSessions(environment, parts.store.context.clock.now())
  }

  /** Records the sessions that were found since; returns how many are new. What a killed process did not get to is recorded by the next one. */
  async announce(): Promise<number> {
    const { history } = this
    let found = 0
    let successions: Succession[] | undefined
    for (;;) {
      const sessions = history.unannounced(ANNOUNCE_BATCH)
      if (sessions.length === 0) return found
      successions ??= LOG_TOOLS.flatMap((tool) => tool.successions?.(this.environment) ?? [])
      const copied = history.copied(sessions)
      // What they were copied from, or what was copied from them, may have been recorded before.
      const companions = history.companions(sessions.filter(({ id }) => copied.has(id)))
      for (const { id } of companions) copied.add(id)
      const all = [...sessions, ...companions].map((session) =>
        copied.has(session.id) ? { ...session, news: withOrigin(history, session) } : session,
      )
      const open = this.#opened.among(all, this.#opened.areGrowing(all) ? [] : await this.#active())
      found += await this.#record(all, successions, open)
      history.markAnnounced(sessions.map((session) => session.log))
    }
  }

  /** Records what was learned of sessions whose logs are gone. */
  async complete(found: readonly FoundSession[]): Promise<void> {
    if (found.length > 0) await this.#record(found, [], this.#opened.among(found))
  }

  /** Ends the sessions that were open when their logs were read last and are no longer. Their logs will never say so. */
  async endWhatIsOver(): Promise<void> {
    const active = await this.#active()
    const open = this.#opened.among(active)
    const over = active.filter(({ id }) => !open.has(id))
    if (over.length > 0) await this.#record(over, [], open)
  }

  async #record(
    found: readonly FoundSession[],
    successions: readonly Succession[],
    open: ReturnType<OpenSessions['among']>,
  ): Promise<number> {
    const { store, purges } = this.parts
    const nowMs = store.context.clock.now()
    const commits = new Map<string, string[]>()
    for (const one of found)
      if (one.news.commits)
        commits.set(one.id, await this.parts.commits.of(one, (await this.parts.sessions.get(one.id))?.commits ?? []))
    return recordFound(store, { found, successions, commits }, { nowMs, open, purgeFilter: () => purges.purgeFilter() })
  }

  /** Sessions found in logs that have no end yet, as their logs were read. */
  async #active(): Promise<FoundSession[]> {
    const { sessions } = await this.parts.sessions.query({ outcome: 'active', limit: MOST_ACTIVE })
    return this.history.foundAgain(sessions.filter(({ source }) => source === 'log').map(({ id }) => id))
  }
}
