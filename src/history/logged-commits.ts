import type { FoundSession } from '../ingest/index.js'
import { SkeinError } from '../model/index.js'
import type { SnapshotBook } from '../snapshots/index.js'

/** A commit is dated while the command that made it runs; what it printed comes a little later. */
const MOST_BEFORE_MS = 15 * 60_000
const MOST_AFTER_MS = 60_000

/** What git printed of commits in the logs, checked once each against the repository where the session worked. */
export class LoggedCommits {
  readonly #checked = new Map<string, string | undefined>()

  constructor(private readonly snapshots: Pick<SnapshotBook, 'existingCommits'>) {}

  /** Full ids; where there is no repository any more, what git printed. `known` are those that the session has already. */
  async of({ news }: FoundSession, known: readonly string[]): Promise<string[]> {
    const { cwd, commits = [] } = news
    const isNew = ({ id }: { id: string }): boolean => !known.some((one) => one.startsWith(id))
    const fresh = commits.filter(isNew)
    if (fresh.length === 0 || cwd === undefined) return []
    const unchecked = fresh.filter(({ id }) => !this.#checked.has(`${id} ${cwd}`))
    if (unchecked.length > 0) await this.#check(cwd, unchecked)
    return fresh.flatMap(({ id }) => this.#checked.get(`${id} ${cwd}`) ?? [])
  }

  async #check(cwd: string, commits: NonNullable<FoundSession['news']['commits']>): Promise<void> {
    let there: Awaited<ReturnType<SnapshotBook['existingCommits']>>
    try {
      const ids = commits.map(({ id }) => id)
      there = await this.snapshots.existingCommits(cwd, ids)
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error
      there = new Map() // a repository that cannot be read proves nothing
    }
    for (const { id, at } of commits) {
      const found = there?.get(id)
      const isThen = found !== undefined && (at === undefined || isNear(found.committedMs, Date.parse(at)))
      this.#checked.set(`${id} ${cwd}`, there === undefined ? id : isThen ? found.commit : undefined)
    }
  }
}

const isNear = (committedMs: number, printedMs: number): boolean =>
  committedMs >= printedMs - MOST_BEFORE_MS && committedMs <= printedMs + MOST_AFTER_MS
