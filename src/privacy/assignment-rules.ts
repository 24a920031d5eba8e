import type { Span } from './mark.js'
import { isPlausiblePassword, isPlausibleToken, type Writing } from './plausible-value.js'
import { isIn, type Rule } from './rule.js'

/** What a name promises about its value. */
type Kind = 'password' | 'secret' | 'token' | 'key'

/** How far left a name is read, and how long a value may be that is looked at before it is believed. */
const NAME_REACH = 48
const VALUE_REACH = 1_024

// What may stand between the word and its value: the rest of the name, quotes, `=` `:` `:=` `=>`, an opening quote.
const AFTER_WORD =
  /(?:[_-]?(?:value|val|b64|base64|base|prod|dev|live|test|[0-9]{1,2})(?![A-Za-z0-9]))?(?<close>\\{0,3}["'`]?\]?\)?)/y
const SEPARATOR =
  /(?<before>[ \t\u00a0]{0,16})(?<sign>=>|:=|=(?!=)|:(?!:)|[：＝]|(?<=\\)u003[aAdD])(?<after>[ \t\u00a0]{0,16})(?:r?\\{0,3}(?<quote>["'`]))?/y
/** A type between the name and the value: `password: string = "…"`, `secret: &str = "…"`. */
const TYPED =
  /(?:[ \t]{0,4}\??:[ \t]{0,4}[&A-Za-z][\w<>[\]|?.&' ]{0,40}?|[ \t]{1,4}string)[ \t]{0,4}=[ \t]{0,8}\\{0,3}(?<quote>["'`])/y
/** Behind a name between quotes, or a function of that name: `define('DB_PASSWORD', '…')`, `setPassword("…")`. */
const NEXT_ARGUMENT = /(?<=["'`])\)?[ \t]{0,4},[ \t]{0,8}\\{0,3}(?<quote>["'`])|\(\\{0,3}(?<first>["'`])/y
/** A text of its own lines in YAML: `password: |`. */
const BLOCK = /[ \t]{0,4}:[ \t]{0,4}[|>][+-]?[ \t]{0,4}(?:\r?\n|\\n)[ \t]{1,40}/y
/** A name and a value that stand side by side as values of their own: `name: DB_PASSWORD`, `value: …`, also in JSON and XML. */
const NAMED = /(?:name|key|variable|id)\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}["']?$/i
const ITS_VALUE =
  /\\{0,3}["']?[ \t]{0,4},?(?:\s|\\n){0,40}\\{0,3}["']?(?:value|val)\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}(?<quote>["'])?/iy
/** A blank or a sign; between items of a list, a comma. */
const AFTER_FLAG = /(?<before>[ \t]{1,4}|=|(?<=["']),[ \t]?(?=\\{0,3}["']))\\{0,3}(?<quote>["'`])?(?!-)/y
const AFTER_TAG = /(?:[ \t][^<>]{0,80})?>/y
const UNQUOTED_STOPS: ReadonlySet<number> = new Set(
  Array.from(' \t\r\n\v\f\u00a0"\'`<>|;&,(){}[]', (letter) => letter.charCodeAt(0)),
)
const LOOK_AT = 128
/** Qualifiers that make a `key` a secret one. */
const SECRET_KEY =
  /(?:api|app|application|access|secret|private|priv|signing|sign|encryption|encrypt|account|auth|master|service|storage|shared|subscription|session|client|admin|deploy|license|hmac|aes|crypto|cookie|root|server|write|ingest|webhook|consumer|instrumentation|management|functions?|host|security)[_\-. ]?$/i

/** What can stand right behind the word if a value is to follow. Most words are told from names by this alone. */
const CAN_FOLLOW = '=: \t\n"\'`\\])>_-0123456789vVbBpPdDlLtT：＝\u00a0?('
const CAN_FOLLOW_CODES: ReadonlySet<number> = new Set(Array.from(CAN_FOLLOW, (letter) => letter.charCodeAt(0)))

interface Reading {
  value: Span
  writing: Writing
}

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
      const value = text.slice(reading.value.start, reading.value.end)
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
  const code = text.charCodeAt(at)
  return at > end && code !== 61 && code !== 58
}

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

/** The value that the name ending at `end` is given, if it is given one. */
function readValue(text: string, nameStart: number, end: number): Reading | undefined {
  AFTER_WORD.lastIndex = end
  const close = AFTER_WORD.exec(text)
  const from = end + (close?.[0].length ?? 0)
  const isFlag = text[nameStart] === '-'
  TYPED.lastIndex = from
  const typed = TYPED.exec(text)?.groups
  if (typed) return readFrom(text, TYPED.lastIndex, typed.quote, { isLiteral: true, isLabel: false })
  BLOCK.lastIndex = from
  if (BLOCK.test(text)) return readFrom(text, BLOCK.lastIndex, undefined, { isLiteral: false, isLabel: true })
  const beside = readBeside(text, nameStart, end)
  if (beside) return beside
  SEPARATOR.lastIndex = from
  const separator = SEPARATOR.exec(text)?.groups
  if (separator) {
    const isSpaced = separator.before !== '' || separator.after !== ''
    const isTight = separator.sign === '=' && !isSpaced
    return readFrom(text, SEPARATOR.lastIndex, separator.quote, {
      isLiteral: isTight || separator.quote !== undefined,
      isLabel: separator.sign === ':',
    })
  }
  NEXT_ARGUMENT.lastIndex = from
  const argument = isFlag ? undefined : NEXT_ARGUMENT.exec(text)?.groups
  // Names stand in lists, too: only what looks like a value is one.
  if (argument)
    return readFrom(text, NEXT_ARGUMENT.lastIndex, argument.quote ?? argument.first, {
      isLiteral: false,
      isLabel: false,
    })
  if (isFlag && (from === end || /^\\{0,3}"$/.test(close?.groups?.close ?? ''))) {
    AFTER_FLAG.lastIndex = from
    const flag = AFTER_FLAG.exec(text)?.groups
    if (flag) return readFrom(text, AFTER_FLAG.lastIndex, flag.quote, { isLiteral: true, isLabel: false })
  }
  if (text[nameStart - 1] === '<') {
    AFTER_TAG.lastIndex = end
    if (AFTER_TAG.test(text)) {
      const start = AFTER_TAG.lastIndex
      const stop = text.slice(start, start + 512).search(/<\//)
      if (stop > 0)
        return { value: { start, end: start + stop }, writing: { isLiteral: true, isLabel: true, isCode: false } }
    }
  }
  return readWithoutSign(text, nameStart, from, end)
}

function readBeside(text: string, nameStart: number, end: number): Reading | undefined {
  ITS_VALUE.lastIndex = end
  const value = ITS_VALUE.exec(text)?.groups
  if (!value || !NAMED.test(text.slice(Math.max(0, nameStart - 24), nameStart))) return undefined
  return readFrom(text, ITS_VALUE.lastIndex, value.quote, { isLiteral: true, isLabel: false })
}

/** `ENV NAME value`, `login x password value`, `requirepass value`: a few files have no sign between name and value. */
function readWithoutSign(text: string, nameStart: number, from: number, end: number): Reading | undefined {
  if (from !== end || (text[end] !== ' ' && text[end] !== '\t')) return undefined
  const before = text.slice(Math.max(0, nameStart - 80), nameStart)
  const word = text.slice(nameStart, end)
  const quoted = /^[ \t]{1,4}(?=['"])/.exec(text.slice(end, end + 8))
  if (quoted && /^password$/i.test(word)) {
    const start = end + quoted[0].length
    // In SQL any text is a password; in a sentence only what looks like one.
    const isLiteral = /\b(?:user|role|login|account)\b/i.test(before)
    return readFrom(text, start + 1, text[start], { isLiteral, isLabel: false })
  }
  const isKnown =
    (/(?:^|[\n;&|])[ \t]*(?:ENV|ARG|setenv|set[ \t]+-[a-zA-Z]{1,4})[ \t]+$/.test(before) &&
      /^[A-Z0-9_]+$/.test(word)) ||
    (word === 'password' && /(?:login|user|account|connect)[ \t]+\S+\s+$/.test(before)) ||
    (/^aws_/.test(word) && /configure[ \t]+set[ \t]+$/.test(before)) ||
    /(?:^|\n)(?:requirepass|masterauth)$/i.test(`\n${word}`)
  if (!isKnown) return undefined
  const blank = /^[ \t]{1,8}/.exec(text.slice(end, end + 8))?.[0].length ?? 0
  return readFrom(text, end + blank, undefined, { isLiteral: true, isLabel: false })
}

function readFrom(
  text: string,
  start: number,
  quote: string | undefined,
  writing: Omit<Writing, 'isCode'>,
): Reading | undefined {
  const end = quote === undefined ? unquotedEnd(text, start) : quotedEnd(text, start, quote)
  if (end === undefined || end <= start) return undefined
  const isCode = quote === undefined && /[([{.]/.test(text[end] ?? '')
  return { value: { start, end }, writing: { ...writing, isCode } }
}

/** The closing quote, on the same line. Without one, the value ends as if it had no quotes: the text was cut. */
function quotedEnd(text: string, start: number, quote: string): number | undefined {
  const limit = Math.min(text.length, start + VALUE_REACH)
  for (let at = start; at < limit; at += 1) {
    const letter = text[at]
    if (letter === '\n') break
    if (letter === quote) return text[at - 1] === '\\' ? endBeforeSlashes(text, start, at) : at
  }
  return unquotedEnd(text, start)
}

function endBeforeSlashes(text: string, start: number, at: number): number {
  let end = at
  while (end > start && text[end - 1] === '\\') end -= 1
  return end
}

/** Not the whole of a long one: enough to judge by. Of a value that is believed, the rest is taken too. */
function unquotedEnd(text: string, start: number): number | undefined {
  const limit = Math.min(text.length, start + LOOK_AT)
  let end = start
  while (end < limit) {
    const code = text.charCodeAt(end)
    if (UNQUOTED_STOPS.has(code) || (code === 92 && /[nrt"'`\\]/.test(text[end + 1] ?? ''))) break
    end += 1
  }
  return end === start ? undefined : end
}

function wholeValue(text: string, { start, end }: Span, reached: number): Span {
  let last = end
  for (
    let next: number | undefined = end;
    next !== undefined && last - start >= LOOK_AT;
    next = unquotedEnd(text, last)
  ) {
    last = next
    if (last < reached) return { start, end: reached }
  }
  return { start, end: last }
}
