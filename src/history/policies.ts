import type { Context } from '../model/index.js'
import { loadPolicy, type Policy, PURGED } from '../privacy/index.js'
import type { PolicyMemory } from './policy-memory.js'

/** Nothing of any tool call. */
const NOTHING: Policy = {
  user: [{ source: 'unreadable policy', tools: { '*': { arguments: 'none', result: 'none' } } }],
  projects: [],
  allowProjectLooser: false,
}
/** A policy file that was changed counts after this time at the latest. */
const REMEMBERED_MS = 15_000

/** The privacy policies of the directories that sessions work in, each read once in a while. */
export class Policies {
  readonly #known = new Map<string, { policy: Policy; readAt: number }>()

  constructor(
    readonly userFile: string,
    private readonly context: Context,
    private readonly memory: PolicyMemory,
  ) {}

  /** Without a directory the user's own policy holds. Where a file cannot be understood, nothing of a tool call is kept. */
  async at(cwd: string | undefined): Promise<Policy> {
    if (cwd?.includes(PURGED)) return NOTHING // whose policy it was can no longer be told
    const directory = cwd?.startsWith('/') ? cwd : '/'
    const now = this.context.clock.now()
    const known = this.#known.get(directory)
    if (known && now - known.readAt < REMEMBERED_MS && now >= known.readAt) return known.policy
    const policy = await this.#load(directory)
    await this.memory.remember(policy)
    this.#known.set(directory, { policy, readAt: now })
    return policy
  }

  /** A policy that has just been changed counts from now on. */
  forget(): void {
    this.#known.clear()
  }

  async #load(directory: string): Promise<Policy> {
    try {
      const recall = (path: string): string | undefined => this.memory.recall(path)
      return await loadPolicy({ userFile: this.userFile, directory, recall })
    } catch (error) {
      this.context.warn(`${(error as Error).message}: until it is corrected, no tool calls of ${directory} are kept`)
      return NOTHING
    }
  }
}
