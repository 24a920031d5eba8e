/** How a text is written down where it is found. */
export type Spelling = 'plain' | 'escaped' | 'percent' | 'base64' | 'hex'

/** A text as somebody reads it who undoes an encoding, and where each of its characters stands in the original. */
export interface TextView {
  spelling: Spelling
  text: string
  /** Offsets in the original, one more than the text has characters. Undefined when both are the same. */
  starts: Uint32Array | undefined
}

/**
 * The forms in which words may lie in a text: as they are, with the escapes of JSON or a shell (once, and twice: JSON within JSON),
 * and percent-encoded. An encoding that cannot be there costs one look for its sign.
 */
export function viewsOf(text: string): TextView[] {
  const plain: TextView = { spelling: 'plain', text, starts: undefined }
  const once = unescaped(plain)
  const twice = once && unescaped(once)
  const views = [plain, ...(once ? [once] : []), ...(twice ? [twice] : [])]
  return [...views, ...views.flatMap((view) => percentDecoded(view) ?? [])]
}

/** The same readings without their places, for those who only ask whether something is there. */
export function readingsOf(text: string): string[] {
  const once = isEscaped(text) ? text.replace(ESCAPE, (...match: string[]) => meant(match)) : text
  const twice = isEscaped(once) ? once.replace(ESCAPE, (...match: string[]) => meant(match)) : once
  const plain = [...new Set([text, once, twice])]
  const decoded = plain.filter(isPercentEncoded).map((one) => one.replace(PERCENT, bytesIn))
  return [...new Set([...plain, ...decoded])]
}

/** Where a stretch of a view lies in the original. */
export function originalSpan({ starts }: TextView, start: number, end: number): { start: number; end: number } {
  return starts ? { start: starts[start] ?? 0, end: starts[end] ?? 0 } : { start, end }
}

const SHORT_ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
}

// What JSON and shells write for a character: `\n`, `\"`, `\$`, and within single quotes `'\''` or `'"'"'` for a quote.
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt])|([ !#-.:-@[\]^-`{-~]))|'(?:\\'|"'")'/g
const isEscaped = (text: string): boolean => text.includes('\\') || text.includes(`'"'"'`)
const PERCENT = /(?:%[0-9a-fA-F]{2})+/g
const isPercentEncoded = (text: string): boolean => text.includes('%')

const meant = ([, hex, short, sign]: readonly (string | undefined)[]): string => {
  if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
  return short === undefined ? (sign ?? "'") : (SHORT_ESCAPES[short] ?? '')
}
const bytesIn = (run: string): string => Buffer.from(run.replaceAll('%', ''), 'hex').toString()

const unescaped = (view: TextView): TextView | undefined =>
  isEscaped(view.text) ? decoded(view, ESCAPE, 'escaped', meant) : undefined
const percentDecoded = (view: TextView): TextView | undefined =>
  isPercentEncoded(view.text) ? decoded(view, PERCENT, 'percent', ([run]) => bytesIn(run)) : undefined

/** Undefined when nothing is encoded here. What stands for several characters counts as a whole for each of them. */
function decoded(
  view: TextView,
  pattern: RegExp,
  spelling: Spelling,
  meaning: (match: RegExpExecArray) => string,
): TextView | undefined {
  const pieces: string[] = []
  const starts: number[] = []
  const startOf = (at: number): number => view.starts?.[at] ?? at
  let from = 0
  for (const match of view.text.matchAll(pattern)) {
    for (let at = from; at < match.index; at += 1) starts.push(startOf(at))
    const text = meaning(match)
    const each = match[0].length / Math.max(1, text.length)
    for (let at = 0; at < text.length; at += 1) starts.push(startOf(match.index + Math.floor(at * each)))
    pieces.push(view.text.slice(from, match.index), text)
    from = match.index + match[0].length
  }
  if (from === 0) return undefined
  for (let at = from; at <= view.text.length; at += 1) starts.push(startOf(at))
  return { spelling, text: pieces.join('') + view.text.slice(from), starts: Uint32Array.from(starts) }
}
