import { editFile, guardedText, readPlain } from '../disk/index.js'
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
    return Object.hasOwn(this.#policies, file) ? this.#policies[file] : undefined
  }

  async remember({ projects }: Policy): Promise<void> {
    if (projects.length === 0) return
    this.#known = undefined // another process may have added to it, or a purge have taken something out
    const read = projects.flatMap(({ source }) => {
      const text = guardedText(source, MOST_POLICY_BYTES)
      return text === undefined ? [] : [[source, text] as const]
    })
    if (read.every(([source, text]) => this.#policies[source] === text)) return
    const withNews = (before = '{}'): string => {
      this.#known = { ...textsIn(before), ...Object.fromEntries(read) }
      return JSON.stringify(this.#known)
    }
    await editFile(this.path, withNews, { durable: false })
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
