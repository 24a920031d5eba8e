import type { Fact } from '../tools/index.js'

/**
 * Whether a log that was read again from its beginning lacks something it said before. Tools write some logs anew with every
 * message, and add to what they wrote: that loses nothing, and keeping each of them would fill the disk.
 */
export function losesSomething(before: Iterable<Fact>, now: readonly Fact[]): boolean {
  const told = latest(now)
  for (const fact of before) if (isLost(fact, told)) return true
  return false
}

/** Whether a log says nothing but what it said before, and not all of that: somebody cut it, or emptied it. */
export function isCut(before: Iterable<Fact>, now: readonly Fact[]): boolean {
  const told = latest(now)
  const more = new Set(now.flatMap(detailsOf))
  const known = new Map<string, Fact>()
  let losesSome = false
  // Once through what was said before, which may be long: only what is also said now is kept of it.
  for (const fact of before) {
    losesSome ||= isLost(fact, told)
    const key = keyOf(fact)
    if (key !== undefined && told.has(key)) known.set(key, fact)
    if (more.size > 0) for (const detail of detailsOf(fact)) more.delete(detail)
  }
  // There is no result, end of a turn, use of tokens or name that was not there before.
  return losesSome && more.size === 0 && !now.some((fact) => isLost(fact, known))
}

/** The same as `losesSomething` for two logs that are both too long to be held: of what was said before only digests are. */
export function longLosesSomething(before: Iterable<Fact>, now: Iterable<Fact>): boolean {
  const said = new Map<number, { chars: number; kept: number; digest: number; isThere: boolean }>()
  for (const fact of before) {
    const key = keyOf(fact)
    if (key === undefined) continue
    const { text, chars } = wordsIn(fact)
    said.set(numberOf(key), { chars, kept: text.length, digest: numberOf(text), isThere: false })
  }
  for (const fact of now) {
    const key = keyOf(fact)
    const known = key === undefined ? undefined : said.get(numberOf(key))
    if (!known) continue
    const { text, chars } = wordsIn(fact)
    const isSame = text.length >= known.kept && numberOf(text.slice(0, known.kept)) === known.digest
    const isShortened = fact.kind === 'turn' ? (fact.prompt_chars ?? 0) >= Math.max(1, known.chars) : text === ''
    known.isThere = isSame || isShortened || chars < 0
  }
  for (const { isThere } of said.values()) if (!isThere) return true
  return false
}

function latest(facts: readonly Fact[]): Map<string, Fact> {
  const told = new Map<string, Fact>()
  for (const fact of facts) {
    const key = keyOf(fact)
    if (key !== undefined) told.set(key, fact)
  }
  return told
}

function isLost(fact: Fact, told: ReadonlyMap<string, Fact>): boolean {
  const key = keyOf(fact)
  if (key === undefined) return false
  const same = told.get(key)
  return same === undefined || !goesOn(fact, same)
}

/** What must not be lost of a fact; of a call only that there was one, which has fewer than no characters. */
function wordsIn(fact: Fact): { text: string; chars: number } {
  if (fact.kind === 'turn') return { text: fact.prompt, chars: fact.prompt_chars ?? fact.prompt.length }
  if (fact.kind === 'said') return { text: fact.text, chars: fact.text.length }
  return { text: '', chars: -1 }
}

/** A number of 53 bits for a text of any length. */
function numberOf(text: string): number {
  let [a, b] = [0xdeadbeef, 0x41c6ce57]
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    a = Math.imul(a ^ code, 2654435761)
    b = Math.imul(b ^ code, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return 4294967296 * (2097151 & b) + (a >>> 0)
}

function detailsOf(fact: Fact): string[] {
  switch (fact.kind) {
    case 'tool-result':
      return [`result ${fact.call} ${fact.result_chars ?? fact.result.length} ${fact.result}`]
    case 'mark':
      return [`mark ${fact.agent ?? ''} ${fact.turn} ${fact.mark}`]
    case 'usage':
      return [`usage ${fact.usage.message_id}`]
    case 'session':
      return Object.entries(fact).map(([name, value]) => `session ${name} ${JSON.stringify(value)}`)
    default:
      return []
  }
}

function keyOf(fact: Fact): string | undefined {
  switch (fact.kind) {
    case 'turn':
      return `turn ${fact.agent ?? ''} ${fact.turn}`
    case 'said':
      return `said ${fact.agent ?? ''} ${fact.message} ${fact.part}`
    case 'tool-call':
      return `call ${fact.call}`
    default:
      return undefined
  }
}

/** A text that grew is the same text. One that a stricter policy has shortened is, too: it must not bring back what was left out. */
function goesOn(before: Fact, now: Fact): boolean {
  if (before.kind === 'turn' && now.kind === 'turn') {
    const lengthBefore = before.prompt_chars ?? before.prompt.length
    return now.prompt.startsWith(before.prompt) || (now.prompt_chars ?? 0) >= Math.max(1, lengthBefore)
  }
  if (before.kind === 'said' && now.kind === 'said') return now.text === '' || now.text.startsWith(before.text)
  return true
}
