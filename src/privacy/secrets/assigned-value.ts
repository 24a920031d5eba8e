import type { Span } from '../mark.js'
import { looksRandom, type Writing } from './plausible-value.js'
import { type OpenQuote, quotedSpan, STRING_PREFIX, unquotedEnd } from './quoted-value.js'
import { isIn } from './rule.js'

/** A value, and how it is written. */
export interface Reading {
  value: Span
  writing: Writing
}
type Given = Omit<Writing, 'isCode'>

// What may stand between the word and its value: the rest of the name, quotes, `=` `:` `:=` `=>`.
const AFTER_WORD =
  /(?:[_-]?(?:value|val|b64|base64|base|prod|dev|live|test|[0-9]{1,2})(?![A-Za-z0-9]))?(?<close>\\{0,3}["'`]?\]?\)?)(?:\*\*)?/y
const ESCAPED_SIGN = /(?<=\\)u003[aAdD]/y
const MOST_BLANKS = 16
/** An opening quote, with what may be right before it. */
const OPENING = new RegExp(String.raw`(?<prefix>${STRING_PREFIX})(?<slashes>\\{0,7})(?<quote>["'\x60])`, 'y')
/** What such a string may begin with; asked first, because most values are not between quotes. */
const CAN_OPEN = '"\'`\\rRbBfFuUL$@#'
/** A type between the name and the value: `password: string = "…"`, `secret: &str = "…"`. */
const TYPED =
  /(?:[ \t]{0,4}\??:[ \t]{0,4}[&A-Za-z][\w<>[\]|?.&' ]{0,40}?|[ \t]{1,4}string)[ \t]{0,4}=[ \t]{0,8}(?=\\{0,3}["'`])/y
/** Behind a name between quotes, or a function of that name: `define('DB_PASSWORD', '…')`, `setPassword("…")`. */
const NEXT_ARGUMENT = /(?:(?<=["'`])\)?[ \t]{0,4},[ \t]{0,8}|\()(?=\\{0,3}["'`])/y
/** A text of its own lines in YAML: `password: |`. */
const BLOCK = /[ \t]{0,4}:[ \t]{0,4}[|>][+0-9-]{0,2}[ \t]{0,4}(?:\r?\n|\\n)[ \t]{1,40}/y
/** A name and a value that stand side by side as values of their own: `name: DB_PASSWORD`, `value: …`, also in JSON and XML. */
const NAMED = /(?:name|key|variable|id)\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}["']?$/i
const ITS_VALUE =
  /\\{0,3}["']?[ \t]{0,4},?(?:\s|\\n){0,40}\\{0,3}["']?(?:value|val)\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}/iy
const VALUE_BEFORE =
  /(?:value|val)\\{0,3}["']?[ \t]{0,4}[:=][ \t]{0,4}\\{0,3}["'](?<value>[^"'\n\\]{3,200})\\{0,3}["']\s{0,40},?\s{0,40}\\{0,3}["']?$/i
/** A blank or a sign; between items of a list, a comma. */
const AFTER_FLAG = /(?:[ \t]{1,4}|=|(?<=["']),[ \t]?(?=\\{0,3}["']))(?!-)/y
const AFTER_TAG = /(?:[ \t][^<>]{0,80})?>(?<data><!\[CDATA\[)?/y
/** A list of properties: the name is an element, and so is the value that follows. */
const NEXT_ELEMENT = /<\/key>\s{0,40}<(?:string|data)>/y

// What may be between the sign and the value.
/** An anchor or a tag of YAML. */
const NOTE = /(?:[&!][^\s"'`,;(){}]{0,60}[ \t]{1,4}){1,2}/y
const NEXT_LINE = /[ \t]{0,8}\r?\n[ \t]{1,60}/y
/** How PHP prints a string. */
const DUMPED = /string\([0-9]{1,5}\) (?=")/y
const HERE_DOCUMENT = /<<[-~]?["']?[A-Za-z_]{1,20}["']?\r?\n[ \t]{0,60}/y
const LONG_BRACKET = /\[\[\n?/y
/** Functions and types that hold their first argument and nothing else. Others may take a question, a name or a path. */
const WRAPPED =
  /(?:\(|(?:new )?(?:Some|Ok|Just|Secret(?:Str|Bytes|String|Value)?|Sensitive|Redacted|Password|String|str|bytes|Bytes|bytearray|[a-z]{2,8}\.String|Buffer\.from|pulumi\.secret)(?:::(?:from|new))?\()\s{0,60}/y
/** What is used where the name has no value: `env.API_KEY ?? '…'`. */
const FALLBACK = /[ \t]{0,4}(?:\|\||\?\?|or[ \t]|\?:)[ \t]{0,4}(?=\\{0,7}["'`])/y
const HERE_STRING = /[ \t]{1,4}<<<[ \t]{0,4}/y
/** The next cell of a table. */
const NEXT_CELL = /[ \t]{1,24}\|[ \t]{1,24}`?/y
const CELL_END = /`?[ \t]{1,24}\|/y
const CELL_LEAST = 16

/** The value that the name ending at `end` is given, if it is given one. */
export function readValue(text: string, nameStart: number, end: number): Reading | undefined {
  const from = !isSignOrBlank(text.charCodeAt(end)) && matches(AFTER_WORD, text, end) ? AFTER_WORD.lastIndex : end
  const sign = text.charCodeAt(blanksEnd(text, from, 4))
  // A colon, a question mark or an `s` begins what follows a type, and a colon a block.
  if ((sign === 58 || sign === 63 || sign === 115) && matches(TYPED, text, from))
    return readFrom(text, TYPED.lastIndex, { isLiteral: true, isLabel: false })
  if (sign === 58 && matches(BLOCK, text, from)) return bare(text, BLOCK.lastIndex, { isLiteral: false, isLabel: true })
  const beside = readBeside(text, nameStart, end)
  if (beside) return beside
  const separator = separatorAt(text, from)
  if (separator) {
    // `def login(user, password):` begins a function.
    if (separator.given.isLabel && text[from - 1] === ')' && /[\r\n]/.test(text[separator.at] ?? '')) return undefined
    return readAssigned(text, separator.at, separator.given)
  }
  const isFlag = text[nameStart] === '-'
  // Names stand in lists, too: only what looks like a value is one.
  if (!isFlag && matches(NEXT_ARGUMENT, text, from))
    return readFrom(text, NEXT_ARGUMENT.lastIndex, { isLiteral: false, isLabel: false }, true)
  if (isFlag && isFlagEnd(text.slice(end, from)) && matches(AFTER_FLAG, text, from))
    return readFrom(text, AFTER_FLAG.lastIndex, { isLiteral: true, isLabel: false })
  if ((sign === 124 || sign === 63 || sign === 111) && matches(FALLBACK, text, from))
    return readFrom(text, FALLBACK.lastIndex, { isLiteral: false, isLabel: false }, true)
  if (sign === 60 && matches(HERE_STRING, text, from))
    return readFrom(text, HERE_STRING.lastIndex, { isLiteral: true, isLabel: false })
  return readInElement(text, nameStart, end) ?? readCell(text, from) ?? readWithoutSign(text, nameStart, from, end)
}

/** Nothing, or the quote that closes an item of a list. */
const isFlagEnd = (close: string): boolean => /^(?:\\{0,3}")?$/.test(close)

/** `=`, `:`, `:=` or `=>` with blanks around it, and where the value begins. Not `==`, not `::`. */
function separatorAt(text: string, from: number): { at: number; given: Given } | undefined {
  const start = blanksEnd(text, from, MOST_BLANKS)
  const length = signLength(text, start)
  if (length === 0) return undefined
  const end = text.startsWith('**', start + length) ? start + length + 2 : start + length
  const at = blanksEnd(text, end, MOST_BLANKS)
  const sign = length === 1 ? text.charCodeAt(start) : 0
  return { at, given: { isLiteral: sign === 61 && start === from && at === end, isLabel: sign === 58 } }
}

function signLength(text: string, at: number): number {
  const next = text.charCodeAt(at + 1)
  switch (text.charCodeAt(at)) {
    case 61:
      return next === 62 ? 2 : next === 61 ? 0 : 1
    case 58:
      return next === 61 ? 2 : next === 58 ? 0 : 1
    case 0xff1a: // the wide forms
    case 0xff1d:
      return 1
    case 117:
      return matches(ESCAPED_SIGN, text, at) ? 5 : 0
    default:
      return 0
  }
}

/** Most values come right behind their sign; what else may be there is told by one character. */
function readAssigned(text: string, at: number, given: Given): Reading | undefined {
  switch (text[at]) {
    case '&':
    case '!':
      return given.isLabel && matches(NOTE, text, at)
        ? readFrom(text, NOTE.lastIndex, given)
        : readFrom(text, at, given)
    case '\r':
    case '\n':
      return matches(NEXT_LINE, text, at) ? readNextLine(text, NEXT_LINE.lastIndex, given) : undefined
    case '<':
      return matches(HERE_DOCUMENT, text, at)
        ? bare(text, HERE_DOCUMENT.lastIndex, { isLiteral: true, isLabel: false })
        : undefined
    case '[':
      if (!matches(LONG_BRACKET, text, at)) return undefined
      return bare(text, LONG_BRACKET.lastIndex, { isLiteral: true, isLabel: false })
    default:
      return canWrap(text, at) && matches(WRAPPED, text, at) && matches(OPENING, text, WRAPPED.lastIndex)
        ? readFrom(text, WRAPPED.lastIndex, { ...given, isLiteral: false })
        : readFrom(text, at, given)
  }
}

/** Whether a bracket ends the name that begins here, if there is one. */
function canWrap(text: string, from: number): boolean {
  let at = from
  while (at - from < LONGEST_WRAPPER && isIn('dotted', text, at)) at += 1
  const code = text.charCodeAt(at)
  // A blank or two colons may be within such a name.
  return code === 40 || code === 58 || code === 32
}
const LONGEST_WRAPPER = 24

/** Between quotes, it is a value on any line. Without them, only behind a colon, and where nothing else is on the line. */
function readNextLine(text: string, at: number, given: Given): Reading | undefined {
  const start = matches(DUMPED, text, at) ? DUMPED.lastIndex : at
  if (matches(OPENING, text, start)) return readFrom(text, start, given)
  const reading = given.isLabel ? bare(text, start, { ...given, isLiteral: false }) : undefined
  return reading && /^[ \t]{0,8}(?:\r?\n|$)/.test(text.slice(reading.value.end, reading.value.end + 12))
    ? reading
    : undefined
}

function readBeside(text: string, nameStart: number, end: number): Reading | undefined {
  if (!isBehindSign(text, nameStart)) return undefined
  const left = text.slice(Math.max(0, nameStart - 24), nameStart)
  const named = NAMED.exec(left)
  if (!named) return undefined
  if (matches(ITS_VALUE, text, end)) return readFrom(text, ITS_VALUE.lastIndex, { isLiteral: true, isLabel: false })
  const nameAt = nameStart - left.length + named.index
  const before = VALUE_BEFORE.exec(text.slice(Math.max(0, nameAt - 400), nameAt))
  const value = before?.groups?.value
  if (before === null || value === undefined) return undefined
  const start = Math.max(0, nameAt - 400) + before.index + before[0].indexOf(value, before[0].search(/[:=]/))
  return { value: { start, end: start + value.length }, writing: { isLiteral: true, isLabel: false, isCode: false } }
}

/** How far before a name its sign may be: see `NAMED`. */
const SIGN_REACH = 10
/** Whether a sign stands before a name, with blanks, backslashes and a quote between: asked for every name, and most have none. */
function isBehindSign(text: string, nameStart: number): boolean {
  const first = nameStart - SIGN_REACH
  let at = nameStart - 1
  const quote = text.charCodeAt(at)
  if (quote === 34 || quote === 39) at -= 1
  while (at >= first && text.charCodeAt(at) === 92) at -= 1
  while (at >= first && (text.charCodeAt(at) === 32 || text.charCodeAt(at) === 9)) at -= 1
  const sign = text.charCodeAt(at)
  return sign === 58 || sign === 61
}

function readInElement(text: string, nameStart: number, end: number): Reading | undefined {
  let start: number | undefined
  let close = '</'
  if (text[end] === '<' && matches(NEXT_ELEMENT, text, end)) start = NEXT_ELEMENT.lastIndex
  else if (text[nameStart - 1] === '<') {
    AFTER_TAG.lastIndex = end
    const tag = AFTER_TAG.exec(text)
    if (tag) start = AFTER_TAG.lastIndex
    if (tag?.groups?.data) close = ']]>'
  }
  if (start === undefined) return undefined
  const length = text.slice(start, start + 512).indexOf(close)
  if (length <= 0) return undefined
  return { value: { start, end: start + length }, writing: { isLiteral: true, isLabel: true, isCode: false } }
}

/** A cell of a table may hold anything: only what cannot be a word is taken for a value. */
function readCell(text: string, from: number): Reading | undefined {
  if (!isBlank(text.charCodeAt(from)) || !matches(NEXT_CELL, text, from)) return undefined
  const reading = bare(text, NEXT_CELL.lastIndex, { isLiteral: false, isLabel: false })
  if (!reading) return undefined
  const { start, end } = reading.value
  return end - start >= CELL_LEAST && matches(CELL_END, text, end) && looksRandom(text.slice(start, end))
    ? reading
    : undefined
}

/** `ENV NAME value`, `login x password value`, `requirepass value`: a few files have no sign between name and value. */
function readWithoutSign(text: string, nameStart: number, from: number, end: number): Reading | undefined {
  if (from !== end || (text[end] !== ' ' && text[end] !== '\t')) return undefined
  const before = text.slice(Math.max(0, nameStart - 80), nameStart)
  const word = text.slice(nameStart, end)
  const quoted = /^[ \t]{1,4}(?=['"])/.exec(text.slice(end, end + 8))
  if (quoted && /^password$/i.test(word)) {
    // In SQL any text is a password; in a sentence only what looks like one.
    const isLiteral = /\b(?:user|role|login|account)\b/i.test(before)
    return readFrom(text, end + quoted[0].length, { isLiteral, isLabel: false }, true)
  }
  const isKnown =
    (/(?:^|[\n;&|])[ \t]*(?:ENV|ARG|setenv|setx|#[ \t]?define|set[ \t]+-[a-zA-Z]{1,4})[ \t]+$/.test(before) &&
      /^[A-Z0-9_]+$/.test(word)) ||
    (word === 'password' && /(?:login|user|account|connect)[ \t]+\S+\s+$/.test(before)) ||
    (/^aws_/.test(word) && /configure[ \t]+set[ \t]+$/.test(before)) ||
    /(?:^|\n)(?:requirepass|masterauth)$/i.test(`\n${word}`)
  if (!isKnown) return undefined
  const blank = /^[ \t]{1,8}/.exec(text.slice(end, end + 8))?.[0].length ?? 0
  return readFrom(text, end + blank, { isLiteral: true, isLabel: false })
}

/** `asGiven`: quotes alone do not make it a value. */
function readFrom(text: string, start: number, given: Given, asGiven = false): Reading | undefined {
  if (!CAN_OPEN.includes(text.charAt(start))) return bare(text, start, given)
  OPENING.lastIndex = start
  const { prefix = '', slashes = '', quote } = OPENING.exec(text)?.groups ?? {}
  if (quote === undefined) return bare(text, start, given)
  const open: OpenQuote = { sign: quote, slashes: slashes.length }
  const value = quotedSpan(text, OPENING.lastIndex, open)
  if (!value) return undefined
  // A text with places to be filled in is no value.
  if (/[fF$]/.test(prefix) && text.slice(value.start, value.end).includes('{')) return undefined
  return { value, writing: { ...given, isLiteral: given.isLiteral || !asGiven, isCode: false } }
}

function bare(text: string, start: number, given: Given): Reading | undefined {
  const end = unquotedEnd(text, start)
  return end === undefined
    ? undefined
    : { value: { start, end }, writing: { ...given, isCode: /[([{.]/.test(text[end] ?? '') } }
}

/** Behind the blanks from there. */
function blanksEnd(text: string, from: number, most: number): number {
  let at = from
  while (at - from < most && isBlank(text.charCodeAt(at))) at += 1
  return at
}
const isSignOrBlank = (code: number): boolean => isBlank(code) || code === 58 || code === 61
const isBlank = (code: number): boolean => code === 32 || code === 9 || code === 0xa0

function matches(pattern: RegExp, text: string, at: number): boolean {
  pattern.lastIndex = at
  return pattern.test(text)
}
