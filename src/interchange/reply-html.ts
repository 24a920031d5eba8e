import { htmlText } from './html-text.js'
import { fenceAt, isRule, itemAt, tableAt, tableCells, underlineOf } from './reply-lines.js'
import { type Effort, wordsHtml } from './reply-words.js'
import { visibleText } from './visible-text.js'

/** Quotes and lists nest this deep; what is deeper is shown as it is written. It bounds the work and the depth of the page. */
const DEEPEST = 8
/** The page's own headings are above those of a reply. */
const PAGE_HEADINGS = 3

/**
 * The Markdown of a reply as HTML. It makes only the elements named in this file and in reply-words.ts, all text in them is escaped, and
 * HTML in the reply is text. The work is linear in the length of the reply.
 */
export function replyHtml(reply: string, effort: Effort = { looked: 0 }): string {
  return new Blocks(visibleText(reply).split('\n').map(withoutTabs), effort, 0).html()
}

class Blocks {
  readonly #parts: string[] = []
  #at = 0

  constructor(
    private readonly lines: readonly string[],
    private readonly effort: Effort,
    private readonly depth: number,
    /** The paragraphs of a list without blank lines are not set apart. */
    private readonly isTight = false,
  ) {}

  html(): string {
    for (const line of this.lines) this.effort.looked += line.length + 1
    while (this.#at < this.lines.length) {
      if (isBlank(this.#line())) this.#at += 1
      else this.#block()
    }
    return this.#parts.join('\n')
  }

  #line(): string {
    return this.lines[this.#at] ?? ''
  }

  #block(): void {
    const line = this.#line()
    const heading = headingAt(line)
    if (this.depth >= DEEPEST) this.#paragraph()
    else if (line.startsWith('    ')) this.#indented()
    else if (heading) this.#heading(heading.level, heading.text)
    else if (fenceAt(line)) this.#fenced()
    else if (isRule(line)) this.#rule()
    else if (isQuote(line)) this.#quote()
    else if (itemAt(line)) this.#list()
    else if (tableAt(line, this.lines[this.#at + 1]) > 0) this.#table()
    else this.#paragraph()
  }

  #rule(): void {
    this.#parts.push('<hr>')
    this.#at += 1
  }

  #words(text: string): string {
    return wordsHtml(text, this.effort)
  }

  #heading(level: number, text: string): void {
    const tag = `h${Math.min(6, level + PAGE_HEADINGS)}`
    this.#parts.push(`<${tag}>${this.#words(text)}</${tag}>`)
    this.#at += 1
  }

  /** The parser drops one line end right after the tag, so that the text's own first one stays. */
  #code(lines: readonly string[]): void {
    this.#parts.push(`<pre dir="auto">\n${htmlText(lines.join('\n'))}</pre>`)
  }

  #indented(): void {
    const start = this.#at
    while (this.#at < this.lines.length && (isBlank(this.#line()) || this.#line().startsWith('    '))) this.#at += 1
    let end = this.#at
    while (isBlank(this.lines[end - 1] ?? '')) end -= 1
    this.#code(this.lines.slice(start, end).map((line) => line.slice(4)))
  }

  #fenced(): void {
    const fence = fenceAt(this.#line())
    if (!fence) return
    const start = this.#at + 1
    do this.#at += 1
    while (this.#at < this.lines.length && !fence.isEndedBy(this.#line()))
    this.#code(this.lines.slice(start, this.#at).map((line) => withoutIndent(line, fence.indent)))
    this.#at += 1
  }

  #quote(): void {
    const lines: string[] = []
    for (; this.#at < this.lines.length && isQuote(this.#line()); this.#at += 1)
      lines.push(this.#line().replace(/^ {0,3}> ?/, ''))
    this.#parts.push(`<blockquote>\n${new Blocks(lines, this.effort, this.depth + 1).html()}\n</blockquote>`)
  }

  #list(): void {
    const first = itemAt(this.#line())
    if (!first) return
    const items: string[][] = []
    for (
      let item = itemAt(this.#line());
      item?.kind === first.kind && !isRule(this.#line());
      item = itemAt(this.#line())
    )
      items.push(this.#item(item.indent))
    const last = items.length - 1
    const isTight = items.every((lines, at) => !(at < last ? lines : lines.slice(0, filled(lines))).some(isBlank))
    const start = first.number === undefined || first.number === 1 ? '' : ` start="${first.number}"`
    const tag = first.number === undefined ? 'ul' : 'ol'
    const inside = items.map((lines) => `<li>${new Blocks(lines, this.effort, this.depth + 1, isTight).html()}</li>`)
    this.#parts.push(`<${tag}${start}>\n${inside.join('\n')}\n</${tag}>`)
  }

  /** The lines of one item without their indentation; also lines of its paragraph that lack it. */
  #item(indent: number): string[] {
    const lines = [this.#line().slice(indent)]
    for (this.#at += 1; this.#at < this.lines.length; this.#at += 1) {
      const line = this.#line()
      const isWithin = isBlank(line) || line.startsWith(' '.repeat(indent))
      const goesOn = !isBlank(lines.at(-1) ?? '') && !itemAt(line) && !this.#interrupts()
      if (!isWithin && !goesOn) break
      lines.push(isWithin ? line.slice(indent) : line)
    }
    return lines
  }

  #table(): void {
    const columns = tableAt(this.#line(), this.lines[this.#at + 1])
    const [head = '', ...rows] = this.#tableRows().map((line, at) => this.#row(line, columns, at === 0 ? 'th' : 'td'))
    const body = rows.length === 0 ? '' : `\n<tbody>\n${rows.join('\n')}\n</tbody>`
    this.#parts.push(`<table>\n<thead>\n${head}\n</thead>${body}\n</table>`)
  }

  #tableRows(): string[] {
    const rows = [this.#line()]
    for (this.#at += 2; this.#at < this.lines.length; this.#at += 1) {
      if (isBlank(this.#line()) || this.#interrupts()) break
      rows.push(this.#line())
    }
    return rows
  }

  /** A short row stays short: filling up a wide table would make a page that is much longer than the reply. */
  #row(line: string, columns: number, tag: 'th' | 'td'): string {
    const cells = tableCells(line)
    const shown =
      cells.length > columns ? [...cells.slice(0, columns - 1), cells.slice(columns - 1).join(' | ')] : cells
    return `<tr>${shown.map((cell) => `<${tag}>${this.#words(cell)}</${tag}>`).join('')}</tr>`
  }

  #paragraph(): void {
    const start = this.#at
    const isPlain = this.depth >= DEEPEST
    for (this.#at += 1; this.#at < this.lines.length && !isBlank(this.#line()); this.#at += 1) {
      const level = isPlain ? undefined : underlineOf(this.#line())
      if (level !== undefined) {
        this.#heading(level, this.#joined(start))
        return
      }
      if (!isPlain && (this.#interrupts() || tableAt(this.#line(), this.lines[this.#at + 1]) > 0)) break
    }
    const words = this.#words(this.#joined(start))
    this.#parts.push(this.isTight ? words : `<p>${words}</p>`)
  }

  #joined(start: number): string {
    return this.lines
      .slice(start, this.#at)
      .map((line) => line.trim())
      .join('\n')
  }

  /** Whether the line ends a paragraph. A number does only when it is 1, because a line may begin with a year. */
  #interrupts(): boolean {
    const line = this.#line()
    const item = itemAt(line)
    const isItem = item !== undefined && line.length > item.indent && (item.number ?? 1) === 1
    return isItem || headingAt(line) !== undefined || fenceAt(line) !== undefined || isRule(line) || isQuote(line)
  }
}

const isBlank = (line: string): boolean => !/\S/.test(line)
const isQuote = (line: string): boolean => /^ {0,3}>/.test(line)

/** How many lines there are up to the last that is not blank. */
const filled = (lines: readonly string[]): number => lines.findLastIndex((line) => !isBlank(line)) + 1

function headingAt(line: string): { level: number; text: string } | undefined {
  const signs = /^ {0,3}(#{1,6})(?: |$)/.exec(line)
  if (!signs) return undefined
  const text = line.slice(signs[0].length).trim()
  let end = text.length
  while (text[end - 1] === '#') end -= 1
  const isClosed = end === 0 || text[end - 1] === ' '
  return { level: signs[1]?.length ?? 1, text: isClosed ? text.slice(0, end).trim() : text }
}

/** Tabs at the beginning of a line are worth up to four blanks. */
const withoutTabs = (line: string): string =>
  /^ *\t/.test(line) ? line.replace(/^[ \t]+/, (indent) => expanded(indent)) : line

function expanded(indent: string): string {
  let width = 0
  for (const sign of indent) width += sign === '\t' ? 4 - (width % 4) : 1
  return ' '.repeat(width)
}

function withoutIndent(line: string, most: number): string {
  let width = 0
  while (width < most && line[width] === ' ') width += 1
  return line.slice(width)
}
