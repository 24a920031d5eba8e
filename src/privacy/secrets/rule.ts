import type { Span } from '../mark.js'
import type { Anchor } from './anchor-scan.js'
import { isHidden } from './hidden-characters.js'

/**
 * One way to tell a secret. A rule is tried where one of its anchors stands, looks at a bounded stretch of text around it,
 * and says which part is the secret.
 */
export interface Rule {
  readonly name: string
  readonly anchors: readonly Anchor[]
  /**
   * `at` is where the anchor starts; `reached` is where the secrets end that this rule has found before. What lies before that
   * need not be looked at again to its end, or a text of nothing but anchors would take for ever. A number says: nothing here,
   * and nothing at this rule's anchors before that offset; `HIDDEN_STOP` and `NOT_HERE` say why there is nothing.
   */
  match(text: string, at: number, reached: number): Span | number | undefined
  /** It reads character by character and so notices what is hidden among them. */
  readonly noticesHidden?: true
}

/** Something hidden ended it. */
export const HIDDEN_STOP = -1
/** Nothing hidden ended it, and no escape: another look at the text, without them, finds no more here. */
export const NOT_HERE = -2

/** Why a run of characters that is too short for a secret ended here. */
function stopAt(text: string, at: number): number | undefined {
  const code = text.charCodeAt(at)
  if (isHidden(code)) return HIDDEN_STOP
  return canEscape(code) ? undefined : NOT_HERE
}

/** What escapes begin with: a backslash, `%`, `&`, `^`. */
export const canEscape = (code: number): boolean => code === 92 || code === 37 || code === 38 || code === 94

/** Why a word that should begin here does not: behind an escape such as `%20` it may. */
function stopBefore(text: string, at: number): number | undefined {
  for (let before = at - 1; before >= at - LONGEST_ESCAPE; before -= 1)
    if (canEscape(text.charCodeAt(before))) return undefined
  return NOT_HERE
}
/** `\u{0020}` */
const LONGEST_ESCAPE = 8

/** The characters a token's body is made of. */
export const BODY = {
  word: /[A-Za-z0-9]/,
  hex: /[0-9a-fA-F]/,
  upper: /[A-Z0-9]/,
  base32: /[A-Z2-7]/,
  urlSafe: /[A-Za-z0-9_-]/,
  base64: /[A-Za-z0-9+/=]/,
  base64Url: /[A-Za-z0-9+/=_-]/,
  base64Run: /[A-Za-z0-9+/_-]/,
  dotted: /[A-Za-z0-9_.-]/,
} as const
export type Body = keyof typeof BODY

const members = (pattern: RegExp): Uint8Array =>
  Uint8Array.from({ length: 128 }, (_, code) => (pattern.test(String.fromCharCode(code)) ? 1 : 0))
const TABLES: Readonly<Record<Body, Uint8Array>> = Object.fromEntries(
  Object.entries(BODY).map(([name, pattern]) => [name, members(pattern)]),
) as Record<Body, Uint8Array>

/** The characters of a body, for an anchor to go on with. */
export const membersOf = (body: Body): string =>
  Array.from(TABLES[body], (isMember, code) => (isMember === 1 ? String.fromCharCode(code) : '')).join('')

/** Where the run of body characters from `at` ends. */
export function runEnd(text: string, at: number, body: Body, limit: number = text.length): number {
  const table = TABLES[body]
  let end = at
  while (end < limit && table[text.charCodeAt(end)] === 1) end += 1
  return end
}

/** For those who look at every character of a text: 1 for each that is in the body. */
export const tableOf = (body: Body): Uint8Array => TABLES[body]

export const isIn = (body: Body, text: string, at: number): boolean => TABLES[body][text.charCodeAt(at)] === 1

interface TokenForm {
  prefixes: readonly string[]
  body: Body
  /** Fewer body characters than this are no token. All that follow are taken, so that no tail is left behind. */
  atLeast: number
  /** A prefix that also ends ordinary words: it must not follow a letter, a digit or what joins them. */
  startsWord?: boolean
  /** A prefix that also starts ordinary names: the body must hold a digit and must not be words. */
  mixed?: boolean
}

/** A token that a fixed prefix gives away. */
export function tokenRule(name: string, form: TokenForm): Rule {
  return {
    name,
    noticesHidden: true,
    anchors: form.prefixes.map((text) => ({
      text,
      anyCase: false,
      ...(text.length < 4 ? { next: membersOf(form.body) } : {}),
    })),
    match(text, at, reached) {
      if (form.startsWord && !isWordStart(text, at)) return stopBefore(text, at)
      const prefix = form.prefixes.find((one) => text.startsWith(one, at)) ?? ''
      const start = at + prefix.length
      const enough = runEnd(text, start, form.body, start + form.atLeast)
      if (enough - start < form.atLeast) {
        if (isCut(text, start, enough)) return { start: at, end: enough }
        return stopAt(text, enough)
      }
      if (form.mixed && !isMixed(text.slice(start, runEnd(text, start, form.body, start + 64)))) return undefined
      return { start: at, end: tailEnd(text, enough, form.body, reached) }
    },
  }
}

/** Where the readers of logs cut a text, as they write it. The beginning of a token is worth hiding, too. */
const isCut = (text: string, start: number, end: number): boolean =>
  end - start >= TELLING_PART && text.startsWith('… (', end) && /^… \(\d{1,12} more\)/.test(text.slice(end, end + 24))
const TELLING_PART = 6

/** The rest of a token. Within the tail of the one before it, that tail's end is the end. */
const tailEnd = (text: string, at: number, body: Body, reached: number): number =>
  at < reached ? reached : runEnd(text, at, body)

interface PatternForm {
  anchors: readonly string[]
  /** What can come right behind an anchor, where the anchor is short. */
  next?: string
  /** How far before the anchor the pattern may begin. */
  before?: number
  /** It begins exactly there, and nowhere nearer. */
  isFixed?: true
  /** What must follow the anchor before the pattern is tried: an anchor of ordinary words is then passed over at once. */
  run?: { body: Body; atLeast: number }
  /** Sticky, every quantifier bounded, and a group called `secret` if the secret is not the whole match. */
  pattern: RegExp
  /** What may follow the secret and belongs to it, without a bound. */
  tail?: Body
  startsWord?: boolean
}

/** A secret that a regular expression describes, tried from each offset where it may begin. */
export function patternRule(name: string, form: PatternForm): Rule {
  const pattern = new RegExp(form.pattern.source, `${form.pattern.flags.replace(/[dy]/g, '')}dy`)
  const length = form.anchors[0]?.length ?? 0
  return {
    name,
    anchors: form.anchors.map((text) => ({
      text,
      anyCase: false,
      ...(form.next !== undefined && text.length < 4 ? { next: form.next } : {}),
    })),
    match(text, at, reached) {
      if (form.run) {
        const least = at + length + form.run.atLeast
        const end = runEnd(text, at + length, form.run.body, least)
        if (end < least) return stopAt(text, end)
      }
      const first = at - (form.before ?? 0)
      for (let from = form.isFixed ? first : at; from >= Math.max(0, first); from -= 1) {
        if (form.startsWord && !isWordStart(text, from)) continue
        pattern.lastIndex = from
        const found = pattern.exec(text)
        const span = found?.indices?.groups?.secret ?? found?.indices?.[0]
        if (span === undefined || span[1] <= at) continue
        return { start: span[0], end: form.tail ? tailEnd(text, span[1], form.tail, reached) : span[1] }
      }
      return undefined
    },
  }
}

/** Not in the middle of a word. The letter of an escape such as `\n` in JSON is no part of a word. */
export function isWordStart(text: string, at: number): boolean {
  const before = text.charCodeAt(at - 1)
  if (WORD[before] !== 1) return true
  return text.charCodeAt(at - 2) === 92 && ESCAPE_LETTER[before] === 1
}
const WORD = members(/[A-Za-z0-9_+-]/)
const ESCAPE_LETTER = members(/[nrtbf]/)

/** Letters and digits together, and not as words with a number behind: `session2` is a name, `a8f2k1` is not. */
export function isMixed(value: string): boolean {
  return /[A-Za-z]/.test(value) && /[0-9]/.test(value) && !isWordy(value)
}

/** Every part is a word or a number: `my-token-v2`, `es2022`, `created_at`. */
export function isWordy(value: string): boolean {
  return value
    .split(/[_.\-/:+=]+/)
    .every((part) => /^(?:[A-Z]?[a-z]*|[A-Z]+|v?[0-9]{1,5}|[A-Za-z]?[a-z]{1,15}[0-9]{1,4})$/.test(part))
}
