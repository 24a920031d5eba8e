import { truncateToWidth as cut } from '../screen/display-width.js'

/** A turn to choose from. */
export interface TurnRow {
  number: number
  /** One line: age, prompt, what it did. */
  label: string
  /** What is shown of the chosen one, line by line. */
  preview: readonly string[]
}

/** Where somebody is in a list: what was typed to narrow it, and which row is marked. */
export class TurnList {
  #typed = ''
  #at = 0

  constructor(private readonly rows: readonly TurnRow[]) {
    this.#at = Math.max(0, rows.length - 1)
  }

  get typed(): string {
    return this.#typed
  }

  /** Rows that have all typed characters, in their order. */
  get shown(): readonly TurnRow[] {
    return this.#typed === '' ? this.rows : this.rows.filter(({ label }) => isLike(label, this.#typed))
  }

  get marked(): TurnRow | undefined {
    return this.shown[this.#at]
  }

  type(text: string): void {
    this.#typed += text
    this.#at = Math.max(0, this.shown.length - 1)
  }

  erase(): void {
    this.#typed = [...this.#typed].slice(0, -1).join('')
    this.#at = Math.max(0, this.shown.length - 1)
  }

  move(by: number): void {
    this.#at = Math.min(Math.max(0, this.#at + by), Math.max(0, this.shown.length - 1))
  }

  /** The screen as lines that fit it. */
  draw({ rows, columns }: { rows: number; columns: number }): string[] {
    const below = Math.max(0, Math.min(8, rows - 6))
    const room = Math.max(1, rows - below - 3)
    const shown = this.shown
    const first = Math.max(0, Math.min(this.#at - Math.floor(room / 2), shown.length - room))
    const list = shown.slice(first, first + room).map((row, index) => {
      const isMarked = first + index === this.#at
      return `${isMarked ? '\x1b[7m' : ''}${cut(`${isMarked ? '> ' : '  '}${row.label}`, columns)}\x1b[0m`
    })
    const preview = (this.marked?.preview ?? []).slice(0, below).map((line) => cut(`  ${line}`, columns))
    const help = 'type to filter, arrows to move, Enter to choose, Escape to leave'
    return [
      cut(`Turn? ${this.#typed}`, columns),
      ...list,
      cut('─'.repeat(columns), columns),
      ...preview,
      cut(help, columns),
    ]
  }
}

function isLike(label: string, typed: string): boolean {
  const text = label.toLowerCase()
  let at = -1
  for (const character of typed.toLowerCase()) {
    if (character === ' ') continue
    at = text.indexOf(character, at + 1)
    if (at < 0) return false
  }
  return true
}
