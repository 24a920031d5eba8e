import { nearest, SkeinError } from '../model/index.js'

/** What was typed cannot be meant: one line that says so, the likely meaning, and where to read on. */
export function usageError(message: string, next: string): SkeinError {
  return new SkeinError('usage', message, next)
}

/** `see` is the command whose help explains more. `candidates` are written as the user would type them. */
export function unknownWord(
  what: string,
  word: string,
  options: { candidates: readonly string[]; meant?: string | undefined; see: string },
): SkeinError {
  const meant = options.meant ?? nearest(word, options.candidates)
  const hint = meant === undefined ? '' : `Did you mean ${meant}? `
  return usageError(`Unknown ${what} ${JSON.stringify(word.slice(0, 80))}`, `${hint}See: ${options.see} --help`)
}
