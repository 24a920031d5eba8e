import { createHash } from 'node:crypto'
import { WRAPPED } from '../../tools/index.js'

/** Of a longer text its two ends are known as well: a dialog may show only one of them. */
const END_LENGTH = 400

/**
 * A text that can be recognised on a screen without being kept: it may hold a password. `rm -rf / tmp` is not `rm -rf /tmp`, so
 * where its blanks are counts as well; but a screen breaks lines.
 */
export interface TextPrint {
  /** Of what is visible. */
  length: number
  digest: string
  /** Where blanks are, as pairs: after how many visible characters, and how many spaces (0: a tab, -1: a new line). */
  gaps: number[]
  head?: string
  tail?: string
}

export function printOf(text: string): TextPrint {
  const { visible, gaps } = takenApart(text)
  const isLong = visible.length > END_LENGTH
  const pairs = [...gaps].flatMap(([at, blank]) => [at, widthOf(blank)])
  return { length: visible.length, digest: digestOf(visible), gaps: pairs, ...(isLong ? endsOf(visible) : {}) }
}

const widthOf = (blank: string): number => (/[\n\r]/.test(blank) ? -1 : /^ +$/.test(blank) ? blank.length : 0)

const endsOf = (visible: string): { head: string; tail: string } => ({
  head: digestOf(visible.slice(0, END_LENGTH)),
  tail: digestOf(visible.slice(-END_LENGTH)),
})

/** Whether this is the text, all of it; where it was cut, whether it begins or ends as the text does. */
export function isPrinted(shown: string, print: TextPrint, isCut = false): boolean {
  const { visible, gaps } = takenApart(shown)
  const isSame = visible.length === print.length && digestOf(visible) === print.digest
  if (visible !== '' && isSame) return hasGaps(gaps, print.gaps)
  if (!isCut || print.head === undefined || visible.length < END_LENGTH) return false
  const ends = endsOf(visible)
  return ends.head === print.head || ends.tail === print.tail
}

/** Blanks where the text has them and nowhere else. Where a line may have been wrapped, there may be one or none. */
function hasGaps(shown: ReadonlyMap<number, string>, wanted: readonly number[]): boolean {
  const widths = new Map<number, number>()
  for (let k = 0; k < wanted.length; k += 2) widths.set(wanted[k] ?? 0, wanted[k + 1] ?? 0)
  const isLeftOut = [...widths.keys()].some((at) => !shown.has(at))
  return (
    !isLeftOut &&
    [...shown].every(([at, blank]) => {
      const width = widths.get(at)
      if (blank.includes(WRAPPED)) return true
      return width === 0 || width === widthOf(blank)
    })
  )
}

/** Whether the text stands somewhere in what is shown. */
export function holdsPrint(shown: string, { length, digest }: TextPrint): boolean {
  const { visible, gaps } = takenApart(shown)
  const starts = [0, ...gaps.keys(), ...[...visible.matchAll(/[+/-]/g)].map(({ index }) => index + 1)]
  return (
    length > 0 &&
    starts.some((at) => at + length <= visible.length && digestOf(visible.slice(at, at + length)) === digest)
  )
}

/** What a terminal shows of a text, and the blanks between, by how much is before them. */
function takenApart(text: string): { visible: string; gaps: Map<number, string> } {
  const gaps = new Map<number, string>()
  let visible = ''
  for (const part of text
    .replace(/\p{Cf}+/gu, '')
    .trim()
    .split(/([\s\p{Cc}]+)/u)) {
    if (/^[\s\p{Cc}]/u.test(part)) gaps.set(visible.length, part)
    else visible += part
  }
  return { visible, gaps }
}

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24)
