import { patternRisk } from '../../model/index.js'

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
  const { hasBackReference, repeatsGroup, repetitions } = patternRisk(source)
  if (hasBackReference) return 'back references can run for ever'
  if (repeatsGroup) return 'a repeated group, such as (a|b)*, can run for ever; repeat a single character or class'
  return repetitions > MOST_REPEATS ? `it has more than ${MOST_REPEATS} open repetitions` : undefined
}
