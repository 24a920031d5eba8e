import { htmlText } from './html-text.js'

/** Counts the characters that were looked at, so that a test can see that hostile text costs no more than plain text. */
export interface Effort {
  looked: number
}

/** A marker or a bracket that may turn out to open something. */
interface Opener {
  sign: string
  /** Where its text is among the parts. */
  at: number
  /** Where the words after it begin. */
  from: number
  /** Signs that are not used yet. */
  rest: string
  /** What the used ones became. */
  tags: string
}

/** So many markers stay open at once; the oldest becomes plain text. It bounds the work per marker, and how deep elements nest. */
const MOST_OPEN = 16
/** Longer rows of a sign are drawings, not markers. */
const LONGEST_MARKER = 3
const ADDRESS = /^(?:https?:\/\/[^/]|mailto:[^/])/i
const BARE_ADDRESS = /https?:\/\/[^\s<>[\]`"'|*]+/iy
const PLAIN = /[^\\`*_~[\]!<hH]+/y
const PUNCTUATION = /[!-/:-@[-`{-~]/
const WORD = /[\p{L}\p{N}]/u

/**
 * The words of a reply as HTML: emphasis, code, links. All text is escaped, and the only attributes are those of a link to http, https or
 * mailto. Other links, and all images, become their text with the address after it.
 */
export function wordsHtml(words: string, effort: Effort): string {
  return new Words(words, effort).html()
}

class Words {
  readonly #parts: string[] = []
  readonly #markers: Opener[] = []
  readonly #brackets: Opener[] = []
  /** Addresses that became links by themselves: within a link that was written they are text. */
  readonly #bare: { at: number; text: string }[] = []
  #lastTicks: Map<number, number> | undefined
  #at = 0

  constructor(
    private readonly words: string,
    private readonly effort: Effort,
  ) {}

  html(): string {
    while (this.#at < this.words.length) {
      const before = this.#at
      this.#next()
      this.effort.looked += this.#at - before
    }
    return this.#parts.join('')
  }

  #next(): void {
    const sign = this.words.charAt(this.#at)
    switch (sign) {
      case '\\':
        this.#escape()
        break
      case '`':
        this.#code()
        break
      case '*':
      case '_':
      case '~':
        this.#marker(sign)
        break
      case '[':
        this.#bracket('[')
        break
      case '!':
        if (this.words.charAt(this.#at + 1) === '[') this.#bracket('![')
        else this.#text('!')
        break
      case ']':
        this.#closeBracket()
        break
      case '<':
        this.#angle()
        break
      case 'h':
      case 'H':
        this.#bareAddress(sign)
        break
      default:
        this.#text(matched(PLAIN, this.words, this.#at) ?? sign)
        break
    }
  }

  #text(text: string): void {
    this.#parts.push(htmlText(text))
    this.#at += text.length
  }

  #escape(): void {
    const next = this.words.charAt(this.#at + 1)
    if (next !== '\n' && !PUNCTUATION.test(next)) {
      this.#text('\\')
      return
    }
    this.#parts.push(htmlText(next))
    this.#at += 2
  }

  #code(): void {
    const length = runLength(this.words, this.#at)
    const start = this.#at + length
    this.#lastTicks ??= lastRuns(this.words, this.effort)
    // Only where an end is known to follow: looking for one in vain from every sign would take quadratic time.
    if ((this.#lastTicks.get(length) ?? -1) < start) {
      this.#text('`'.repeat(length))
      return
    }
    for (let at = this.words.indexOf('`', start); at >= 0; ) {
      const run = runLength(this.words, at)
      if (run === length) {
        this.#parts.push(`<code>${htmlText(unpadded(this.words.slice(start, at)))}</code>`)
        this.#at = at + run
        return
      }
      at = this.words.indexOf('`', at + run)
    }
  }

  #marker(sign: string): void {
    const length = runLength(this.words, this.#at)
    const run = sign.repeat(length)
    const isMarker = sign === '~' ? length === 2 : length <= LONGEST_MARKER
    if (!isMarker) {
      this.#text(run)
      return
    }
    const before = this.words.charAt(this.#at - 1)
    const after = this.words.charAt(this.#at + length)
    const { opens, closes } = flanks(sign, before, after)
    this.#at += length
    const rest = closes ? this.#closeMarkers(sign, run) : run
    if (rest === '') return
    if (opens) this.#open(this.#markers, { sign, rest })
    else this.#parts.push(rest)
  }

  /** What is left of a row of markers after it has closed what is open. */
  #closeMarkers(sign: string, run: string): string {
    let rest = run
    while (rest !== '') {
      const place = this.#markers.findLastIndex((one) => one.sign === sign)
      const opener = this.#markers[place]
      this.effort.looked += MOST_OPEN
      if (!opener) break
      const used = Math.min(2, rest.length, opener.rest.length)
      const tag = sign === '~' ? 'del' : used === 2 ? 'strong' : 'em'
      opener.rest = opener.rest.slice(used)
      opener.tags = `<${tag}>${opener.tags}`
      this.#parts[opener.at] = opener.rest + opener.tags
      this.#parts.push(`</${tag}>`)
      rest = rest.slice(used)
      // Elements cannot overlap: what was opened within stays text.
      this.#markers.length = opener.rest === '' ? place : place + 1
      while ((this.#brackets.at(-1)?.at ?? -1) > opener.at) this.#brackets.pop()
    }
    return rest
  }

  #open(openers: Opener[], { sign, rest }: Pick<Opener, 'sign' | 'rest'>): void {
    if (openers.length === MOST_OPEN) openers.shift()
    openers.push({ sign, rest, tags: '', at: this.#parts.length, from: this.#at + rest.length })
    this.#parts.push(rest)
  }

  #bracket(sign: '[' | '!['): void {
    this.#open(this.#brackets, { sign, rest: sign })
    this.#at += sign.length
  }

  #closeBracket(): void {
    const opener = this.#brackets.pop()
    const target = opener && linkTarget(this.words, this.#at + 1, this.effort)
    if (!opener || !target) {
      this.#text(']')
      return
    }
    const { address, end } = target
    const label = this.words.slice(opener.from, this.#at)
    while ((this.#markers.at(-1)?.at ?? -1) > opener.at) this.#markers.pop()
    this.#at = end
    if (opener.sign !== '[' || !ADDRESS.test(address)) {
      this.#parts[opener.at] = ''
      if (label !== address) this.#parts.push(htmlText(label === '' ? address : ` (${address})`))
      return
    }
    for (let bare = this.#bare.at(-1); bare && bare.at > opener.at; bare = this.#bare.at(-1)) {
      this.#parts[bare.at] = htmlText(bare.text)
      this.#bare.pop()
    }
    this.#parts[opener.at] = linkTag(address)
    this.#parts.push(label === '' ? `${htmlText(address)}</a>` : '</a>')
    this.#brackets.length = 0 // no link contains a link
  }

  #angle(): void {
    const found = matched(/<(?:https?:\/\/|mailto:)[^\s<>]+>/iy, this.words, this.#at)
    const address = found?.slice(1, -1) ?? ''
    if (!found || !ADDRESS.test(address)) {
      this.#text('<')
      return
    }
    this.#link(address)
    this.#at += found.length
  }

  #bareAddress(sign: string): void {
    const isWithin = WORD.test(this.words.charAt(this.#at - 1))
    const found = isWithin ? undefined : matched(BARE_ADDRESS, this.words, this.#at)
    if (found === undefined) {
      this.#text(sign + (matched(PLAIN, this.words, this.#at + 1) ?? ''))
      return
    }
    this.effort.looked += found.length
    const address = withoutEnd(found)
    if (!ADDRESS.test(address)) {
      this.#text(found)
      return
    }
    this.#link(address)
    this.#at += address.length
  }

  #link(address: string): void {
    this.#bare.push({ at: this.#parts.length, text: address })
    this.#parts.push(`${linkTag(address)}${htmlText(address)}</a>`)
  }
}

const linkTag = (address: string): string => `<a href="${htmlText(address)}" rel="noopener noreferrer">`

function matched(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(text)?.[0]
}

function runLength(text: string, at: number): number {
  let end = at + 1
  while (text[end] === text[at]) end += 1
  return end - at
}

/** Where the last row of backticks of each length begins. */
function lastRuns(text: string, effort: Effort): Map<number, number> {
  const last = new Map<number, number>()
  effort.looked += text.length
  for (const { 0: run, index } of text.matchAll(/`+/g)) last.set(run.length, index)
  return last
}

/** Code that begins or ends with a backtick is written with a blank beside it. */
function unpadded(code: string): string {
  const line = code.replaceAll('\n', ' ')
  return line.startsWith(' ') && line.endsWith(' ') && line.trim() !== '' ? line.slice(1, -1) : line
}

/** As CommonMark has it: a marker opens before a word and closes after one; an underscore within a word is part of it. */
function flanks(sign: string, before: string, after: string): { opens: boolean; closes: boolean } {
  const isSpace = (one: string): boolean => one === '' || /\s/.test(one)
  const isMark = (one: string): boolean => !isSpace(one) && !WORD.test(one) && /[\p{P}\p{S}]/u.test(one)
  const left = !isSpace(after) && (!isMark(after) || isSpace(before) || isMark(before))
  const right = !isSpace(before) && (!isMark(before) || isSpace(after) || isMark(after))
  if (sign !== '_') return { opens: left, closes: right }
  return { opens: left && (!right || isMark(before)), closes: right && (!left || isMark(after)) }
}

/** `(address "title")` right at this place. The address ends at the next bracket at the latest, so that no text is looked at twice. */
function linkTarget(text: string, at: number, effort: Effort): { address: string; end: number } | undefined {
  if (text[at] !== '(') return undefined
  const given = matched(/\(<[^<>[\]\n]*>|\([^\s[\]<>"]*/y, text, at) ?? ''
  effort.looked += given.length
  if (given.startsWith('(<')) {
    const end = at + given.length
    return text[end] === ')' ? { address: given.slice(2, -1), end: end + 1 } : undefined
  }
  let depth = 0
  for (let end = at; end < at + given.length; end += 1) {
    if (text[end] === '(') depth += 1
    else if (text[end] === ')') depth -= 1
    if (depth === 0) return found(text.slice(at + 1, end), end + 1)
  }
  const title = depth === 1 ? matched(/ {1,3}"[^"[\]\n]*" {0,3}\)/y, text, at + given.length) : undefined
  effort.looked += title?.length ?? 0
  return title === undefined ? undefined : found(given.slice(1), at + given.length + title.length)
}

const found = (address: string, end: number): { address: string; end: number } | undefined =>
  address === '' ? undefined : { address, end }

/** Without the signs that end a sentence around an address. */
function withoutEnd(address: string): string {
  let end = address.length
  let opened = 0
  for (const sign of address) opened += sign === '(' ? 1 : sign === ')' ? -1 : 0
  for (; end > 0; end -= 1) {
    const last = address.charAt(end - 1)
    if (last === ')' && opened < 0) opened += 1
    else if (!/[.,:;!?_~]/.test(last)) break
  }
  return address.slice(0, end)
}
