import type { LocalIndex } from '../index/index.js'
import type { IndexCare, IndexCheck } from './index-api.js'
import { newerFiles } from './newer-files.js'
import type { ProfileStore } from './profile-store.js'

const MAX_PROBLEMS = 20

/** Rebuilding the index, and proving that a rebuild would change nothing. */
export class StoredIndexCare implements IndexCare {
  constructor(
    private readonly store: ProfileStore,
    /** Rebuilds what was read from the logs. */
    private readonly rebuildHistory: () => Promise<unknown>,
  ) {}

  async rebuild(): Promise<{ events: number; sessions: number; agents: number; duration_ms: number }> {
    const from = performance.now()
    await this.store.rebuild()
    await this.rebuildHistory()
    const counts = await this.store.ask((index) => index.counts())
    const { events } = this.#readJournal()
    return { events, ...counts, duration_ms: Math.round(performance.now() - from) }
  }

  async check(): Promise<IndexCheck> {
    const { events, unreadable } = this.#readJournal()
    // Under the lock: both sides must speak of the same journal.
    return this.store.asWriter((index) => {
      const problems = index.integrityProblems().map((line) => `index.db: ${line}`)
      using fresh = this.store.buildAside(index)
      problems.push(...differences(index, fresh))
      return {
        ok: problems.length === 0,
        events,
        ...index.counts(),
        unreadable_lines: unreadable,
        problems: problems.slice(0, MAX_PROBLEMS),
        newer_files: newerFiles(this.store),
      }
    })
  }

  #readJournal(): { events: number; unreadable: number } {
    let events = 0
    let unreadable = 0
    for (const batch of this.store.journal.read()) {
      events += batch.events.length
      unreadable += batch.unreadable
    }
    return { events, unreadable }
  }
}

/** Both sides come in the same order, so one walk finds what is missing, what is too much and what differs. */
function differences(index: LocalIndex, fresh: LocalIndex): string[] {
  const problems: string[] = []
  const theirs = index.everyRow()
  const ours = fresh.everyRow()
  let a = theirs.next()
  let b = ours.next()
  while ((!a.done || !b.done) && problems.length < MAX_PROBLEMS) {
    const order = compareRows(a.done ? undefined : a.value, b.done ? undefined : b.value)
    if (order === 0 && !a.done && !b.done && a.value.value !== b.value.value) {
      problems.push(`${a.value.table}: ${a.value.key} differs from the journal`)
    }
    if (order < 0 && !a.done) problems.push(`${a.value.table}: ${a.value.key} should not be there`)
    if (order > 0 && !b.done) problems.push(`${b.value.table}: ${b.value.key} is missing`)
    if (order <= 0) a = theirs.next()
    if (order >= 0) b = ours.next()
  }
  theirs.return(undefined)
  ours.return(undefined)
  return problems
}

interface Place {
  table: string
  key: string
}

const TABLE_ORDER = [
  'sessions',
  'sessions columns',
  'session_groups',
  'agents',
  'groups',
  'titles',
  'work_items',
  'work_items columns',
]

function compareRows(a: Place | undefined, b: Place | undefined): number {
  if (!a || !b) return a ? -1 : 1
  const tables = TABLE_ORDER.indexOf(a.table) - TABLE_ORDER.indexOf(b.table)
  // Byte order, as SQLite sorts; JavaScript's would differ beyond the basic plane.
  return tables || Buffer.compare(Buffer.from(a.key), Buffer.from(b.key))
}
