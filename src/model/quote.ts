// Terminal sequences as a whole; then what a reader cannot see and a terminal or a model may obey: controls, marks that turn the direction
// of writing, invisible tags, lone surrogates.
const SEQUENCE = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])/g
const UNSEEN =
  /[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\u{e0000}-\u{e007f}\p{Cs}]/gu

/** Somebody's text without terminal sequences and unseen characters; line ends of one kind. */
export const plainText = (text: string): string =>
  text.replace(SEQUENCE, '').replaceAll('\r\n', '\n').replaceAll('\r', '\n').replace(UNSEEN, '')

/** The same on one line of at most `most` characters. */
export function plainLine(text: string, most: number): string {
  // A long text is not walked through for a line of it.
  const line = plainText(text.slice(0, most * 8))
    .replace(/\s+/g, ' ')
    .trim()
  return clipped(line, most)
}

/** Somebody's text as quoted lines, so that no line of it can pass for one of ours. */
export function quotedText(text: string, most: number): string {
  return clipped(plainText(text).trim(), most)
    .split('\n')
    .map((line) => `> ${line.trimEnd()}`.trimEnd())
    .join('\n')
}

function clipped(text: string, most: number): string {
  const characters = [...text.slice(0, most * 2)]
  if (characters.length <= most && text.length <= most * 2) return text
  return `${characters.slice(0, Math.max(0, most - 1)).join('')}…`
}
