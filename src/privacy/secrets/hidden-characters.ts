import { MappedText, rewritten } from './mapped-text.js'

/**
 * What is in a text and not on the screen: the sequences that set colours, move the cursor or name a link, other controls, and
 * characters without a width. A word with one of them inside is still one word for a person.
 */
const isControl = (code: number): boolean =>
  code < 0x20 ? code !== 9 && code !== 10 && code !== 13 && code !== 11 && code !== 12 : code >= 0x7f && code <= 0x9f
const isWithoutWidth = (code: number): boolean =>
  code === 0xad ||
  code === 0x61c ||
  code === 0x180e ||
  (code >= 0x200b && code <= 0x200f) ||
  (code >= 0x202a && code <= 0x202e) ||
  (code >= 0x2060 && code <= 0x206f) ||
  code === 0xfeff

const NARROW = Uint8Array.from({ length: 256 }, (_, code) => (isControl(code) || isWithoutWidth(code) ? 1 : 0))

export const isHidden = (code: number): boolean => (code < 256 ? NARROW[code] === 1 : isWithoutWidth(code))

/** Whether something is hidden in a part of the text. */
export function hasHidden(text: string, start: number, end: number): boolean {
  const limit = Math.min(text.length, end)
  for (let at = Math.max(0, start); at < limit; at += 1) if (isHidden(text.charCodeAt(at))) return true
  return false
}

/** Without them: for a short text whose places do not matter. */
export const shownOf = (text: string): string => text.replace(ANY_HIDDEN, '')
const ANY_HIDDEN = /[\0-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g

const ESC = 0x1b
const CSI = 0x9b
/** The parameters of a sequence; a longer one is none. */
const LONGEST_PARAMETERS = 64
/** A text for the terminal itself: a title, a link, a clipboard. Ends with BEL or ST, or where the next sequence begins. */
const STRING = /\x1b[\]PX^_][^\x07\x1b\x9c\n]{0,4096}(?:\x07|\x1b\\|\x9c|(?=\x1b))/y
/** Bold and underlined in the way of typewriters: a letter, one step back, and the letter again. */
const OVERSTRUCK = /[^\n\x08]\x08/g
/** UTF-16 that was read as single bytes. */
const WIDE_TEXT = /(?:[\x20-\x7e]\0){8}/

/** Whether there are wide letters. Of a long text, looks at a few places: a secret and its name are longer than the way between two. */
export function isWide(text: string): boolean {
  if (text.length < 192 && text.indexOf('\0') !== -1 && WIDE_TEXT.test(text)) return true
  for (let at = 0; at + 1 < text.length; at += 96)
    if (text.charCodeAt(at) === 0 || text.charCodeAt(at + 1) === 0) return true
  return false
}

/** Without colours and what else a terminal obeys. Undefined when there is none. */
export function withoutSequences(text: string, source?: MappedText): MappedText | undefined {
  let made: MappedText | undefined
  let from = 0
  for (let at = text.indexOf('\x1b'); at !== -1; at = text.indexOf('\x1b', from)) {
    const end = sequenceEnd(text, at)
    made ??= new MappedText(source)
    made.copy(text, from, at)
    made.replace(shownFor(text, at, end), at, end)
    from = end
  }
  made?.copy(text, from, text.length)
  return made
}

/** Without sequences and without characters that have no width. Other controls stay: bytes of any file are full of them. */
export function withoutColours(text: string, source?: MappedText): MappedText | undefined {
  const plain = text.includes('\x1b') ? withoutSequences(text, source) : undefined
  return rewritten(plain?.text ?? text, WITHOUT_WIDTH, () => '', plain ?? source) ?? plain
}
const WITHOUT_WIDTH = /[\xad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g

/** The text as a person sees it. Undefined when nothing is hidden in it. */
export function withoutHidden(text: string, source?: MappedText): MappedText | undefined {
  const struck = text.includes('\b') ? rewritten(text, OVERSTRUCK, () => '', source) : undefined
  return struck ? (stripped(struck.text, struck) ?? struck) : stripped(text, source)
}

function stripped(text: string, source?: MappedText): MappedText | undefined {
  let made: MappedText | undefined
  let from = 0
  const zero = text.includes('\0') && !WIDE_TEXT.test(text) ? '\n' : ''
  for (let at = nextHidden(text, 0); at < text.length; at = nextHidden(text, from)) {
    const end = sequenceEnd(text, at)
    made ??= new MappedText(source)
    made.copy(text, from, at)
    made.replace(text.charCodeAt(at) === 0 ? zero : shownFor(text, at, end), at, end)
    from = end
  }
  made?.copy(text, from, text.length)
  return made
}

function nextHidden(text: string, from: number): number {
  let at = from
  while (at < text.length && !isHidden(text.charCodeAt(at))) at += 1
  return at
}

/** Where the sequence ends that begins here; a control that begins none stands for itself. */
function sequenceEnd(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code !== ESC) return code === CSI ? parametersEnd(text, at + 1, at + 1) : at + 1
  const next = text.charCodeAt(at + 1)
  if (next === 0x5b) return parametersEnd(text, at + 2, at + 1)
  STRING.lastIndex = at
  if (STRING.test(text)) return STRING.lastIndex
  // `ESC ( B` chooses letters; a few sequences are of two characters.
  if (next >= 0x20 && next <= 0x2f) return Math.min(text.length, at + 3)
  return '78=>c'.includes(text.charAt(at + 1) || ' ') ? at + 2 : at + 1
}

/** Behind the letter that ends the parameters; `otherwise` where there is none. */
function parametersEnd(text: string, from: number, otherwise: number): number {
  const limit = Math.min(text.length, from + LONGEST_PARAMETERS)
  let at = from
  while (at < limit && text.charCodeAt(at) >= 0x20 && text.charCodeAt(at) <= 0x3f) at += 1
  const code = text.charCodeAt(at)
  return at < limit && code >= 0x40 && code <= 0x7e ? at + 1 : otherwise
}

/** A cursor that is moved along the line leaves a blank, one that is moved elsewhere begins another line. */
function shownFor(text: string, at: number, end: number): string {
  if (end - at < 3 || (text.charCodeAt(at + 1) !== 0x5b && text.charCodeAt(at) !== CSI)) return ''
  const final = text.charAt(end - 1)
  if (final === 'C') return ' '
  return 'ABEFGHdf'.includes(final) ? '\n' : ''
}
