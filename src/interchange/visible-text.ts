// What a reader cannot see and a viewer may obey: controls, marks that turn the direction of writing, lone surrogates.
const UNSEEN = /[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\p{Cs}]/gu

/** Text for a document: line ends of one kind, and what could act or hide shown as a sign. */
export function visibleText(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSEEN, sign)
}

/** The same on one line, for headings and lists. */
export const visibleLine = (text: string): string => visibleText(text).replace(/\s+/g, ' ').trim()

/** As `visibleLine`, no longer than a heading may be. */
export function shortLine(text: string, longest: number): string {
  const characters = [...visibleLine(text.slice(0, longest * 4))]
  return characters.length <= longest ? characters.join('') : `${characters.slice(0, longest - 1).join('')}…`
}

function sign(character: string): string {
  const code = character.codePointAt(0) ?? 0
  if (code < 0x20) return String.fromCodePoint(0x2400 + code)
  if (code === 0x7f) return '\u2421'
  if (code >= 0xd800 && code <= 0xdfff) return '\ufffd'
  return `[U+${code.toString(16).toUpperCase().padStart(4, '0')}]`
}
