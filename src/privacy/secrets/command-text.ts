import { base64Mark, envMark, redactedMark, spansBetweenAllMarks } from '../mark.js'
import { type Applied, count, type Redaction, ROUNDS, redactInto } from '../redact.js'
import { isWordy } from './rule.js'

const VARIABLE = /\$(?:\{([A-Za-z_][A-Za-z0-9_]{0,127})(?![A-Za-z0-9_])[^}\n]{0,256}\}|([A-Za-z_][A-Za-z0-9_]{0,127}))/g
const VALUE =
  /((?:password|passwd|pwd|secret|token|key)=)(?!=)("[^"\n]{1,1024}"|'[^'\n]{1,1024}'|[^\s"'&;|<>()]{1,1024})/gi
const LONG_BASE64 = /[A-Za-z0-9+/]{51,}={0,2}/g

/**
 * What the tier `redacted` keeps of a text: secrets out, then variables by their names, values behind `password=` and its
 * kin, and long base64 by its length. Paths stay as they are: where something lay is what one looks for later.
 */
export function redactAsCommand(text: string): Redaction {
  const applied: Applied = {}
  return { text: redactCommandText(text, applied), applied }
}

/** As `redactAsCommand`, adding to a count that is kept elsewhere. `isSearched`: it was looked at for secrets and has none. */
export function redactCommandText(text: string, applied: Applied, isSearched = false): string {
  let current = text
  for (let round = 0; round < ROUNDS; round += 1) {
    const next = namedOnly(round === 0 && isSearched ? current : redactInto(current, applied), applied)
    if (next === current) return current
    current = next
  }
  count(applied, 'unsettled-text')
  return redactedMark('unsettled-text')
}

/** Variables, values and base64 by what they are. The same text where there are none of them. */
function namedOnly(text: string, applied: Applied): string {
  let current = text
  if (current.includes('$')) {
    current = betweenMarks(current, (part) =>
      part.replace(VARIABLE, (_, braced: string | undefined, bare: string | undefined) => {
        count(applied, 'variable')
        return envMark(braced ?? bare ?? '')
      }),
    )
  }
  if (mayHaveValue(current)) {
    current = betweenMarks(current, (part) =>
      part.replace(VALUE, (_, name: string) => {
        count(applied, 'named-value')
        return `${name}${redactedMark()}`
      }),
    )
  }
  if (!hasLongRun(current)) return current
  return betweenMarks(current, (part) =>
    part.replace(LONG_BASE64, (run, at: number) => {
      if (!isBase64(run, part[at - 1])) return run
      count(applied, 'base64')
      return base64Mark(run.length)
    }),
  )
}

/** Whether there is a `=` that `VALUE` could be about, behind the last letter of one of its names. Code is full of the others. */
function mayHaveValue(text: string): boolean {
  for (let at = text.indexOf('='); at !== -1; at = text.indexOf('=', at + 1))
    if (LAST_LETTERS.includes(text.charAt(at - 1))) return true
  return false
}
const LAST_LETTERS = 'dtnyDTNY'

const LONG_RUN = 51

/** Whether there is a run that `LONG_BASE64` could be about. Most texts have none, and looking at every 51st character tells. */
function hasLongRun(text: string): boolean {
  for (let at = LONG_RUN - 1; at < text.length; ) {
    let back = at
    while (back > at - LONG_RUN && isBase64Code(text.charCodeAt(back))) back -= 1
    if (back === at - LONG_RUN) return true
    at = back + LONG_RUN
  }
  return false
}

/** Letters, digits, plus and slash. */
const isBase64Code = (code: number): boolean =>
  (code >= 47 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 43

function betweenMarks(text: string, change: (part: string) => string): string {
  let made = ''
  let from = 0
  let isChanged = false
  for (const { start, end } of spansBetweenAllMarks(text)) {
    const part = text.slice(start, end)
    const changed = change(part)
    isChanged ||= changed !== part
    made += text.slice(from, start) + changed
    from = end
  }
  // The same text if nothing was found, so that it need not be joined and compared.
  return isChanged ? made + text.slice(from) : text
}

/** A path is made of the same characters: it starts with a slash or goes on from a dot, and its parts are words. */
function isBase64(run: string, before: string | undefined): boolean {
  if (run.startsWith('/') || (before !== undefined && /[~.\\_-]/.test(before))) return false
  return /[A-Z]/.test(run) && /[a-z]/.test(run) && /[0-9+/]/.test(run) && !isWordy(run)
}
