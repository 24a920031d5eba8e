import type { Span } from '../mark.js'
import { runEnd } from './rule.js'

const KEY_HEADER =
  /(?:-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY ----)/y
const KEY_FOOTER = /-{4,6} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}/y
/** Between two lines of a key: line ends, also those written as `\n`, with indentation, quotes and what joins strings. */
const KEY_BREAK = /(?:\\{1,3}[rnt]|[\s"'`+,;\\]){1,80}/y
const KEY_FACT = /[A-Z][A-Za-z0-9-]{2,20}: [^\n\\"]{0,120}/y
/** A line of a text, or of a text that was written as JSON. */
const LINE_END = /\r?\n|(?:\\{1,3}r)?\\{1,3}n/
const LINE_ENDS = new RegExp(LINE_END.source, 'g')
/** What stands before each line when a key is listed with numbers, quoted, commented out, or found by grep; then the key's own part. */
const LISTED_LINE = /^(?<prefix>.{0,260}?)(?<run>[A-Za-z0-9+/=]{1,120})[ \t"'`,+;]{0,4}$/
/** Before the first line of base64: nothing, or what an encrypted key says of itself. */
const LISTED_FACT = /^(?:[^A-Za-z]{0,40}|\S{0,200}[:-][0-9]{1,6}[:-]\s?)(?:[A-Z][A-Za-z0-9-]{2,20}: .{0,120})?$/
/** A whole line of a key has 64 characters, in some programs 70 or 76. */
const WHOLE_LINE = 40
/** The longest key that anybody has, with what stands before its lines. */
const LONGEST_BLOCK = 24_000
const LONGEST_LINE = 500
/** Of a key whose beginning is not there. */
const LONGEST_TAIL = 10_000

/** From the header to the footer; a block that was cut off ends where its lines end, and begins there if its beginning was cut off. */
export function privateKeyBlock(text: string, at: number, reached: number): Span | undefined {
  if (at < reached) return undefined
  const from = Math.max(0, at - 56)
  const near = text.slice(from, at)
  const dashes = near.search(/-{4,5} ?BEGIN [A-Z0-9 ]{0,40}$/)
  if (dashes >= 0) return blockFrom(text, from + dashes)
  const ending = near.search(/-{4,6} ?END [A-Z0-9 ]{0,40}$/)
  return ending < 0 ? undefined : blockBefore(text, from + ending, reached)
}

function blockFrom(text: string, start: number): Span | undefined {
  KEY_HEADER.lastIndex = start
  if (!KEY_HEADER.test(text)) return undefined
  const header = KEY_HEADER.lastIndex
  const end = Math.max(keyLinesEnd(text, header), listedLinesEnd(text, header))
  KEY_BREAK.lastIndex = end
  KEY_FOOTER.lastIndex = KEY_BREAK.test(text) ? KEY_BREAK.lastIndex : end
  return { start, end: KEY_FOOTER.test(text) ? KEY_FOOTER.lastIndex : end }
}

/** Where the lines of base64 from `at` end. A word behind a blank is no line of a key. */
export function keyLinesEnd(text: string, at: number): number {
  let end = at
  for (;;) {
    KEY_BREAK.lastIndex = end
    const from = KEY_BREAK.test(text) ? KEY_BREAK.lastIndex : end
    KEY_FACT.lastIndex = from
    const stop = KEY_FACT.test(text) ? KEY_FACT.lastIndex : runEnd(text, from, 'base64')
    const isNewLine = from === at || /[\n\\]/.test(text.slice(end, from))
    if (stop === from || (!isNewLine && stop - from < 40)) return end
    end = stop
  }
}

/** The same where something stands before every line. The first whole line says what; the others have it, too. */
function listedLinesEnd(text: string, at: number): number {
  let end = at
  let shape: string | undefined
  let skipped = 0
  for (const { line, stop } of linesOf(text, at)) {
    const { prefix = '', run = '' } = LISTED_LINE.exec(line)?.groups ?? {}
    if (shape === undefined && isWholeLine(run)) shape = shapeOf(prefix)
    else if (shape === undefined && skipped < 6 && LISTED_FACT.test(line)) {
      skipped += 1
      continue
    }
    if (shape === undefined || run === '' || shapeOf(prefix) !== shape) break
    end = stop
  }
  return end
}

/** Lines of a key that end in a footer: a file was read from its middle on. */
function blockBefore(text: string, footer: number, reached: number): Span | undefined {
  // Most footers have their header, and what is before one that has none is no key: the line before it tells.
  const near = Math.max(reached, footer - 2 * LONGEST_LINE)
  if (!/[A-Za-z0-9+/=]{40}/.test(text.slice(near, footer))) return undefined
  const lines = linesBefore(text, Math.max(reached, footer - LONGEST_TAIL), footer)
  let start: number | undefined
  let shape: string | undefined
  let isKey = false
  for (const { line, begin } of lines) {
    if (/^[\s"'`+,;]*$/.test(line)) continue // what joins the strings of a program
    const { prefix = '', run = '' } = LISTED_LINE.exec(line)?.groups ?? {}
    shape ??= shapeOf(prefix)
    const isLast = start === undefined
    if (run === '' || shapeOf(prefix) !== shape || (!isLast && run.length < WHOLE_LINE)) break
    isKey ||= isWholeLine(run)
    start = begin + prefix.length
  }
  KEY_FOOTER.lastIndex = footer
  return isKey && start !== undefined && KEY_FOOTER.test(text) ? { start, end: KEY_FOOTER.lastIndex } : undefined
}

/** Not a path, not a hash in hex. */
const isWholeLine = (run: string): boolean =>
  run.length >= WHOLE_LINE && /[A-Z]/.test(run) && /[a-z]/.test(run) && /[0-9]/.test(run)

/** Numbers count up and are padded: `     9→` and `    10→` are of one shape. */
const shapeOf = (prefix: string): string => prefix.replace(/[0-9]+/g, '0').replace(/\s+/g, ' ')

/** Up to the first line that is longer than any of a listing. */
function* linesOf(text: string, at: number): Generator<{ line: string; stop: number }> {
  const last = Math.min(text.length, at + LONGEST_BLOCK)
  for (let begin = at; begin <= last; ) {
    const near = text.slice(begin, Math.min(last, begin + LONGEST_LINE))
    const end = LINE_END.exec(near)
    if (!end && near.length === LONGEST_LINE) return
    const line = end ? near.slice(0, end.index) : near
    yield { line, stop: begin + line.length }
    if (!end) return
    begin += end.index + end[0].length
  }
}

/** The last one first, without the one that ends at `end`. */
function linesBefore(text: string, from: number, end: number): { line: string; begin: number }[] {
  const lines: { line: string; begin: number }[] = []
  let begin = 0
  const block = text.slice(from, end)
  for (const { index, 0: sign } of block.matchAll(LINE_ENDS)) {
    lines.push({ line: block.slice(begin, index), begin: from + begin })
    begin = index + sign.length
  }
  return lines.reverse()
}
