/** A text as somebody reads it who undoes an encoding, and where each of its characters stands in the original. */
export interface TextView {
  text: string
  /** Offsets in the original, one more than the text has characters. Undefined when both are the same. */
  starts: Uint32Array | undefined
}

/**
 * The forms in which words may lie in a text: as they are, with JSON's escapes (once, and twice: JSON within JSON), and
 * percent-encoded. An encoding that cannot be there costs one look for its sign.
 */
export function viewsOf(text: string): TextView[] {
  const plain: TextView = { text, starts: undefined }
  const once = unescaped(plain)
  const twice = once && unescaped(once)
  const views = [plain, ...(once ? [once] : []), ...(twice ? [twice] : [])]
  return [...views, ...views.flatMap((view) => percentDecoded(view) ?? [])]
}

/** The same readings without their places, for those who only ask whether something is there. */
export function readingsOf(text: string): string[] {
  const once = text.includes('\\') ? text.replace(ESCAPE, (match, hex, short) => meant([match, hex, short])) : text
  const twice = once.includes('\\') ? once.replace(ESCAPE, (match, hex, short) => meant([match, hex, short])) : once
  const plain = [...new Set([text, once, twice])]
  const decoded = plain.filter((one) => one.includes('%')).map((one) => one.replace(PERCENT, bytesIn))
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

const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g
const PERCENT = /(?:%[0-9a-fA-F]{2})+/g

const meant = ([, hex, short]: readonly (string | undefined)[]): string =>
  hex === undefined ? (SHORT_ESCAPES[short ?? ''] ?? '') : String.fromCharCode(Number.parseInt(hex, 16))
const bytesIn = (run: string): string => Buffer.from(run.replaceAll('%', ''), 'hex').toString()

const unescaped = (view: TextView): TextView | undefined => decoded(view, ESCAPE, '\\', meant)
const percentDecoded = (view: TextView): TextView | undefined => decoded(view, PERCENT, '%', ([run]) => bytesIn(run))

/** Undefined when nothing is encoded here. What stands for several characters counts as a whole for each of them. */
function decoded(
  view: TextView,
  pattern: RegExp,
  sign: string,
  meaning: (match: RegExpExecArray) => string,
): TextView | undefined {
  if (!view.text.includes(sign)) return undefined
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
  return { text: pieces.join('') + view.text.slice(from), starts: Uint32Array.from(starts) }
}
