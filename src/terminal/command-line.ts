/**
 * One tmux command as a control client sends it. The line goes through the same parser as a config file, which knows `;`, `{}`,
 * `$HOME`, `~`, quotes, comments and line breaks: whatever is not plainly harmless is written byte by byte.
 */
export const commandLine = (...words: readonly string[]): string => words.map(quoteWord).join(' ')

/** Several commands on one line: run without a pause in between, and those after a failed one are dropped. */
export const sequence = (...commands: readonly string[]): string => commands.join(' ; ')

/** One word that the parser gives on exactly as it is. NUL ends a string in tmux and cannot be sent at all. */
export function quoteWord(word: string): string {
  if (/^[A-Za-z0-9_-]+$/.test(word)) return word
  let quoted = '"'
  for (const byte of Buffer.from(word)) {
    if (byte === 0) throw new RangeError('a tmux command cannot contain NUL')
    quoted += isHarmless(byte) ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, '0')}`
  }
  return `${quoted}"`
}

/**
 * Text for an argument in which tmux expands formats (names, directories): `#{...}` and, worse, `#(a shell command)` stay what
 * they are. Signs in front of `[` would begin a style, which this step leaves alone, and so do we.
 */
export const withoutFormats = (text: string): string =>
  text.replace(SIGNS, (signs, at: number) => (isStyle(text, at, signs) ? signs : signs.repeat(2)))

/** Text for a message, which is expanded, has the time filled in (`%H`), and is then read once more for styles. */
export const forMessage = (text: string): string =>
  text.replace(SIGNS, (signs, at: number) => signs.repeat(isStyle(text, at, signs) ? 2 : 4)).replaceAll('%', '%%')

const SIGNS = /#+/g
const isStyle = (text: string, at: number, signs: string): boolean => text[at + signs.length] === '['

const HARMLESS = new Set(
  Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _-./:=+,@%<>|&()[]^!?*'),
)
const isHarmless = (byte: number): boolean => HARMLESS.has(byte)
