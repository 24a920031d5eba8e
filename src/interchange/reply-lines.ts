/** What one line of Markdown is. Each function looks at a line once, so that all of them take linear time. */

interface Fence {
  indent: number
  isEndedBy: (line: string) => boolean
}

/** The beginning of a block of code. */
export function fenceAt(line: string): Fence | undefined {
  const found = /^( {0,3})(`{3,}|~{3,})/.exec(line)
  if (!found) return undefined
  const [all, indent = '', signs = ''] = found
  const sign = signs.charAt(0)
  if (sign === '`' && line.includes('`', all.length)) return undefined
  return {
    indent: indent.length,
    isEndedBy: (other) => {
      const end = other.trim()
      return end.length >= signs.length && isRowOf(sign, end) && /^ {0,3}\S/.test(other)
    },
  }
}

interface Item {
  /** Items of one list are of one kind. */
  kind: string
  /** Of an ordered list. */
  number?: number
  /** Where the item's text begins. */
  indent: number
}

export function itemAt(line: string): Item | undefined {
  const found = /^ {0,3}(?:([-*+])|(\d{1,9})([.)]))( {0,5})/.exec(line)
  if (!found) return undefined
  const [all, bullet, digits, dot, gap = ''] = found
  const isEmpty = line.length === all.length
  if (gap === '' && !isEmpty) return undefined
  // More blanks than a list has before its text belong to the text, which is code then.
  const indent = all.length - gap.length + (gap.length > 4 || isEmpty ? 1 : gap.length)
  if (digits === undefined) return { kind: bullet ?? '', indent }
  return { kind: dot ?? '', number: Number(digits), indent }
}

/** `---`, also with blanks between. */
export function isRule(line: string): boolean {
  const sign = /^ {0,3}([-*_])/.exec(line)?.[1]
  if (sign === undefined) return false
  const signs = line.replace(/\s/g, '')
  return signs.length >= 3 && isRowOf(sign, signs)
}

/** The level of the heading that the line makes of the one above it. */
export function underlineOf(line: string): 1 | 2 | undefined {
  const sign = /^ {0,3}([-=])/.exec(line)?.[1]
  if (sign === undefined || !isRowOf(sign, line.trim())) return undefined
  return sign === '=' ? 1 : 2
}

/** How many columns the table has that begins here; 0 when none does. */
export function tableAt(line: string, next: string | undefined): number {
  if (next === undefined || !line.includes('|') || !/^ {0,3}[|:-]/.test(next)) return 0
  const columns = tableCells(next)
  if (!next.includes('-') || !columns.every(isDashes)) return 0
  return tableCells(line).length === columns.length ? columns.length : 0
}

/** The texts between the bars of a row. A bar after a backslash is text. */
export function tableCells(line: string): string[] {
  const row = line.trim()
  const cells: string[] = []
  let from = row.startsWith('|') ? 1 : 0
  for (let at = row.indexOf('|', from); at >= 0; at = row.indexOf('|', at + 1)) {
    if (row[at - 1] === '\\') continue
    cells.push(row.slice(from, at))
    from = at + 1
  }
  if (from < row.length) cells.push(row.slice(from))
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'))
}

function isDashes(cell: string): boolean {
  const dashes = cell.slice(cell.startsWith(':') ? 1 : 0, cell.length > 1 && cell.endsWith(':') ? -1 : undefined)
  return dashes !== '' && isRowOf('-', dashes)
}

function isRowOf(sign: string, text: string): boolean {
  for (const one of text) if (one !== sign) return false
  return true
}
