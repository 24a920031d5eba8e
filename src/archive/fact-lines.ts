import type { Fact } from '../tools/index.js'

/** One line per fact. */
export const factLines = (facts: readonly Fact[]): string => facts.map((fact) => `${JSON.stringify(fact)}\n`).join('')

/** Facts of kinds that a newer version wrote are passed over; what cannot be parsed is counted. */
export function parseFacts(lines: Buffer): { facts: Fact[]; unread: number } {
  const facts: Fact[] = []
  let unread = 0
  for (let from = 0; from < lines.length; ) {
    const end = lines.indexOf(0x0a, from)
    const to = end === -1 ? lines.length : end
    const fact = parsed<Fact>(lines.toString('utf8', from, to))
    if (typeof fact?.kind !== 'string') unread += 1
    else if (KINDS.has(fact.kind)) facts.push(fact)
    from = to + 1
  }
  return { facts, unread }
}

/** Written by us and vouched for by a checksum: its shape is what it was. */
export function parsed<T>(json: string): T | undefined {
  try {
    return JSON.parse(json) as T
  } catch {
    return undefined
  }
}

export const KINDS: ReadonlySet<string> = new Set<Fact['kind']>([
  ...(['session', 'turn', 'said', 'tool-call', 'tool-result', 'usage', 'mark', 'reported-cost'] as const),
])
