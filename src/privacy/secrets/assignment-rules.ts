import { readValue } from './assigned-value.js'
import { hasHidden, shownOf } from './hidden-characters.js'
import { isPlausiblePassword, isPlausibleToken, type Writing } from './plausible-value.js'
import { wholeValue } from './quoted-value.js'
import { isIn, NOT_HERE, type Rule } from './rule.js'

/** What a name promises about its value. */
type Kind = 'password' | 'secret' | 'token' | 'key'

/** How far left a name is read, and how long a field may be that its name tells about. */
const NAME_REACH = 48
const VALUE_REACH = 1_024

/** Qualifiers that make a `key` a secret one. */
const SECRET_KEY =
  /(?:api|app|application|access|secret|private|priv|signing|sign|encryption|encrypt|account|auth|master|service|storage|shared|subscription|session|client|admin|deploy|license|hmac|aes|crypto|cookie|root|server|write|ingest|webhook|consumer|instrumentation|management|functions?|host|security)[_\-. ]?$/i

/** What can stand right behind the word if a value is to follow. Most words are told from names by this alone. */
const CAN_FOLLOW = '=: \t\n"\'`\\])>_-0123456789vVbBpPdDlLtT：＝\u00a0?(*<|&%'
const canFollow = (code: number): boolean =>
  code < 256 ? CAN_FOLLOW_CODES[code] === 1 : CAN_FOLLOW.includes(String.fromCharCode(code))
const CAN_FOLLOW_CODES = Uint8Array.from({ length: 256 }, (_, code) =>
  CAN_FOLLOW.includes(String.fromCharCode(code)) ? 1 : 0,
)

/** Names such as `DB_PASSWORD`, `"api_key"`, `--token`, `<password>` or `X-Auth-Key`, and the value each is given. */
export const ASSIGNMENT_RULES: readonly Rule[] = [
  rule('password', [
    'passw',
    'passp',
    'passc',
    'pass=',
    'pass:',
    'pass"',
    "pass'",
    'pass\\',
    'pass =',
    '-pass ',
    'requirepass',
    'pass>',
    'psk=',
    'psk"',
    'pwd=',
    'pwd:',
    'pwd"',
    "pwd'",
    'pwd>',
  ]),
  rule('secret', ['secret']),
  rule('secret', ['credential']),
  rule('token', ['token']),
  rule('token', ['_auth']),
  rule('token', ['"auth']),
  rule('key', ['key']),
]

/** Whether a field of this name keeps a secret in this value: `{ "api_key": "…" }` read as JSON has no text around it. */
export function secretField(name: string, value: string): string | undefined {
  if (value.length < 3 || value.length > VALUE_REACH || !canNameSecret(name)) return undefined
  const text = `"${name}"="${value.replaceAll('"', "'")}"`
  for (const one of ASSIGNMENT_RULES) {
    for (const { text: word } of one.anchors) {
      const at = text.toLowerCase().lastIndexOf(word, name.length)
      if (at >= 0 && one.match(text, at, 0)) return one.name
    }
  }
  return undefined
}

/** Asked for every field of every line, of few different names: the answers are kept. */
const nameAnswers = new Map<string, boolean>()

export function canNameSecret(name: string): boolean {
  const known = nameAnswers.get(name)
  if (known !== undefined) return known
  const answer = /(?:pass|pwd|secret|credentials?|token|auth|key)[a-z0-9_-]{0,10}$/i.test(name)
  if (nameAnswers.size < 1_000) nameAnswers.set(name, answer)
  return answer
}

/** A value as a person reads it, also one that goes on in the next line. */
function shownValue(written: string): string {
  const joined = written.includes('\\') ? written.replace(LINE_JOIN, '') : written
  return hasHidden(joined, 0, joined.length) ? shownOf(joined) : joined
}
const LINE_JOIN = /\\\r?\n[ \t]{0,60}/g

function rule(kind: Kind, words: readonly string[]): Rule {
  return {
    name: kind,
    anchors: words.map((text) => ({ text, anyCase: true, ...(text.length < 4 ? { next: CAN_FOLLOW } : {}) })),
    match(text, at, reached) {
      const end = kind === 'password' ? passwordEnd(text, at) : wordEnd(words[0] as string, text, at)
      if (end === undefined || !canFollow(text.charCodeAt(end))) return NOT_HERE
      const nameStart = startOfName(text, at)
      if (isFollowedByWord(text, end) && !takesValueWithoutSign(text, nameStart, end))
        return text[nameStart - 1] === '\\' ? undefined : NOT_HERE
      const name = text.slice(nameStart, at)
      const reading = readValue(text, nameStart, end)
      if (reading === undefined || !isNamed(kind, name, text.slice(at, end), reading.writing)) return undefined
      const value = shownValue(text.slice(reading.value.start, reading.value.end))
      const plausible =
        kind === 'password'
          ? isPlausiblePassword(value, reading.writing)
          : isPlausibleToken(value, reading.writing) && (value.length >= 16 || name !== '' || kind !== 'key')
      return plausible ? wholeValue(text, reading.value, reached) : undefined
    },
  }
}

/** Where the whole word ends: the anchor of `password` is shorter than the word. */
function passwordEnd(text: string, at: number): number | undefined {
  PASSWORD_WORD.lastIndex = at
  return PASSWORD_WORD.test(text) ? PASSWORD_WORD.lastIndex : undefined
}
const PASSWORD_WORD = /(?:-|require)?(?:passwords?|passwort|passwd|passphrase|passcode|pass|pwd|psk)/iy

/** All others are their anchor. */
function wordEnd(word: string, text: string, at: number): number {
  const end = at + word.length
  return word === 'credential' && (text.charCodeAt(end) | 0x20) === 115 ? end + 1 : end
}

/** A blank and then neither a sign nor a quote: prose, or one of the few forms that have no sign. */
function isFollowedByWord(text: string, end: number): boolean {
  let at = end
  while (at - end < 16 && (text.charCodeAt(at) === 32 || text.charCodeAt(at) === 9)) at += 1
  if (at === end) return false
  MAY_GIVE.lastIndex = at
  return !MAY_GIVE.test(text)
}

/** A sign, or what comes before a fallback, a here-string or the next cell of a table; or an escape, which may be one. */
const MAY_GIVE = /[=:|\\%&]|\?[?:]|or[ \t]|<<</y

function takesValueWithoutSign(text: string, nameStart: number, end: number): boolean {
  const first = text[nameStart] ?? ''
  if (text.startsWith(' string', end)) return true
  return first === '-' || /^(?:[A-Z0-9_]{3,64}|password|requirepass|aws_[a-z_]{3,40})$/.test(text.slice(nameStart, end))
}

function startOfName(text: string, at: number): number {
  let start = at
  while (start > 0 && at - start < NAME_REACH && isIn('dotted', text, start - 1)) start -= 1
  return start
}

/** Whether what stands before the word lets it mean what it says. */
function isNamed(kind: Kind, name: string, word: string, { isLiteral }: Writing): boolean {
  switch (kind) {
    case 'password':
      // `bypass`, `compass`: only a whole part of a name counts for the short words.
      return (
        !/^(?:pass|psk)$/i.test(word) ||
        name === '' ||
        /[_.-]$|(?:require|db|ssh|user|root|admin|smtp|ftp|my)$/i.test(name) ||
        /^P/.test(word)
      )
    case 'key':
      if (/(?:public|primary|foreign|sort|cache|partition|publishable|hot|object|row|map)[_\-. ]?$/i.test(name))
        return false
      if (SECRET_KEY.test(name)) return true
      if (/[A-Z0-9]_$/.test(name) && word === 'KEY') return true
      return name === '' && isLiteral
    default:
      return true
  }
}
