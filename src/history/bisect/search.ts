/** What a command said of the code after a turn. */
export type Verdict = 'passed' | 'failed' | 'skipped'

/**
 * The search for the first of `count` places at which something fails, each numbered from 0. `good` is known to pass (-1 is before the first),
 * `bad` is known to fail (`count` means that none may).
 */
export interface Search {
  good: number
  bad: number
  /** Places that cannot say. */
  skipped: ReadonlySet<number>
}

/**
 * The place to ask next; undefined when there is nothing left to ask. Every answer halves what is left, so that `count` places take at most
 * floor(log2(count)) + 1 questions. Beside a place that cannot say, the nearest that can is asked.
 */
export function nextPlace({ good, bad, skipped }: Search): number | undefined {
  const middle = good + Math.floor((bad - good) / 2)
  for (let away = 0; away < bad - good; away += 1)
    for (const place of [middle - away, middle + away])
      if (place > good && place < bad && !skipped.has(place)) return place
  return undefined
}

export function answered(search: Search, place: number, verdict: Verdict): Search {
  switch (verdict) {
    case 'passed':
      return { ...search, good: place }
    case 'failed':
      return { ...search, bad: place }
    case 'skipped':
      return { ...search, skipped: new Set([...search.skipped, place]) }
  }
}
