import type { Span } from '../mark.js'

/** How long a value may be that is looked at before it is believed. */
const VALUE_REACH = 1_024
const LOOK_AT = 128
const UNQUOTED_STOPS = Uint8Array.from({ length: 256 }, (_, code) =>
  ' \t\r\n\v\f\0\u00a0"\'`<>|;&,(){}[]'.includes(String.fromCharCode(code)) ? 1 : 0,
)

/** What programs write before a quote to say which kind of string it is: `b'…'`, `f"…"`, `r#"…"`, `@"…"`, `$'…'`. */
export const STRING_PREFIX = `(?:[rRbBfFuUL]{1,2}|[$@]{1,2}|b?r?#{1,3})?`
/** Strings that are one value in several pieces: `"ab" + "cd"`, or one below the other. */
const CONTINUED = new RegExp(
  String.raw`\\{0,7}["'\x60][ \t]{0,8}(?:[+.\\][ \t]{0,8}(?:\r?\n[ \t]{0,60})?|\r?\n[ \t]{1,60}(?:[+.][ \t]{0,4})?)${STRING_PREFIX}(?<slashes>\\{0,7})(?<quote>["'\x60])`,
  'y',
)
const MOST_PIECES = 20
const TRIPLE_LINE = /\\?\r?\n[ \t]{0,60}/y

/** The quote that opens a value, and how many backslashes are before it. */
export interface OpenQuote {
  sign: string
  slashes: number
}

/** From behind the opening quote to the closing one. Without one on the line, the value ends as if it had no quotes: the text was cut. */
export function quotedSpan(text: string, start: number, quote: OpenQuote): Span | undefined {
  if (quote.slashes === 0 && text.startsWith(quote.sign.repeat(2), start)) {
    const triple = tripleSpan(text, start + 2, quote.sign)
    if (triple) return triple
  }
  const end = closingQuote(text, start, quote) ?? unquotedEnd(text, start)
  return end === undefined || end <= start ? undefined : { start, end }
}

/** `"""…"""`: the first line of it. */
function tripleSpan(text: string, opened: number, sign: string): Span | undefined {
  TRIPLE_LINE.lastIndex = opened
  const start = TRIPLE_LINE.test(text) ? TRIPLE_LINE.lastIndex : opened
  const near = text.slice(start, start + VALUE_REACH)
  const close = near.indexOf(sign.repeat(3))
  const line = near.indexOf('\n')
  const length = line < 0 ? close : Math.min(line, close)
  return length > 0 ? { start, end: start + near.slice(0, length).trimEnd().length } : undefined
}

/**
 * A quote with more backslashes than the opening one has is part of the value, unless they are backslashes of the value: each of those
 * is written as twice as many as stand before a quote, and one more.
 */
function closingQuote(text: string, start: number, { sign, slashes }: OpenQuote): number | undefined {
  const limit = Math.min(text.length, start + VALUE_REACH)
  const code = sign.charCodeAt(0)
  for (let at = start; at < limit; at += 1) {
    const letter = text.charCodeAt(at)
    if (letter === 10 && text.charCodeAt(at - 1) !== 92) return undefined
    if (letter !== code) continue
    const before = slashesBefore(text, start, at)
    if (before < slashes) return at - before
    if ((before - slashes) % (2 * (slashes + 1)) !== 0) continue
    // YAML and SQL write a quote within quotes twice.
    if (code === 39 && before === 0 && at > start && text.charCodeAt(at + 1) === 39) at += 1
    else return at - slashes
  }
  return undefined
}

function slashesBefore(text: string, start: number, at: number): number {
  let from = at
  while (from > start && at - from < 16 && text.charCodeAt(from - 1) === 92) from -= 1
  return at - from
}

/** Not the whole of a long one: enough to judge by. Of a value that is believed, the rest is taken too. */
export function unquotedEnd(text: string, start: number): number | undefined {
  const limit = Math.min(text.length, start + LOOK_AT)
  let end = start
  while (end < limit) {
    const code = text.charCodeAt(end)
    if (UNQUOTED_STOPS[code] === 1 || (code === 92 && /[nrt"'`\\]/.test(text[end + 1] ?? ''))) break
    end += 1
  }
  return end === start ? undefined : end
}

/** All of a value that is believed: the tail of a long one, and the other pieces of one that was put together. */
export function wholeValue(text: string, { start, end }: Span, reached: number): Span {
  let last = end
  for (
    let next: number | undefined = end;
    next !== undefined && last - start >= LOOK_AT;
    next = unquotedEnd(text, last)
  ) {
    last = next
    if (last < reached) return { start, end: reached }
  }
  for (let piece = 0; piece < MOST_PIECES; piece += 1) {
    CONTINUED.lastIndex = last
    const { slashes = '', quote } = CONTINUED.exec(text)?.groups ?? {}
    if (quote === undefined) break
    const more = quotedSpan(text, CONTINUED.lastIndex, { sign: quote, slashes: slashes.length })
    if (!more) break
    last = more.end
  }
  return { start, end: last }
}
