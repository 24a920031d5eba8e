import { stampOf } from '../disk/index.js'
import type { AgentId, Context } from '../model/index.js'
import type { AgentRun } from './agent-run.js'

/** Clocks of file systems tick every few milliseconds: within one tick a file may change twice and look the same. */
const SETTLED_MS = 100

/**
 * Agents' files as they were last parsed, each for as long as its file is the same one. Starting many agents asks for the files of all
 * of them again and again, to see who has which conversation.
 */
export class RunCache {
  readonly #kept = new Map<AgentId, { stamp: string; run: AgentRun }>()

  constructor(private readonly context: Context) {}

  /** What `read` makes of the file, or made of it before. */
  of(id: AgentId, path: string, read: () => AgentRun | undefined): AgentRun | undefined {
    const found = stampOf(path)
    const kept = this.#kept.get(id)
    if (found && kept?.stamp === found.stamp) return kept.run
    const run = read()
    if (run && found && this.context.clock.now() - found.changedMs > SETTLED_MS)
      this.#kept.set(id, { stamp: found.stamp, run })
    else this.#kept.delete(id)
    return run
  }
}
