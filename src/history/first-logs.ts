import { type Environment, LOG_TOOLS, type LogRef, type LogTool } from '../tools/index.js'
import type { LogFinder } from './log-finder.js'

/** A tool or an account without any log has no directory to watch: whether it has written its first one is asked this often. */
export const FIRST_LOG_MS = 5_000

/** Notices a log where none was: of a tool that had none, or below a root that had none, such as that of a new account. */
export class FirstLogs {
  /** The roots of the logs that were found, by tool. */
  #known = new Map<string, Set<string>>()
  /** Roots whose first log was noticed. It may be one that another root has, too: then it is not among all logs, and no news. */
  readonly #noticed = new Set<string>()
  #askedAt = 0

  constructor(private readonly finder: LogFinder) {}

  /** All logs were looked at just now. */
  lookedAt(all: readonly LogRef[]): void {
    this.#known = new Map()
    for (const { tool, root } of all) {
      const roots = this.#known.get(tool)
      if (roots) roots.add(root)
      else this.#known.set(tool, new Set([root]))
    }
    this.#askedAt = performance.now()
  }

  /** Costs a directory listing per root, and nothing if it was asked just before. */
  async haveCome(isWanted: (log: LogRef) => boolean): Promise<boolean> {
    if (performance.now() - this.#askedAt < FIRST_LOG_MS) return false
    const environment = await this.finder.environment()
    for (const tool of LOG_TOOLS) {
      const first = tool.discover(this.#silent(tool, environment)).find(isWanted)
      if (!first) continue
      this.#noticed.add(first.root)
      return true
    }
    this.#askedAt = performance.now()
    return false
  }

  /** The places of a tool where no log was found; all of them if none was found anywhere. */
  #silent(tool: LogTool, environment: Environment): Environment {
    const known = this.#known.get(tool.name)
    if (!known) return environment
    const silent = tool.roots(environment).filter((root) => !known.has(root) && !this.#noticed.has(root))
    // In a home that cannot be, a tool has only the roots that it is given.
    return { home: '/dev/null', env: {}, extraRoots: { [tool.name]: silent } }
  }
}
