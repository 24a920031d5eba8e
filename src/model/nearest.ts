/** The candidate that a mistyped word most likely meant, or undefined when none is close. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  // One letter or digit is as close to every other one.
  const allowed = word.length === 1 ? 0 : Math.max(1, Math.floor(word.length / 3))
  let best: { candidate: string; distance: number } | undefined
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) > allowed) continue
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase())
    if (distance <= allowed && (!best || distance < best.distance)) best = { candidate, distance }
  }
  return best?.candidate ?? candidates.find((candidate) => word.length > 1 && candidate.startsWith(word))
}

/** Insertions, deletions, replacements and swaps of neighbours that turn one word into the other. */
function editDistance(from: string, to: string): number {
  let older: number[] = []
  let old = Array.from({ length: to.length + 1 }, (_, at) => at)
  for (let i = 1; i <= from.length; i++) {
    const row = [i]
    for (let j = 1; j <= to.length; j++) {
      const same = from[i - 1] === to[j - 1]
      let cost = Math.min((old[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (old[j - 1] ?? 0) + (same ? 0 : 1))
      const swapped = i > 1 && j > 1 && from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      if (swapped) cost = Math.min(cost, (older[j - 2] ?? 0) + 1)
      row.push(cost)
    }
    older = old
    old = row
  }
  return old[to.length] ?? 0
}
