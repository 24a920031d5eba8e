import { SkeinError } from '../model/index.js'

/** One word for `sh`, whatever is in it: within single quotes only a single quote has a meaning. */
export function inShell(text: string): string {
  if (text.includes('\0'))
    throw new SkeinError('bad-input', 'An argument or a variable contains a NUL character.', 'Remove it')
  return `'${text.replaceAll("'", `'\\''`)}'`
}
