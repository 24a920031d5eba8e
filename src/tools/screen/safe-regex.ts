/**
 * Regular expressions that run on screens an agent may fill with anything. JavaScript's engine backtracks, so what could take
 * exponential time is refused when the rule is read: a repeated group, a back reference. What is left is polynomial, and
 * lines are clipped (`LINE_LIMIT`) before they are matched.
 */
export const LINE_LIMIT = 400
const MOST_REPEATS = 4

/** Throws an Error whose message says what is wrong with the pattern. */
export function safeRegex(source: string, flags: 'u' | 'iu' = 'u'): RegExp {
  const problem = problemOf(source)
  if (problem) throw new Error(problem)
  return new RegExp(source, flags)
}

function problemOf(source: string): string | undefined {
  if (source.length > 1_000) return 'it is longer than 1000 characters'
  let repeats = 0
  for (let at = 0; at < source.length; at += 1) {
    const char = source[at]
    if (char === '\\') {
      if (/[1-9k]/.test(source[at + 1] ?? '')) return 'back references can run for ever'
      at += 1
    } else if (char === '[') {
      at = endOfClass(source, at)
    } else if (char === '*' || char === '+' || (char === '{' && isWide(source, at))) {
      if (source[at - 1] === ')' && source[at - 2] !== '\\')
        return 'a repeated group, such as (a|b)*, can run for ever; repeat a single character or class'
      repeats += 1
    }
  }
  return repeats > MOST_REPEATS ? `it has more than ${MOST_REPEATS} open repetitions` : undefined
}

function endOfClass(source: string, start: number): number {
  for (let at = start + 1; at < source.length; at += 1) {
    if (source[at] === '\\') at += 1
    else if (source[at] === ']') return at
  }
  return source.length
}

/** `{3}` and `{0,9}` cost little; `{2,}` and `{1,400}` are as open as a star. */
function isWide(source: string, at: number): boolean {
  const counts = /^\{(\d+)(,(\d*))?\}/.exec(source.slice(at, at + 12))
  if (!counts) return false
  const most = counts[2] === undefined ? Number(counts[1]) : counts[3] === '' ? Infinity : Number(counts[3])
  return most > 12
}
