import type { Span } from '../mark.js'

/** A text made from another, piece by piece: what is found in it can be located in the original. */
export class MappedText {
  /** Of each piece: where it begins here, and where it begins and ends in the text it was made from. */
  readonly #here: number[] = []
  readonly #from: number[] = []
  readonly #to: number[] = []
  #parts: string[] = []
  #length = 0
  #text: string | undefined

  constructor(private readonly source?: MappedText) {}

  get text(): string {
    if (this.#text === undefined) {
      this.#text = this.#parts.join('')
      this.#parts = []
    }
    return this.#text
  }

  /** A piece that is the same in both texts. */
  copy(text: string, from: number, to: number): void {
    if (to > from) this.#add(text.slice(from, to), from, to)
  }

  /** What is written in several characters and means others. Each of these is a piece of its own. */
  replace(meaning: string, from: number, to: number): void {
    const each = (to - from) / meaning.length
    for (let at = 0; at < meaning.length; at += 1)
      this.#add(meaning.charAt(at), from + Math.floor(at * each), from + Math.floor((at + 1) * each))
  }

  /** Where a stretch comes from: what was left out inside of it belongs to it, what was left out beside it does not. */
  originalSpan(start: number, end: number): Span {
    const [first, last] = [this.#pieceAt(start), this.#pieceAt(end - 1)]
    const span = {
      start: this.#isCopy(first) ? this.#fromOf(first) + start - this.#hereOf(first) : this.#fromOf(first),
      end: this.#isCopy(last) ? this.#fromOf(last) + end - this.#hereOf(last) : (this.#to[last] ?? 0),
    }
    return this.source ? this.source.originalSpan(span.start, span.end) : span
  }

  #add(part: string, from: number, to: number): void {
    this.#parts.push(part)
    this.#here.push(this.#length)
    this.#from.push(from)
    this.#to.push(to)
    this.#length += part.length
  }

  #hereOf(piece: number): number {
    return this.#here[piece] ?? 0
  }
  #fromOf(piece: number): number {
    return this.#from[piece] ?? 0
  }

  #isCopy(piece: number): boolean {
    const length = (this.#here[piece + 1] ?? this.#length) - this.#hereOf(piece)
    return (this.#to[piece] ?? 0) - this.#fromOf(piece) === length
  }

  #pieceAt(offset: number): number {
    let [low, high] = [0, this.#here.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#hereOf(middle) <= offset) low = middle
      else high = middle - 1
    }
    return low
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
