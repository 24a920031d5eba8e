import { ANSWER } from './passage.js'
import type { Term } from './search-terms.js'

/** A piece of a text on one line, and where in it the words are that were looked for: from, and up to but without. */
export interface Snippet {
  text: string
  marks: [number, number][]
}

const WIDTH = 160
const BEFORE = 50

/** The stretch that holds the most of what was looked for; the first of several. */
export function snippetOf(text: string, terms: readonly Term[]): Snippet {
  const found = marksIn(text, terms)
  let best = { from: 0, count: 0 }
  for (let at = 0; at < found.length; at += 1) {
    const from = Math.max(0, (found[at]?.[0] ?? 0) - BEFORE)
    let count = 0
    while (count < found.length - at && (found[at + count]?.[1] ?? 0) <= from + WIDTH) count += 1
    if (count > best.count) best = { from, count }
  }
  const end = Math.min(text.length, best.from + WIDTH)
  const [from, to] = [wholeCharacter(text, best.from), wholeCharacter(text, end)]
  const [opening, closing] = [from > 0 ? '… ' : '', to < text.length ? ' …' : '']
  // Character for character, so that what stood together still does.
  const cut = `${opening}${text.slice(from, to).replaceAll(ANSWER, ' ').replace(/\s/g, ' ')}${closing}`
  return { text: cut, marks: marksIn(cut, terms) }
}

/** In the order of the text; where two overlap, the earlier one. */
export function marksIn(text: string, terms: readonly Term[]): [number, number][] {
  const found = terms.flatMap(({ pattern }) =>
    [...text.matchAll(pattern)].map((match): [number, number] => [match.index, match.index + match[0].length]),
  )
  let end = 0
  return found
    .sort((a, b) => a[0] - b[0] || b[1] - a[1])
    .filter(([from, to]) => {
      if (from < end) return false
      end = to
      return true
    })
}

/** Not inside a surrogate pair. */
const wholeCharacter = (text: string, at: number): number => {
  const code = text.charCodeAt(at)
  return code >= 0xdc00 && code <= 0xdfff ? at + 1 : at
}
