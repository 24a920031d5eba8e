import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { isGone, namesIn, statIfThere } from '../disk/index.js'
import { searchText, type TextAnswer, TextStore } from '../ingest/index.js'
import { SkeinError } from '../model/index.js'
import type { ProfileStore, StoredSessions } from '../store/index.js'
import { withMoments } from '../store/index.js'
import type { HitPlace, SearchOptions, SearchReport } from './history-api.js'
import type { LogStores } from './log-stores.js'
import { mayBeOutdated } from './policy-note.js'

const DEFAULT_LIMIT = 20
const MOST_HITS = 1_000
const PAGE = 10_000

/** Searches what was ingested. Loaded on first use, and without the readers of logs. */
export class WordSearch {
  constructor(
    private readonly store: ProfileStore,
    private readonly sessions: StoredSessions,
    private readonly stores: LogStores,
  ) {}

  async search(options: SearchOptions): Promise<SearchReport> {
    const { text, tool, limit = DEFAULT_LIMIT } = options
    const { since } = withMoments(options, this.store.context.clock.now())
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST_HITS) {
      throw new SkeinError('bad-input', `${limit} is not a valid number of hits`, `Use a number from 1 to ${MOST_HITS}`)
    }
    const sessions = await this.#sessionsOf(options)
    const sinceMs = since === undefined ? undefined : Date.parse(since)
    const ask = (words: TextStore): Answer => ({
      ...searchText(words, { text, kind: options.in, tool, sessions, sinceMs, limit }),
      may_be_outdated: mayBeOutdated(words),
    })
    const answer = (await this.stores.askText(ask, undefined)) ?? nothing(ask)
    const placeOf = await this.#places(answer.hits.map(({ session }) => session))
    const hits = answer.hits.map(({ path, ...hit }) => ({
      ...hit,
      ...placeOf(hit.session),
      log_gone: isGone(path),
      next: commandFor(hit),
    }))
    const older_versions = hits.length > 0 ? 0 : this.#olderVersions()
    return { ...answer, hits, is_ingested: existsSync(this.store.paths.text), older_versions }
  }

  /** Whose sessions these are, what they are called and where they worked. */
  async #places(sessions: readonly string[]): Promise<(session: string) => HitPlace> {
    const places = new Map<string, HitPlace>()
    for (const id of new Set(sessions)) {
      const { agent, title, cwd } = (await this.sessions.get(id)) ?? {}
      places.set(id, { ...(agent ? { agent } : {}), ...(title ? { title } : {}), ...(cwd ? { cwd } : {}) })
    }
    return (session) => places.get(session) ?? {}
  }

  /** By the names of files alone: the archive itself is not loaded for this. */
  #olderVersions(): number {
    const { words } = this.store.paths
    const isOlder = (name: string): boolean => /~\d+\.sealed$/.test(name)
    return namesIn(words).reduce((sum, tool) => sum + filesIn(join(words, tool)).filter(isOlder).length, 0)
  }

  /** Agents, groups and directories are known to the index of sessions, not to the logs. */
  async #sessionsOf({ agent, group, directory }: SearchOptions): Promise<ReadonlySet<string> | undefined> {
    if (agent === undefined && group === undefined && directory === undefined) return undefined
    const filter = {
      ...(agent === undefined ? {} : { agent }),
      ...(group === undefined ? {} : { rig: group }),
      ...(directory === undefined ? {} : { directory }),
    }
    const ids = new Set<string>()
    let cursor: string | undefined
    do {
      const page = await this.sessions.query({ ...filter, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) })
      for (const session of page.sessions) ids.add(session.id)
      cursor = page.next_cursor
    } while (cursor !== undefined)
    return ids
  }
}

/** Shows the turn it was said in. Turns of a sub-agent have numbers of their own. */
function commandFor({ session, turn, sub_agent, in: part }: Omit<TextAnswer['hits'][number], 'path'>): string {
  const isInTurn = part !== 'titles' && sub_agent === undefined && turn > 0
  return `skein turns ${session}${isInTurn ? ` --turn ${turn}` : ''}`
}

/** The lock is beside the directories. */
function filesIn(path: string): string[] {
  return statIfThere(path)?.isDirectory() ? namesIn(path) : []
}

type Answer = TextAnswer & { may_be_outdated: boolean }

/** Questions to a store that is not there are checked like any other. */
function nothing(ask: (words: TextStore) => Answer): Answer {
  using words = TextStore.empty()
  return ask(words)
}
