import type { Span } from './mark.js'
import { isPlaceholder, looksRandom } from './plausible-value.js'
import { membersOf, patternRule, type Rule, runEnd } from './rule.js'

const ANYTHING = String.fromCharCode(...Array(256).keys())

/** Secrets told by the structure around them: key blocks, signed tokens, addresses with passwords, headers. */
export const STRUCTURE_RULES: readonly Rule[] = [
  {
    name: 'private-key',
    anchors: [{ text: 'VATE KEY', anyCase: false }],
    match: privateKeyBlock,
  },
  { name: 'putty-key', anchors: [{ text: 'Private-Lines:', anyCase: false }], match: puttyKey },
  { name: 'jwt', anchors: [{ text: 'eyJ', anyCase: false, next: membersOf('urlSafe') }], match: jsonWebToken },
  { name: 'url-password', anchors: [{ text: '://', anyCase: false, next: ANYTHING }], match: urlPassword },
  { name: 'bearer', anchors: [{ text: 'bearer', anyCase: true }], match: schemeValue },
  { name: 'basic-auth', anchors: [{ text: 'Basic ', anyCase: false }], match: basicValue },
  { name: 'authorization', anchors: [{ text: 'authorization', anyCase: true }], match: authorizationValue },
  { name: 'cookie', anchors: [{ text: 'cookie', anyCase: true }], match: cookieValue },
  patternRule('azure-signature', {
    anchors: ['sig='],
    pattern: /sig=(?<secret>[A-Za-z0-9%+/]{30})/,
    tail: 'base64',
  }),
  patternRule('client-key-data', {
    anchors: ['client-key-data'],
    pattern: /client-key-data["']?: ?["']?(?<secret>[A-Za-z0-9+/=]{24})/,
    tail: 'base64',
  }),
  patternRule('password-hash', {
    anchors: ['$2a$', '$2b$', '$2y$', '$5$', '$6$', '$y$', '$argon2'],
    next: `${membersOf('dotted')}/`,
    pattern:
      /\$(?:2[aby]\$[0-9]{2}\$[A-Za-z0-9./]{53}|[56y]\$(?:rounds=[0-9]{1,9}\$|j9T\$)?[A-Za-z0-9./]{1,24}\$[A-Za-z0-9./]{40,90}|argon2(?:id|i|d)\$v=[0-9]{1,3}\$[a-z0-9=,]{1,40}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{20,120})/,
  }),
  patternRule('pgpass', {
    anchors: ['5432:', ':*:*:', '*:*:*'],
    before: 40,
    pattern:
      /(?:[A-Za-z0-9.*-]{1,40}):(?:5432|\*):[A-Za-z0-9_*-]{1,60}:[A-Za-z0-9_*-]{1,60}:(?<secret>[^\s:@/"'<>]{4,200})/,
  }),
]

const KEY_HEADER =
  /(?:-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|---- BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY ----)/y
const KEY_FOOTER = /-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}/y
/** Between two lines of a key: line ends, also those written as `\n`, with indentation, quotes and what joins strings. */
const KEY_BREAK = /(?:\\{1,3}[rnt]|[\s"'`+,;\\]){1,80}/y
const KEY_FACT = /[A-Z][A-Za-z0-9-]{2,20}: [^\n\\"]{0,120}/y

/** From the header to the footer; a block that was cut off ends where its lines end. */
function privateKeyBlock(text: string, at: number, reached: number): Span | undefined {
  if (at < reached) return undefined
  const dashes = text.slice(Math.max(0, at - 56), at).search(/-{4,5} ?BEGIN [A-Z0-9 ]{0,40}$/)
  if (dashes < 0) return undefined
  const start = Math.max(0, at - 56) + dashes
  KEY_HEADER.lastIndex = start
  if (!KEY_HEADER.test(text)) return undefined
  const end = keyLinesEnd(text, KEY_HEADER.lastIndex)
  KEY_BREAK.lastIndex = end
  KEY_FOOTER.lastIndex = KEY_BREAK.test(text) ? KEY_BREAK.lastIndex : end
  return { start, end: KEY_FOOTER.test(text) ? KEY_FOOTER.lastIndex : end }
}

/** Where the lines of base64 from `at` end. A word behind a blank is no line of a key. */
function keyLinesEnd(text: string, at: number): number {
  let end = at
  for (;;) {
    KEY_BREAK.lastIndex = end
    const from = KEY_BREAK.test(text) ? KEY_BREAK.lastIndex : end
    KEY_FACT.lastIndex = from
    const stop = KEY_FACT.test(text) ? KEY_FACT.lastIndex : runEnd(text, from, 'base64')
    const isNewLine = from === at || /[\n\\]/.test(text.slice(end, from))
    if (stop === from || (!isNewLine && stop - from < 40)) return end
    end = stop
  }
}

const PUTTY_LINES = /Private-Lines: ?[0-9]{1,3}/y

function puttyKey(text: string, at: number, reached: number): Span | undefined {
  if (at < reached) return undefined
  PUTTY_LINES.lastIndex = at
  if (!PUTTY_LINES.test(text)) return undefined
  const start = PUTTY_LINES.lastIndex
  return { start, end: keyLinesEnd(text, start) }
}

const JWT_NEXT = /\.[A-Za-z0-9_-]{8}/y

function jsonWebToken(text: string, at: number, reached: number): Span | number | undefined {
  if (at < reached) return undefined
  const header = runEnd(text, at, 'urlSafe')
  JWT_NEXT.lastIndex = header
  if (!JWT_NEXT.test(text)) return header
  if (header - at < 12) return undefined
  const payload = runEnd(text, header + 1, 'urlSafe')
  if (text[payload] !== '.') return payload - header > 20 ? { start: at, end: payload } : undefined
  return { start: at, end: runEnd(text, payload, 'dotted') }
}

const USER_INFO =
  /(?<user>[^\s/?#@:"'`<>\\(){}[\]]{0,80})(?::(?<password>[^\s/?#"'`<>\\]{1,256}))?@(?=[A-Za-z0-9._[-])/y

function urlPassword(text: string, at: number): Span | undefined {
  USER_INFO.lastIndex = at + 3
  const found = USER_INFO.exec(text)?.groups
  if (!found) return undefined
  const start = at + 3
  const { user = '', password } = found
  if (password === undefined) {
    const isToken = user.length >= 20 && looksRandom(user)
    return isToken ? { start, end: start + user.length } : undefined
  }
  if (isPlaceholder(password)) return undefined
  const passwordAt = start + user.length + 1
  return { start: passwordAt, end: passwordAt + password.length }
}

const SCHEME_VALUE = /\s{1,4}(?<secret>[A-Za-z0-9._~+/=-]{16,4096})/y

function schemeValue(text: string, at: number): Span | undefined {
  return randomAfter(text, at + 'bearer'.length, SCHEME_VALUE)
}

function randomAfter(text: string, at: number, pattern: RegExp): Span | undefined {
  pattern.lastIndex = at
  const secret = pattern.exec(text)?.groups?.secret
  if (secret === undefined || !looksRandom(secret)) return undefined
  return { start: pattern.lastIndex - secret.length, end: pattern.lastIndex }
}

const BASIC = /\s{1,4}(?<secret>[A-Za-z0-9+/]{8,2048}={0,2})/y

/** What follows `Basic` is a user and a password only if it decodes to two parts. */
function basicValue(text: string, at: number): Span | undefined {
  BASIC.lastIndex = at + 'basic'.length
  const secret = BASIC.exec(text)?.groups?.secret
  if (secret === undefined || !/^[\x20-\x7e]*:[\x20-\x7e]*$/.test(Buffer.from(secret, 'base64').toString('latin1')))
    return undefined
  return { start: BASIC.lastIndex - secret.length, end: BASIC.lastIndex }
}

const AUTHORIZATION =
  /\\{0,3}["'`]?\]?[ \t]{0,4}[:=,][ \t]{0,4}\\{0,3}["'`]?(?:[A-Za-z][A-Za-z0-9-]{1,20}[ \t]{1,4})?(?<secret>[A-Za-z0-9._~+/=-]{12,4096})/y

function authorizationValue(text: string, at: number): Span | undefined {
  return randomAfter(text, at + 'authorization'.length, AUTHORIZATION)
}

const COOKIE =
  /\\{0,3}["'`]?[ \t]{0,4}:[ \t]{0,4}\\{0,3}["'`]?[A-Za-z0-9_.-]{1,64}=(?<secret>[A-Za-z0-9._~+/%=-]{16,4096})/y

function cookieValue(text: string, at: number): Span | undefined {
  return randomAfter(text, at + 'cookie'.length, COOKIE)
}
