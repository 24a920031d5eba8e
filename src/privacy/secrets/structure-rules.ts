import type { Span } from '../mark.js'
import { keyLinesEnd, privateKeyBlock } from './key-block.js'
import { isPlaceholder, isPlausiblePassword, looksRandom } from './plausible-value.js'
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
  {
    name: 'url-password',
    anchors: [{ text: ':\\/\\/', anyCase: false }],
    match: (text, at) => urlPassword(text, at + 2),
  },
  { name: 'sql-password', anchors: [{ text: 'identified', anyCase: true }], match: identifiedBy },
  { name: 'bearer', anchors: [{ text: 'bearer', anyCase: true }], match: schemeValue },
  { name: 'basic-auth', anchors: [{ text: 'Basic ', anyCase: false }], match: basicValue },
  {
    name: 'basic-auth',
    anchors: ['auth=(', 'auth = (', 'BasicAuth('].map((text) => ({ text, anyCase: false })),
    match: authPair,
  },
  { name: 'authorization', anchors: [{ text: 'authorization', anyCase: true }], match: authorizationValue },
  { name: 'cookie', anchors: [{ text: 'cookie', anyCase: true }], match: cookieValue },
  patternRule('azure-signature', {
    anchors: ['sig='],
    pattern: /sig=(?<secret>[A-Za-z0-9%+/]{30,200})/,
    tail: 'base64',
  }),
  patternRule('aws-signature', {
    anchors: ['X-Amz-Signature='],
    pattern: /X-Amz-Signature=(?<secret>[0-9a-fA-F]{64})/,
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

const PUTTY_LINES = /Private-Lines: ?[0-9]{1,3}/y

function puttyKey(text: string, at: number, reached: number): Span | undefined {
  if (at < reached) return undefined
  PUTTY_LINES.lastIndex = at
  if (!PUTTY_LINES.test(text)) return undefined
  const start = PUTTY_LINES.lastIndex
  const end = keyLinesEnd(text, start)
  return end > start ? { start, end } : undefined
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

const IDENTIFIED_BY =
  /identified(?:[ \t]{1,4}with[ \t]{1,4}\S{1,60})?[ \t]{1,4}(?:by|as)[ \t]{1,4}(?:password[ \t]{1,4})?\\{0,3}(?<quote>['"])(?<secret>(?:(?!\k<quote>)[^\n\\]){1,200})/iy

function identifiedBy(text: string, at: number): Span | undefined {
  IDENTIFIED_BY.lastIndex = at
  const secret = IDENTIFIED_BY.exec(text)?.groups?.secret
  if (secret === undefined || isPlaceholder(secret)) return undefined
  return { start: IDENTIFIED_BY.lastIndex - secret.length, end: IDENTIFIED_BY.lastIndex }
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

const AUTH_PAIR =
  /(?:auth ?= ?|BasicAuth)\(\s{0,40}["'][^"'\n]{1,80}["'],\s{0,40}[rbuf]?(?<quote>["'])(?<secret>(?:(?!\k<quote>)[^\n]){6,200})/dy

/** A user and a password as two arguments: `auth=('ada', '…')`. */
function authPair(text: string, at: number): Span | undefined {
  AUTH_PAIR.lastIndex = at
  const [start, end] = AUTH_PAIR.exec(text)?.indices?.groups?.secret ?? [0, 0]
  const writing = { isLiteral: false, isLabel: false, isCode: false }
  return end > start && isPlausiblePassword(text.slice(start, end), writing) ? { start, end } : undefined
}

const AUTHORIZATION =
  /\\{0,3}["'`]?\]?[ \t]{0,4}[:=,][ \t]{0,4}\\{0,3}["'`]?(?:[A-Za-z][A-Za-z0-9-]{1,20}[ \t]{1,4})?(?<secret>[A-Za-z0-9._~+/=-]{12,4096})/y

function authorizationValue(text: string, at: number): Span | undefined {
  return randomAfter(text, at + 'authorization'.length, AUTHORIZATION)
}

const COOKIE =
  /\\{0,3}["'`]?(?:[ \t]{0,4}:[ \t]{0,4}|[ \t]{1,4}(?=\\{0,3}["'`]))\\{0,3}["'`]?(?=[A-Za-z0-9_.-]{1,64}=)/y
const NEXT_COOKIE = /(?<name>[A-Za-z0-9_.-]{1,64})=(?<value>[A-Za-z0-9._~+/%=-]{0,4096})(?:;[ \t]{0,4})?/y
const MOST_COOKIES = 50

/** The first of them that looks like one; what comes after it is found when this one has been taken out. */
function cookieValue(text: string, at: number): Span | undefined {
  COOKIE.lastIndex = at + 'cookie'.length
  if (!COOKIE.test(text)) return undefined
  let end = COOKIE.lastIndex
  let last: Span | undefined
  for (let n = 0; n < MOST_COOKIES; n += 1) {
    NEXT_COOKIE.lastIndex = end
    const { name = '', value = '' } = NEXT_COOKIE.exec(text)?.groups ?? {}
    if (name === '') break
    const start = end + name.length + 1
    if (value.length >= 16 && looksRandom(value)) last = { start: last?.start ?? start, end: start + value.length }
    end = NEXT_COOKIE.lastIndex
  }
  return last
}
