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
  /** The same where invisible characters are shown with a sign in their place. */
  marked?: TextPrint
}

/** Control characters, zero-width ones and those that turn the direction; blanks are seen. */
const INVISIBLE = /(?!\s)[\p{Cf}\p{Cc}]/gu
/** What programs show in the place of a character that cannot be seen. */
const SIGN = '\ufffd'

export function printOf(text: string): TextPrint {
  const marked = text.replace(INVISIBLE, SIGN)
  return { ...plainPrint(text), ...(marked === text ? {} : { marked: plainPrint(marked) }) }
}

function plainPrint(text: string): TextPrint {
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

/** What is missing of a text that a screen shows: something (`isCut`), and before all else its beginning (`isTopless`). */
interface Missing {
  isCut?: boolean | undefined
  isTopless?: boolean | undefined
}

/** Whether this is the text, all of it. What may be the end of another text is not all of it, whatever it reads. */
export function isPrinted(shown: string, print: TextPrint, missing: Missing = {}): boolean {
  if (print.marked && isPrinted(shown, print.marked, missing)) return true
  const { visible, gaps } = takenApart(shown)
  const isSame = visible !== '' && visible.length === print.length && digestOf(visible) === print.digest
  return isSame && !missing.isTopless && hasGaps(gaps, print.gaps)
}

/** Whether what was cut begins or ends as the text does. Another text may do so as well. */
export function isEndOf(shown: string, { head, tail }: TextPrint, { isCut, isTopless }: Missing): boolean {
  const { visible } = takenApart(shown)
  if (!isCut || head === undefined || visible.length < END_LENGTH) return false
  const ends = endsOf(visible)
  return ends.tail === tail || (ends.head === head && !isTopless)
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
export function holdsPrint(shown: string, { length, digest, marked }: TextPrint): boolean {
  const { visible, gaps } = takenApart(shown)
  const starts = [0, ...gaps.keys(), ...[...visible.matchAll(/[+/-]/g)].map(({ index }) => index + 1)]
  const isThere = starts.some(
    (at) => at + length <= visible.length && digestOf(visible.slice(at, at + length)) === digest,
  )
  return (length > 0 && isThere) || (marked !== undefined && holdsPrint(shown, marked))
}

/** What a terminal shows of a text, and the blanks between, by how much is before them. */
function takenApart(text: string): { visible: string; gaps: Map<number, string> } {
  const gaps = new Map<number, string>()
  let visible = ''
  for (const part of text
    .replace(INVISIBLE, '')
    .trim()
    .split(/([\s\p{Cc}]+)/u)) {
    if (/^[\s\p{Cc}]/u.test(part)) gaps.set(visible.length, part)
    else visible += part
  }
  return { visible, gaps }
}

export const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 24)
