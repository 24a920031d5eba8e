import { type Body, isIn, runEnd, tableOf } from './rule.js'

/** What a stretch of a text says to somebody who decodes it. */
export interface DecodedRun {
  spelling: 'base64' | 'hex'
  text: string
  /** Where a part of it lies in the original: with every character that holds some of its bits, and what fills up its end. */
  spansOf(part: { start: number; end: number }): { start: number; end: number }[]
}

/** MIME and `base64` break their lines at 64 or 76 characters: a text may lie across a break. */
const BROKEN_FROM = 60
const LINE_BREAK = /\r?\n[ \t]{0,16}/y

/** What is looked for in decoded text: at least so many characters, and whether all of them are ASCII that can be seen. */
export interface Sought {
  shortest: number
  isAscii: boolean
}

export const isVisibleAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text)

/** What is short enough, and general enough, for all of these. */
export const soughtForAll = (all: readonly Sought[]): Sought => ({
  shortest: Math.min(...all.map(({ shortest }) => shortest)),
  isAscii: all.every(({ isAscii }) => isAscii),
})

/**
 * Every stretch that may be base64 (of either alphabet, with or without its end) or hex and may hold what is sought, decoded from each
 * character from which it may begin: what stands before it may belong to it or not. Paths and long names are such
 * stretches, too, and in every text; but no byte of ASCII has its highest bit, which shows in the characters, so few are decoded.
 */
export function* decodedRuns(text: string, { shortest, isAscii }: Sought): Generator<DecodedRun> {
  for (const form of FORMS) {
    const least = Math.ceil((shortest * 8) / form.bits)
    for (const { start, end, isBroken } of runsIn(text, form.body, Math.min(least, BROKEN_FROM))) {
      if (end - start < least) continue
      const run = isBroken ? text.slice(start, end).replace(/\s+/g, '') : text.slice(start, end)
      const place = isBroken ? placesIn(text, start, end) : (at: number): number => start + at
      for (let skip = 0; skip < form.group; skip += 1)
        if (!isAscii || mayHoldAscii(run, skip, form, shortest)) yield decodedFrom(run, skip, form, place, text)
    }
  }
}

interface Form {
  spelling: DecodedRun['spelling']
  body: Body
  /** Of a character. */
  bits: number
  /** So many characters stand for a whole number of bytes. */
  group: number
  /** A bit for each place of a group at which the character can hold the upper bits of ASCII that can be seen. */
  places: Uint8Array
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const sextet = (character: string): number => ALPHABET.indexOf(character.replace('-', '+').replace('_', '/'))
/** Such a byte is 0x20 to 0x7e: its upper four bits are 2 to 7. */
const isUpper = (bits: number): boolean => bits >= 2 && bits <= 7

/** At which places of a group each character of a body may stand. */
const placesOf = (body: Body, fits: readonly ((character: string) => boolean)[]): Uint8Array =>
  Uint8Array.from({ length: 128 }, (_, code) => {
    const character = String.fromCharCode(code)
    if (tableOf(body)[code] !== 1) return 0
    return fits.reduce((places, isFit, place) => places | (isFit(character) ? 1 << place : 0), 0)
  })

const FORMS: readonly Form[] = [
  {
    spelling: 'base64',
    body: 'base64Run',
    bits: 6,
    group: 4,
    places: placesOf('base64Run', [
      (one) => isUpper(sextet(one) >> 2),
      (one) => isUpper(sextet(one) & 15),
      (one) => (sextet(one) & 3) < 2,
      () => true,
    ]),
  },
  {
    spelling: 'hex',
    body: 'hex',
    bits: 4,
    group: 2,
    places: placesOf('hex', [(one) => isUpper(Number.parseInt(one, 16)), () => true]),
  },
]

/** Whether enough characters in a row can be of ASCII: from the one with the upper bits of its first byte to that of its last. */
function mayHoldAscii(run: string, skip: number, { bits, group, places }: Form, shortest: number): boolean {
  const needed = Math.floor(((shortest - 1) * 8) / bits) + 1
  let from = skip
  while (from + needed <= run.length) {
    let at = from + needed - 1
    while (at >= from && ((places[run.charCodeAt(at)] as number) >> ((at - skip) & (group - 1))) & 1) at -= 1
    if (at < from) return true
    from = at + 1
  }
  return false
}

function decodedFrom(run: string, skip: number, form: Form, place: (at: number) => number, text: string): DecodedRun {
  const bytes = Buffer.from(skip === 0 ? run : run.slice(skip), form.spelling)
  const decoded = bytes.toString()
  const spanOf = (from: number, to: number): { start: number; end: number } => {
    const last = place(Math.min(run.length, skip + Math.ceil((to * 8) / form.bits)) - 1)
    let end = last + 1
    while (form.spelling === 'base64' && text[end] === '=' && end < last + 3) end += 1
    return { start: place(skip + Math.floor((from * 8) / form.bits)), end }
  }
  return {
    spelling: form.spelling,
    text: decoded,
    spansOf({ start, end }) {
      if (decoded.length === bytes.length) return [spanOf(start, end)]
      // Not every character is a byte: it is looked for once more, among the bytes.
      const part = Buffer.from(decoded.slice(start, end))
      const spans = []
      for (let at = bytes.indexOf(part); at >= 0; at = bytes.indexOf(part, at + 1))
        spans.push(spanOf(at, at + part.length))
      return spans
    },
  }
}

/** Runs of at least so many characters. Looks from the end of each, so that most of an ordinary text is jumped over. */
function* runsIn(
  text: string,
  body: Body,
  least: number,
): Generator<{ start: number; end: number; isBroken: boolean }> {
  const table = tableOf(body)
  let from = 0
  while (from + least <= text.length) {
    let at = from + least - 1
    while (at >= from && table[text.charCodeAt(at)] === 1) at -= 1
    if (at >= from) {
      from = at + 1
      continue
    }
    const start = from
    let [line, end] = [start, runEnd(text, start + least, body)]
    let isBroken = false
    for (
      let next = nextLine(text, line, end);
      next !== undefined && isIn(body, text, next);
      next = nextLine(text, line, end)
    ) {
      isBroken = true
      line = next
      end = runEnd(text, next, body)
    }
    yield { start, end, isBroken }
    from = end
  }
}

/** Where the line after a full one begins. */
function nextLine(text: string, start: number, end: number): number | undefined {
  if (end - start < BROKEN_FROM) return undefined
  LINE_BREAK.lastIndex = end
  return LINE_BREAK.test(text) ? LINE_BREAK.lastIndex : undefined
}

function placesIn(text: string, start: number, end: number): (at: number) => number {
  let places: number[] | undefined
  return (at) => {
    places ??= Array.from({ length: end - start }, (_, offset) => start + offset).filter(
      (one) => !/\s/.test(text[one] ?? ''),
    )
    return places[at] ?? end
  }
}
