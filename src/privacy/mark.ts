/** What stands in the place of something that was taken out. */
export const redactedMark = (rule?: string): string => (rule === undefined ? '[REDACTED]' : `[REDACTED:${rule}]`)
export const envMark = (variable: string): string => `[ENV:${variable}]`
export const base64Mark = (length: number): string => `[BASE64:${length}]`

// A rule's name is short and has no digits, so that no token can pass for one. A variable's name can look like a token, which
// is why a variable's mark protects nothing from the search for secrets.
const FINAL_MARK = /\[(?:REDACTED(?::[a-z][a-z-]{0,31})?|BASE64:[0-9]{1,9})\]/g
const ANY_MARK = /\[(?:REDACTED(?::[a-z][a-z-]{0,31})?|BASE64:[0-9]{1,9}|ENV:[A-Za-z_][A-Za-z0-9_]{0,127})\]/g

/** A stretch of text, by offsets. */
export interface Span {
  start: number
  end: number
}

/**
 * The text between the marks. Rules look at these stretches one by one and never across a mark: so a mark can hide nothing
 * more, and redacting what was already redacted finds what it found before, nothing.
 */
export function spansBetweenMarks(text: string): Span[] {
  if (!text.includes('[REDACTED') && !text.includes('[BASE64:')) return [{ start: 0, end: text.length }]
  return spansBetween(text, FINAL_MARK)
}

/** The same between the marks of variables, too. */
export function spansBetweenAllMarks(text: string): Span[] {
  return spansBetween(text, ANY_MARK)
}

function spansBetween(text: string, marks: RegExp): Span[] {
  const spans: Span[] = []
  let start = 0
  for (const mark of text.matchAll(marks)) {
    if (mark.index > start) spans.push({ start, end: mark.index })
    start = mark.index + mark[0].length
  }
  if (start < text.length) spans.push({ start, end: text.length })
  return spans
}
