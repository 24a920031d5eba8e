import { readFileSync } from 'node:fs'
import { writeAtomic } from '../../disk/index.js'
import type { AgentId } from '../../model/index.js'

/** An agent may come back to an older wait, so more than the last one is remembered. */
const KEPT = 16

/** The last notices sent for each agent. On disk, so that a restarted daemon repeats none of them. */
export class NoticeBook {
  readonly #told: Map<string, readonly string[]>

  constructor(private readonly file: string) {
    this.#told = new Map(Object.entries(read(file)))
  }

  /** True once per notice of an agent. Having nothing to tell in between does not make an old notice new. */
  isNew(agent: AgentId, key: string): boolean {
    return !this.#told.get(agent)?.includes(key)
  }

  /** Records a notice before it is sent: after a crash, one too few is better than the same one over and over. */
  note(told: readonly { agent: AgentId; key: string }[]): void {
    if (told.length === 0) return
    for (const { agent, key } of told) this.#told.set(agent, [...(this.#told.get(agent) ?? []), key].slice(-KEPT))
    writeAtomic(this.file, `${JSON.stringify(Object.fromEntries(this.#told))}\n`, { durable: false })
  }

  /** Agents that are no more need no place. */
  keepOnly(agents: ReadonlySet<string>): void {
    for (const agent of this.#told.keys()) if (!agents.has(agent)) this.#told.delete(agent)
  }
}

/** Earlier versions wrote the last one alone. */
function read(file: string): Record<string, string[]> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
    return Object.fromEntries(entries.map(([agent, told]) => [agent, [told].flat().filter(isText)]))
  } catch {
    return {}
  }
}

const isText = (value: unknown): value is string => typeof value === 'string'
