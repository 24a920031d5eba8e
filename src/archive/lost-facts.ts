import type { Fact } from '../tools/index.js'

/**
 * Whether a log that was read again from its beginning lacks something it said before. Tools write some logs anew with every
 * message, and add to what they wrote: that loses nothing, and keeping each of them would fill the disk.
 */
export function losesSomething(before: readonly Fact[], now: readonly Fact[]): boolean {
  const told = new Map<string, Fact>()
  for (const fact of now) {
    const key = keyOf(fact)
    if (key !== undefined) told.set(key, fact)
  }
  return before.some((fact) => {
    const key = keyOf(fact)
    if (key === undefined) return false
    const same = told.get(key)
    return same === undefined || !goesOn(fact, same)
  })
}

/** Whether a log says nothing but what it said before, and not all of that: somebody cut it, or emptied it. */
export function isCut(before: readonly Fact[], now: readonly Fact[]): boolean {
  return losesSomething(before, now) && !losesSomething(now, before) && !saysMore(before, now)
}

/** Whether there is a result, an end of a turn, a use of tokens or a name that was not there before. */
function saysMore(before: readonly Fact[], now: readonly Fact[]): boolean {
  const told = new Set(before.flatMap(detailsOf))
  return now.flatMap(detailsOf).some((detail) => !told.has(detail))
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
