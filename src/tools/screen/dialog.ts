import { type Dialog, type DialogOption, WRAPPED } from '../run/tool-runner.js'
import type { Layout } from './layout.js'
import type { DialogShape, Meaning, ThingShape } from './rules.js'
import { LINE_LIMIT } from './safe-regex.js'

/** How far above the options a question is looked for. */
const QUESTION_REACH = 40

interface Row {
  readonly label: string
  readonly isSelected: boolean
  readonly line: number
}

/**
 * The dialog that stands on the screen, or undefined when its options cannot be read for certain: a list without a marked
 * row is text that looks like one. The marked row leads: numbers count up and down from it, or labels stand in its column.
 */
export function readDialog(layout: Layout, shape: DialogShape, meanings: readonly Meaning[]): Dialog | undefined {
  const rows = shape.row ? horizontalRows(layout.lines, shape.row) : verticalRows(layout, shape.marker)
  const first = rows[0]
  if (!first || rows.length < 2) return undefined
  const question = questionAbove(layout.lines, first.line, shape.question)
  return {
    kind: shape.kind,
    question,
    ...subjectAbove(layout, first.line, shape, question),
    options: rows.map(({ label, isSelected }): DialogOption => ({ label, isSelected, meaning: meaningOf(label) })),
    axis: shape.row ? 'horizontal' : 'vertical',
  }

  /** The answers to a question mean what the one who asked says, whatever their words. */
  function meaningOf(label: string): DialogOption['meaning'] {
    if (shape.kind === 'question') return 'other'
    const plain = label.replaceAll('’', "'") // programs write it either way
    return meanings.find((meaning) => meaning.label.test(plain))?.meaning ?? 'other'
  }
}

/** Labels beside each other in one row, the lowest that has them all in this order. Which is chosen, only colour tells. */
function horizontalRows(lines: readonly string[], labels: readonly string[]): Row[] {
  const line = lines.findLastIndex((text) => {
    let from = 0
    return labels.every((label) => {
      const at = text.indexOf(label, from)
      from = at + label.length
      return at >= 0
    })
  })
  return line < 0 ? [] : labels.map((label) => ({ label, isSelected: false, line }))
}

function verticalRows({ lines, width }: Layout, marker: string): Row[] {
  const marked = markedLine(lines, marker)
  if (marked === undefined) return []
  const text = lines[marked] ?? ''
  const column = text.indexOf(marker) + marker.length + 1
  const number = /^(\d{1,2})\. /.exec(text.slice(column))
  return number
    ? numberedRows(lines, { marked, column, number: Number(number[1]), width })
    : columnRows(lines, marked, column)
}

/** The lowest row that starts with the marker. Should a wrapped label start with the same sign, its rows do not add up, and nothing is read. */
function markedLine(lines: readonly string[], marker: string): number | undefined {
  const lowest = lines.length - QUESTION_REACH
  const found = lines.findLastIndex((text, line) => line >= lowest && text.trimStart().startsWith(`${marker} `))
  return found < 0 ? undefined : found
}

interface Numbered {
  readonly marked: number
  readonly column: number
  readonly number: number
  readonly width: number
}

function numberedRows(lines: readonly string[], { marked, column, number, width }: Numbered): Row[] {
  const upper: Row[] = []
  for (let line = marked - 1, wanted = number - 1; wanted >= 1 && line >= 0; line -= 1) {
    const row = rowAt(line, wanted)
    if (row) {
      upper.unshift(row)
      wanted -= 1
    } else if (!belongsToRow(lines[line] ?? '', column)) return []
  }
  const lower: Row[] = []
  for (let line = marked + 1, wanted = number + 1; line < lines.length; line += 1) {
    const row = rowAt(line, wanted)
    if (row) {
      lower.push(row)
      wanted += 1
    } else if (!belongsToRow(lines[line] ?? '', column)) break
  }
  const own = rowAt(marked, number)
  return own ? [...upper, { ...own, isSelected: true }, ...lower] : []

  function rowAt(line: number, wanted: number): Row | undefined {
    const text = lines[line] ?? ''
    const prefix = `${wanted}. `
    if (!text.startsWith(prefix, column)) return undefined
    if (line !== marked && text.slice(0, column).trim() !== '') return undefined
    return { label: labelFrom(lines, line, column + prefix.length, width), isSelected: false, line }
  }
}

const DIVIDER = /^\s*[─╌▔]{10,}$/

/** Between two rows: descriptions and wrapped labels, further in than the numbers; a dividing line; nothing. */
const belongsToRow = (text: string, column: number): boolean =>
  text === '' || DIVIDER.test(text) || (text.slice(0, column).trim() === '' && text[column] === ' ')

/** A label continues in the next line only if its next word did not fit; any other text there describes it. */
function labelFrom(lines: readonly string[], line: number, column: number, width: number): string {
  let label = (lines[line] ?? '').slice(column)
  for (let next = line + 1, last = lines[line] ?? ''; ; next += 1) {
    const text = lines[next] ?? ''
    const word = text.trimStart().split(' ', 1)[0] ?? ''
    const isWrapped = word !== '' && text.slice(0, column).trim() === '' && last.length + 1 + word.length > width - 4
    if (!isWrapped) return firstColumn(label)
    label += ` ${text.trim()}`
    last = text
  }
}

/** What describes an option may stand beside it, in a column of its own. */
const firstColumn = (text: string): string => text.trim().split(/ {2,}/, 1)[0] ?? ''

/** Rows without numbers: the lines right above and below whose text starts in the same column. */
function columnRows(lines: readonly string[], marked: number, column: number): Row[] {
  const isRow = (line: number): boolean => {
    const text = lines[line] ?? ''
    return text.slice(0, column).trim() === '' && text[column] !== undefined && text[column] !== ' '
  }
  let first = marked
  while (isRow(first - 1)) first -= 1
  let last = marked
  while (isRow(last + 1)) last += 1
  return Array.from({ length: last - first + 1 }, (_, at) => {
    const line = first + at
    return { label: firstColumn((lines[line] ?? '').slice(column)), isSelected: line === marked, line }
  })
}

/** The upper edge of a dialog may have something else written in it. */
const EDGE = /^\s*[─╌▔]{10,}/

/** Claude Code draws one beside a command of several lines. */
const GUTTER = /^ *│( |$)/

/** A program that shows less than it was given says so at the end of a line. */
const CUT = /(…|\.\.\.)$|^\s*(…|\.\.\.) |[+…] ?\d+ (more )?lines?\b/

/**
 * From the dialog's first line to its options; where it has none that we know, from its question on. What an agent wants to
 * run may look like anything, a question included: so of several it is the highest, and rather too much counts than too little.
 */
function subjectAbove(
  { lines, framed, width }: Layout,
  first: number,
  { top, question, thing }: DialogShape,
  asked: string,
): Pick<Dialog, 'subject' | 'thing' | 'isCut' | 'isTopless'> {
  if (!top && !question) return { subject: asked }
  const found = top
    ? framed.findLastIndex((text, line) => line < first && top.test(text))
    : lines.findIndex((text, line) => line < first && question?.test(text))
  const start = Math.max(found, 0)
  const shown = lines.slice(start, first)
  // A heading may be shorter than what it heads.
  const isCut = found < 0 || shown.slice(1).some((line) => line.length >= LINE_LIMIT || CUT.test(line))
  const subject = shown
    .filter((line, at) => line !== '' && !DIVIDER.test(line) && !(at === 0 && EDGE.test(line)))
    .map((line) => line.replace(GUTTER, '').trim())
    .join('\n')
  const text = thing && thingIn(shown, framed.slice(start, first), thing, width)
  return {
    subject,
    ...(text === undefined ? {} : { thing: text }),
    ...(isCut ? { isCut } : {}),
    ...(found < 0 ? { isTopless: true } : {}),
  }
}

/** Of a dialog whose upper part is not on the screen, what can be seen of it. */
function thingIn(
  lines: readonly string[],
  framed: readonly string[],
  { below, after, above }: ThingShape,
  width: number,
): string | undefined {
  const end = above ? framed.findLastIndex((line) => above.test(line)) : lines.length
  const from = framed.findIndex((line) => (below ?? after)?.test(line))
  const start = below ? (from < end ? from + 1 : 0) : from
  if (end < 0 || start < 0 || start >= end) return undefined
  const shown = lines.slice(start, end).map((line) => line.replace(GUTTER, ''))
  const own = withoutMargin(shown.map((line, at) => (at === 0 && after ? line.replace(after, '') : line)))
  const text = own.map((line, at) => {
    const next = shown[at + 1]
    return next === undefined ? line : line + (mayWrap(shown[at] ?? '', next, width) ? WRAPPED : '\n')
  })
  return text.join('').trim()
}

/** How far a line is set in may be what it says. */
function withoutMargin(lines: readonly string[]): string[] {
  const margins = lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length)
  const margin = Math.min(...margins)
  return lines.map((line) => line.slice(margin).trimEnd())
}

/** Frames, gutters and margins take this much of a line at most. */
const MARGINS = 12

/** Whether a line may end where it does because what follows did not fit: else there is a new line in the text itself. */
const mayWrap = (line: string, next: string, width: number): boolean =>
  line.length + 1 + (next.trimStart().split(' ', 1)[0] ?? '').length > width - MARGINS

/** The rule's own line with what follows of its paragraph, else the paragraph right above the options. */
function questionAbove(lines: readonly string[], first: number, wanted: RegExp | undefined): string {
  const isText = (line: number): boolean => {
    const text = lines[line] ?? ''
    return text.trim() !== '' && !/^\s*[─╌▔]{10,}/.test(text)
  }
  const lowest = Math.max(0, first - QUESTION_REACH)
  if (wanted) {
    const start = lines.findLastIndex((text, line) => line >= lowest && line < first && wanted.test(text))
    if (start < 0) return ''
    let end = start
    while (end + 1 < first && isText(end + 1)) end += 1
    return joined(start, end)
  }
  let end = first - 1
  while (end > lowest && !isText(end)) end -= 1
  let start = end
  while (start > lowest && isText(start - 1)) start -= 1
  return joined(start, end)

  function joined(start: number, end: number): string {
    return lines
      .slice(start, end + 1)
      .map((text) => text.trim())
      .join(' ')
  }
}
