import { readValue } from './assigned-value.js'
import { shownOf } from './hidden-characters.js'
import { isPlausiblePassword, isPlausibleToken, type Writing } from './plausible-value.js'
import { wholeValue } from './quoted-value.js'
import { isIn, type Rule } from './rule.js'

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
const CAN_FOLLOW_CODES: ReadonlySet<number> = new Set(Array.from(CAN_FOLLOW, (letter) => letter.charCodeAt(0)))

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
  rule('secret', ['secret', 'credential']),
  rule('token', ['token', '_auth', '"auth']),
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

/** A value that goes on in the next line. */
const LINE_JOIN = /\\\r?\n[ \t]{0,60}/g

function rule(kind: Kind, words: readonly string[]): Rule {
  return {
    name: kind,
    anchors: words.map((text) => ({ text, anyCase: true, ...(text.length < 4 ? { next: CAN_FOLLOW } : {}) })),
    match(text, at, reached) {
      const end = wordEnd(kind, text, at, words)
      if (end === undefined || !CAN_FOLLOW_CODES.has(text.charCodeAt(end))) return undefined
      const nameStart = startOfName(text, at)
      if (isFollowedByWord(text, end) && !takesValueWithoutSign(text, nameStart, end)) return undefined
      const name = text.slice(nameStart, at)
      const reading = readValue(text, nameStart, end)
      if (reading === undefined || !isNamed(kind, name, text.slice(at, end), reading.writing)) return undefined
      const value = shownOf(text.slice(reading.value.start, reading.value.end).replace(LINE_JOIN, ''))
      const plausible =
        kind === 'password'
          ? isPlausiblePassword(value, reading.writing)
          : isPlausibleToken(value, reading.writing) && (value.length >= 16 || name !== '' || kind !== 'key')
      return plausible ? wholeValue(text, reading.value, reached) : undefined
    },
  }
}

/** Where the whole word ends: the anchor of `password` is shorter than the word. */
function wordEnd(kind: Kind, text: string, at: number, words: readonly string[]): number | undefined {
  if (kind !== 'password' && words.length === 1) return at + (words[0] as string).length
  const near = text.slice(at, at + 12).toLowerCase()
  const word = kind === 'password' ? PASSWORD_WORD.exec(near)?.[0] : words.find((one) => near.startsWith(one))
  if (word === undefined) return undefined
  return at + word.length + (word === 'credential' && near[word.length] === 's' ? 1 : 0)
}

const PASSWORD_WORD = /^(?:-|require)?(?:passwords?|passwort|passwd|passphrase|passcode|pass|pwd|psk)/

/** A blank and then neither a sign nor a quote: prose, or one of the few forms that have no sign. */
function isFollowedByWord(text: string, end: number): boolean {
  let at = end
  while (at - end < 16 && (text.charCodeAt(at) === 32 || text.charCodeAt(at) === 9)) at += 1
  return at > end && !MAY_GIVE.test(text.slice(at, at + 3))
}

/** A sign, or what comes before a fallback, a here-string or the next cell of a table. */
const MAY_GIVE = /^(?:[=:|]|\?[?:]|or[ \t]|<<<)/

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
