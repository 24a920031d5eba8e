import { displayWidth } from './display-width.js'
import { safeText } from './safe-text.js'
import type { Screen } from './screen.js'

/** A name and its value; an undefined value leaves the line out. */
export type Fact = readonly [name: string, value: string | number | undefined]

/** One thing, one fact per line, values aligned. */
export function card(facts: readonly Fact[], { paint }: Screen): string {
  const known = facts.filter(([, value]) => value !== undefined && value !== '')
  const width = Math.max(...known.map(([name]) => displayWidth(name)))
  return known.map(([name, value]) => `${paint.dim(name.padEnd(width))}  ${safeText(String(value))}`).join('\n')
}
