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
 * Text for an argument in which tmux expands formats (names, titles, directories): `#{...}` and, worse, `#(a shell command)`
 * stay what they are.
 */
export const withoutFormats = (text: string): string => text.replaceAll('#', '##')

/** The same where tmux also fills in the time, as in messages: `%H` stays `%H`. */
export const withoutFormatsAndTime = (text: string): string => withoutFormats(text).replaceAll('%', '%%')

const HARMLESS = new Set(
  Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 _-./:=+,@%<>|&()[]^!?*'),
)
const isHarmless = (byte: number): boolean => HARMLESS.has(byte)
