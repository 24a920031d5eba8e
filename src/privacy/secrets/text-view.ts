import { withoutColours } from './hidden-characters.js'
import { type MappedText, rewritten } from './mapped-text.js'

/** How a text is written down where it is found. */
export type Spelling = 'plain' | 'escaped' | 'coloured' | 'percent' | 'base64' | 'hex'

/** A text as somebody reads it who undoes an encoding, and where each of its characters is in the original. */
export interface TextView {
  spelling: Spelling
  text: string
  /** Undefined when it is the original. */
  map: MappedText | undefined
}

/**
 * The forms in which words may be in a text: as they are, with the escapes of JSON or a shell (once, and twice: JSON within JSON), with
 * colours inside, and percent-encoded. An encoding that cannot be there costs one look for its sign.
 */
export function viewsOf(text: string): TextView[] {
  const plain: TextView = { spelling: 'plain', text, map: undefined }
  const once = unescaped(plain)
  const twice = once && unescaped(once)
  const views = [plain, ...(once ? [once] : []), ...(twice ? [twice] : [])]
  const shown = [...views, ...views.flatMap((view) => uncoloured(view) ?? [])]
  return [...shown, ...shown.flatMap((view) => percentDecoded(view) ?? [])]
}

/** The same readings without their places, for those who only ask whether something is there. */
export const readingsOf = (text: string): string[] => [...new Set(viewsOf(text).map((view) => view.text))]

/** Where a stretch of a view is in the original. */
export function originalSpan({ map }: TextView, start: number, end: number): { start: number; end: number } {
  return map ? map.originalSpan(start, end) : { start, end }
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
const ESCAPE =
  /\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(033|e)(?=[[\]])|(["\\/bfnrt])|([ !#-.:-@[\]^-`{-~]))|'(?:\\'|"'")'/g
const isEscaped = (text: string): boolean => text.includes('\\') || text.includes(`'"'"'`)
const PERCENT = /(?:%[0-9a-fA-F]{2})+/g
const isPercentEncoded = (text: string): boolean => text.includes('%')

const meant = ([, unit, byte, esc, short, sign]: readonly (string | undefined)[]): string => {
  const hex = unit ?? byte
  if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16))
  if (esc !== undefined) return '\x1b'
  return short === undefined ? (sign ?? "'") : (SHORT_ESCAPES[short] ?? '')
}
const bytesIn = (run: string): string => Buffer.from(run.replaceAll('%', ''), 'hex').toString()

const unescaped = (view: TextView): TextView | undefined =>
  isEscaped(view.text) ? viewOf('escaped', rewritten(view.text, ESCAPE, meant, view.map)) : undefined
const uncoloured = (view: TextView): TextView | undefined => viewOf('coloured', withoutColours(view.text, view.map))
const percentDecoded = (view: TextView): TextView | undefined =>
  isPercentEncoded(view.text)
    ? viewOf(
        'percent',
        rewritten(view.text, PERCENT, ([run]) => bytesIn(run), view.map),
      )
    : undefined

const viewOf = (spelling: Spelling, map: MappedText | undefined): TextView | undefined =>
  map && { spelling, text: map.text, map }
