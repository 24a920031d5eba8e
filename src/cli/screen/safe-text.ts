const PLAIN = /^[\x20-\x7e]*$/
// Everything a terminal may act on or hide: controls, format and bidi characters, line separators, lone surrogates and
// code points that draw nothing.
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu
// The two invisible characters that people do type: they join and colour emoji. Anywhere else they are escaped too.
const EMOJI_PRESENTATION = 0xfe0f
const JOINER = 0x200d
const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Makes text that came from data harmless to a terminal and one line long: what could act or hide is shown as an escape. */
export function safeText(text: string): string {
  if (PLAIN.test(text)) return text
  return text.replace(UNSAFE, (character, at: number) =>
    belongsToEmoji(character, at, text) ? character : visible(character),
  )
}

/** A template whose values are made safe: `safe\`Ended ${session.id}\``. What stands between them is our own. */
export function safe(fixed: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return fixed.map((part, at) => part + (at < values.length ? safeText(String(values[at])) : '')).join('')
}

function belongsToEmoji(character: string, at: number, text: string): boolean {
  const code = character.codePointAt(0)
  if (code === EMOJI_PRESENTATION) return /[\p{Extended_Pictographic}0-9#*]$/u.test(text.slice(Math.max(0, at - 2), at))
  if (code !== JOINER) return false
  return (
    /(\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})$/u.test(text.slice(Math.max(0, at - 3), at)) &&
    /^\p{Extended_Pictographic}/u.test(text.slice(at + 1, at + 3))
  )
}

function visible(character: string): string {
  const named = NAMED[character]
  if (named) return named
  const code = character.codePointAt(0) ?? 0
  if (code <= 0xff) return `\\x${code.toString(16).padStart(2, '0')}`
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, '0')}` : `\\u{${code.toString(16)}}`
}
