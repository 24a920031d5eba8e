/**
 * A command line as the words it stands for: split at spaces, with single quotes, double quotes and backslashes as a shell
 * reads them. Nothing is expanded and no shell is asked; undefined when a quote is left open.
 */
export function splitWords(line: string): string[] | undefined {
  const words: string[] = []
  let word: string | undefined
  let quote: '"' | "'" | undefined
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at] ?? ''
    if (quote) {
      if (char === quote) quote = undefined
      else if (char === '\\' && quote === '"' && /["\\$`]/.test(line[at + 1] ?? '')) word = `${word ?? ''}${line[++at]}`
      else word = (word ?? '') + char
    } else if (char === '"' || char === "'") {
      quote = char
      word ??= ''
    } else if (char === '\\' && at + 1 < line.length) {
      at += 1
      word = (word ?? '') + line[at]
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
    } else word = (word ?? '') + char
  }
  if (word !== undefined) words.push(word)
  return quote ? undefined : words
}
