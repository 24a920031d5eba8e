/** Replaces the places where the files were by the place where they are now, in every text of a value. */
export class MovedPaths {
  readonly #pattern: RegExp | undefined

  constructor(
    from: readonly (string | undefined)[],
    private readonly to: string,
  ) {
    const roots = [...new Set(from.flatMap((root) => (root === undefined || root.length < 2 ? [] : [root])))]
    const longestFirst = roots.sort((a, b) => b.length - a.length)
    // Neither a part of a longer name, nor of a longer path.
    const any = longestFirst.map((root) => root.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')
    this.#pattern = any === '' ? undefined : new RegExp(`(?<![\\w.-])(?:${any})(?![\\w-]|\\.\\w)`, 'g')
  }

  text(text: string): string {
    return this.#pattern ? text.replace(this.#pattern, () => this.to) : text
  }

  value<T>(value: T): T {
    if (typeof value === 'string') return this.text(value) as T
    if (Array.isArray(value)) return value.map((one) => this.value(one)) as T
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, this.value(one)])) as T
  }

  /** A log of JSON, or of one JSON value per line. Lines that are neither stay as they are. */
  log(content: string): string {
    const whole = this.#json(content)
    if (whole !== undefined) return whole
    return content
      .split('\n')
      .map((line) => this.#json(line) ?? line)
      .join('\n')
  }

  #json(text: string): string | undefined {
    if (!/^\s*[{[]/.test(text)) return undefined
    try {
      return JSON.stringify(this.value(JSON.parse(text)))
    } catch {
      return undefined
    }
  }
}
