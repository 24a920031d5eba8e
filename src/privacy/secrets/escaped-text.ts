import { isHidden } from './hidden-characters.js'
import { MappedText } from './mapped-text.js'

/** Before an escape there is one backslash, and twice as many and one for each further time that the text was written as JSON. */
const MOST_SLASHES = 15

/** What is written in several characters and means one. */
interface Escape {
  meaning: string
  end: number
}

/** Whether escapes stand for something that nobody sees. Jumps from backslash to backslash: most texts have few. */
export function hasHiddenEscapes(text: string, isCaretAsked: boolean): boolean {
  for (let at = text.indexOf('\\'); at !== -1; at = text.indexOf('\\', at + 1)) {
    const next = text.charCodeAt(at + 1)
    if (next >= 128 || CODED[next] !== 1) continue
    const found = slashed(text, at)
    if (found && isHidden(found.meaning.charCodeAt(0))) return true
  }
  return isCaretAsked && text.includes('^[[')
}

export function hasEscapes(text: string): boolean {
  for (let at = text.indexOf('\\'); at !== -1; at = text.indexOf('\\', at + 1)) {
    const next = text.charCodeAt(at + 1)
    if (next < 128 && (PLAIN[next] === 1 || CODED[next] === 1)) return true
  }
  return (
    text.includes('^[[') ||
    text.includes('&quot;') ||
    text.includes('&#') ||
    (text.includes('%') && /%(?:22|27|3[aAdD])/.test(text))
  )
}

const tableOf = (letters: string): Uint8Array =>
  Uint8Array.from({ length: 128 }, (_, code) => (letters.includes(String.fromCharCode(code)) ? 1 : 0))
/** Behind a backslash: what means another character at once, and what begins a number. */
const PLAIN = tableOf(`"'\`/nrt`)
const CODED = tableOf('ux03e')
/** What escapes begin with. None is a small letter. */
const SIGNS = tableOf('\\%&^')

/** The text that the escapes of JSON, programs, addresses and HTML stand for, however often it was escaped. */
export const withoutEscapes = (text: string, source?: MappedText): MappedText | undefined =>
  unescaped(text, () => true, source)

/** The text with what is hidden in it as it is, and all other escapes as they are: a colour in JSON is `\u001b[31m`. */
export const withHiddenUnescaped = (text: string, source?: MappedText): MappedText | undefined =>
  unescaped(text, ({ meaning }) => isHidden(meaning.charCodeAt(0)), source)

function unescaped(text: string, isMeant: (found: Escape) => boolean, source?: MappedText): MappedText | undefined {
  let made: MappedText | undefined
  let from = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code > 94 || SIGNS[code] !== 1) continue
    const found = escapeAt(text, at, code)
    if (found === undefined || !isMeant(found)) {
      if (code === 92) at = slashesEnd(text, at) - 1
      continue
    }
    made ??= new MappedText(source)
    made.copy(text, from, at)
    made.replace(found.meaning, at, found.end)
    from = found.end
    at = from - 1
  }
  made?.copy(text, from, text.length)
  return made
}

function escapeAt(text: string, at: number, code: number): Escape | undefined {
  switch (code) {
    case 92:
      return slashed(text, at)
    case 37:
      return coded(text, at, PERCENT)
    case 38:
      return entity(text, at)
    default:
      return fits(CARET, text, at) ? { meaning: '\x1b', end: at + 2 } : undefined
  }
}

function slashesEnd(text: string, at: number): number {
  let end = at + 1
  while (end - at < MOST_SLASHES && text.charCodeAt(end) === 92) end += 1
  return end
}

function slashed(text: string, at: number): Escape | undefined {
  const letter = slashesEnd(text, at)
  switch (text[letter]) {
    case 'n':
      return { meaning: '\n', end: letter + 1 }
    case 'r':
      return { meaning: '\r', end: letter + 1 }
    case 't':
      return { meaning: '\t', end: letter + 1 }
    case '"':
    case "'":
    case '`':
    case '/':
      return { meaning: text.charAt(letter), end: letter + 1 }
    case 'u':
      return coded(text, letter, UNIT)
    case 'x':
      return coded(text, letter, BYTE)
    case 'e':
    case '0':
    case '3':
      if (text.startsWith('007', letter)) return { meaning: '\x07', end: letter + 3 }
      return fits(ESC, text, letter) ? { meaning: '\x1b', end: ESC.lastIndex } : undefined
    default:
      return undefined
  }
}

const UNIT = /u\{?([0-9a-fA-F]{4})\}?/y
const BYTE = /x([0-9a-fA-F]{2})/y
const ESC = /(?:0?33|e)(?=[[\]])/y
const PERCENT = /%(2[0-9A-Fa-f]|3[A-Fa-f]|40|5[BbDd]|7[BbDd])/y
const ENTITY = /&(quot|apos|amp|lt|gt|#34|#39|#x22|#x27);/y
/** How `cat -v` shows a colour. */
const CARET = /\^\[(?=\[[0-9;]{0,20}[mK])/y

function coded(text: string, at: number, pattern: RegExp): Escape | undefined {
  pattern.lastIndex = at
  const hex = pattern.exec(text)?.[1]
  return hex === undefined
    ? undefined
    : { meaning: String.fromCharCode(Number.parseInt(hex, 16)), end: pattern.lastIndex }
}

function entity(text: string, at: number): Escape | undefined {
  ENTITY.lastIndex = at
  const name = ENTITY.exec(text)?.[1]
  return name === undefined ? undefined : { meaning: ENTITIES[name] ?? '', end: ENTITY.lastIndex }
}

const ENTITIES: Readonly<Record<string, string>> = {
  quot: '"',
  '#34': '"',
  '#x22': '"',
  apos: "'",
  '#39': "'",
  '#x27': "'",
  amp: '&',
  lt: '<',
  gt: '>',
}

function fits(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at
  return pattern.test(text)
}
