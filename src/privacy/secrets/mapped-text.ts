import type { Span } from '../mark.js'

/** A text made from another, piece by piece: what is found in it can be located in the original. */
export class MappedText {
  /** Three numbers for each piece: where it begins here, and where it begins and ends in the text it was made from. */
  readonly #pieces: number[] = []
  #text = ''

  constructor(private readonly source?: MappedText) {}

  get text(): string {
    return this.#text
  }

  /** A piece that is the same in both texts. */
  copy(text: string, from: number, to: number): void {
    if (to > from) this.#add(text.slice(from, to), from, to)
  }

  /** What is written in several characters and means others. Each of these is a piece of its own. */
  replace(meaning: string, from: number, to: number): void {
    if (meaning.length === 1) {
      this.#add(meaning, from, to)
      return
    }
    const each = (to - from) / meaning.length
    for (let at = 0; at < meaning.length; at += 1)
      this.#add(meaning.charAt(at), from + Math.floor(at * each), from + Math.floor((at + 1) * each))
  }

  /** Where a stretch comes from: what was left out inside of it belongs to it, what was left out beside it does not. */
  originalSpan(start: number, end: number): Span {
    const [first, last] = [this.#pieceAt(start), this.#pieceAt(end - 1)]
    const span = {
      start: first.isCopy ? first.from + start - first.here : first.from,
      end: last.isCopy ? last.from + end - last.here : last.to,
    }
    return this.source ? this.source.originalSpan(span.start, span.end) : span
  }

  #add(part: string, from: number, to: number): void {
    this.#pieces.push(this.#text.length, from, to)
    this.#text += part
  }

  #pieceAt(offset: number): { here: number; from: number; to: number; isCopy: boolean } {
    const pieces = this.#pieces
    let [low, high] = [0, pieces.length / 3 - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((pieces[3 * middle] as number) <= offset) low = middle
      else high = middle - 1
    }
    const [here = 0, from = 0, to = 0, next = this.#text.length] = pieces.slice(3 * low, 3 * low + 4)
    return { here, from, to, isCopy: to - from === next - here }
  }
}

/** A text with all that fits the pattern replaced by its meaning. Undefined when nothing does. */
export function rewritten(
  text: string,
  pattern: RegExp,
  meaning: (match: RegExpExecArray) => string,
  source?: MappedText,
): MappedText | undefined {
  let made: MappedText | undefined
  let from = 0
  for (const match of text.matchAll(pattern)) {
    made ??= new MappedText(source)
    made.copy(text, from, match.index)
    from = match.index + match[0].length
    made.replace(meaning(match), match.index, from)
  }
  made?.copy(text, from, text.length)
  return made
}
