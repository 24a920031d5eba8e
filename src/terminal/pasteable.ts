import { SkeinError } from '../model/index.js'

/**
 * What a terminal or the program in it would act on instead of taking it as text: an escape sequence can end the paste
 * (`ESC [ 201 ~`, also with the one-character CSI), a control character can interrupt, and half a surrogate has no UTF-8.
 * Tab and line feed are text.
 */
const UNSAFE = /(?![\t\n])[\p{Cc}\p{Cs}]/u

/** Throws when the text cannot be pasted exactly as it is. Nothing is taken out in silence. */
export function checkPasteable(text: string): void {
  const found = UNSAFE.exec(text)
  if (!found) return
  const code = (found[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
  const line = text.slice(0, found.index).split('\n').length
  throw new SkeinError(
    'bad-input',
    `The text has the control character U+${code} in line ${line}, which a terminal would act on.`,
    found[0] === '\r' ? 'Use plain line feeds instead of carriage returns' : 'Remove it and send the text again',
  )
}
