import type { Screen } from '../run/tool-runner.js'
import type { InputShape, Region } from './rules.js'
import { LINE_LIMIT } from './safe-regex.js'

const MOST_LINES = 300
/** How far below the input line its own footer may reach. */
const MOST_FOOTER_LINES = 24

/** A screen taken apart: what stands above the input line, in it, and below it. */
export interface Layout {
  /** All lines, cleaned, without the empty ones at the end. */
  readonly lines: readonly string[]
  /** The same lines with the frames that are drawn around them. */
  readonly framed: readonly string[]
  readonly above: readonly string[]
  /** Undefined when there is no place to type: a dialog, another view, or a program that has not drawn itself yet. */
  readonly input?: readonly string[]
  readonly footer: readonly string[]
  /** The last paragraph of the screen, in one line: where dialogs say how to answer them. A narrow screen wraps it. */
  readonly hint: string
  readonly width: number
}

export function layoutOf(screen: Screen, shape: InputShape | undefined, frame: string | undefined): Layout {
  const framed = cleaned(screen.lines, undefined)
  const lines = frame ? cleaned(screen.lines, frame) : framed
  const whole = { lines, framed, hint: lastParagraph(lines), width: screen.width }
  const box = shape && (shape.side ? findBox(framed, shape) : findInput(lines, shape))
  if (!box) return { ...whole, above: lines, footer: [] }
  return {
    ...whole,
    above: lines.slice(0, box.start),
    input: lines.slice(box.first, box.end),
    footer: lines.slice(box.end),
  }
}

/** The lines that a rule looks at. */
export function linesOf(layout: Layout, region: Region, count: number): readonly string[] {
  switch (region) {
    case 'hint':
      return [layout.hint]
    case 'input':
      return layout.input ?? []
    case 'footer':
      return layout.footer
    case 'above':
      return lastFull(layout.above, count)
    case 'flush':
      // Programs that indent all that belongs to an item: its first line alone starts at the edge.
      return layout.above.filter((line) => /^\S/.test(line)).slice(-count)
    case 'bottom':
      return lastFull(layout.lines, count)
    case 'screen':
      return layout.lines
  }
}

const lastFull = (lines: readonly string[], count: number): readonly string[] =>
  lines.filter((line) => line !== '').slice(-count)

/** No control characters, no non-breaking spaces, no frame at the edges, no space at the end, nothing endless. */
function cleaned(lines: readonly string[], frame: string | undefined): string[] {
  const result = lines.slice(-MOST_LINES).map((line) => {
    const text = line.slice(0, 4 * LINE_LIMIT).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '')
    const plain = text.replace(/[\t\u00a0]/g, ' ').slice(0, LINE_LIMIT)
    return (frame ? withoutFrame(plain, frame) : plain).trimEnd()
  })
  while (result.at(-1) === '') result.pop()
  return result
}

const BORDER = /^[\s─━═╭╮╰╯┌┐└┘├┤╔╗╚╝▄▀]*$/

/** Boxes may stand in boxes; a line that is nothing but a border becomes empty, so that it ends a paragraph. */
function withoutFrame(line: string, frame: string): string {
  let start = 0
  let end = line.trimEnd().length
  for (let depth = 0; depth < 2; depth += 1) {
    let at = start
    while (line[at] === ' ') at += 1
    if (at >= end || !frame.includes(line[at] ?? ' ')) break
    start = at + 1
    if (end - 1 > start && frame.includes(line[end - 1] ?? ' ')) end = line.slice(0, end - 1).trimEnd().length
  }
  const inside = line.slice(start, Math.max(start, end))
  return start > 0 || /[╭╰┌└]/.test(inside) ? (BORDER.test(inside) ? '' : inside) : inside
}

function lastParagraph(lines: readonly string[]): string {
  let start = lines.length
  while (start > 0 && lines[start - 1] !== '' && lines.length - start < 8) start -= 1
  return lines
    .slice(start)
    .map((line) => line.trim())
    .join(' ')
}

/** Where the input line is: `start` is its upper edge, `first` to `end` its own lines. */
function findInput(
  lines: readonly string[],
  shape: InputShape,
): { start: number; first: number; end: number } | undefined {
  const lowest = Math.max(0, lines.length - MOST_FOOTER_LINES)
  if (!shape.edge) {
    const first = lines.findLastIndex((line, at) => at >= lowest && shape.prompt.test(line))
    if (first < 0) return undefined
    const blank = lines.findIndex((line, at) => at > first && line === '')
    return { start: first, first, end: blank < 0 ? lines.length : blank }
  }
  const edge = shape.edge
  const end = lines.findLastIndex((line, at) => at >= lowest && edge.test(line))
  if (end < 0) return undefined
  const start = lines.findLastIndex((line, at) => at < end && edge.test(line))
  return start >= 0 && shape.prompt.test(lines[start + 1] ?? '') ? { start, first: start + 1, end } : undefined
}

/** The same where a line is drawn beside the input: its box stands right above the lower edge. */
function findBox(
  framed: readonly string[],
  { edge, side }: InputShape,
): { start: number; first: number; end: number } | undefined {
  const lowest = Math.max(0, framed.length - MOST_FOOTER_LINES)
  const end = framed.findLastIndex((line, at) => at >= lowest && edge?.test(line))
  if (end < 0) return undefined
  const above = framed.slice(0, end).findLastIndex((line) => !side?.test(line))
  const [first, last] = [above + 2, end - 2]
  return first < last ? { start: above + 1, first, end: last } : undefined
}
