import { type Body, isIn, runEnd } from './rule.js'

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

/**
 * Every stretch that may be base64 (of either alphabet, with or without its end) or hex and is long enough for `shortest` characters,
 * decoded from each character from which it may begin: what stands before it may belong to it or not. Nothing is decoded where
 * it could not be there, so a longer text that is looked for is found sooner.
 */
export function* decodedRuns(text: string, shortest: number): Generator<DecodedRun> {
  for (const form of FORMS) {
    const least = Math.ceil((shortest * 8) / form.bits)
    for (const { start, end, isBroken } of runsIn(text, form.body, Math.min(least, BROKEN_FROM))) {
      if (end - start < least) continue
      const run = isBroken ? text.slice(start, end).replace(/\s+/g, '') : text.slice(start, end)
      const place = isBroken ? placesIn(text, start, end) : (at: number): number => start + at
      for (let skip = 0; skip < form.skips; skip += 1) yield decodedFrom(run, skip, form, place, text)
    }
  }
}

interface Form {
  spelling: DecodedRun['spelling']
  body: Body
  /** Of a character. */
  bits: number
  skips: number
}

const FORMS: readonly Form[] = [
  { spelling: 'base64', body: 'base64Run', bits: 6, skips: 4 },
  { spelling: 'hex', body: 'hex', bits: 4, skips: 2 },
]

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
  let from = 0
  while (from + least <= text.length) {
    let at = from + least - 1
    while (at >= from && isIn(body, text, at)) at -= 1
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
