import { guardedText, readPlain, writeAtomic } from '../disk/index.js'
import type { Policy } from '../privacy/index.js'

/** Larger policies are refused where they are read. */
const MOST_POLICY_BYTES = 64 * 1024

/**
 * What the policies of projects said when they were last read. A project that is deleted takes its policy along, but not the logs of
 * the sessions that worked in it: what it wanted hidden stays hidden.
 */
export class PolicyMemory {
  #known: Record<string, string> | undefined

  constructor(private readonly path: string) {}

  /** The text of a policy file as it was. */
  recall(file: string): string | undefined {
    return this.#policies[file]
  }

  remember({ projects }: Policy): void {
    if (projects.length === 0) return
    this.#known = undefined // another process may have added to it, or a purge have taken something out
    const known = this.#policies
    const news = projects.flatMap(({ source }) => {
      const text = guardedText(source, MOST_POLICY_BYTES)
      return text === undefined || text === known[source] ? [] : [[source, text] as const]
    })
    if (news.length === 0) return
    this.#known = { ...known, ...Object.fromEntries(news) }
    writeAtomic(this.path, JSON.stringify(this.#known), { durable: false })
  }

  get #policies(): Record<string, string> {
    this.#known ??= textsIn(readPlain(this.path)?.toString() ?? '{}')
    return this.#known
  }
}

/** One that was damaged remembers nothing. */
function textsIn(json: string): Record<string, string> {
  try {
    const value: unknown = JSON.parse(json)
    const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'))
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}
