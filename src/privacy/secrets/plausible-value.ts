import { isWordy } from './rule.js'

/** How a value was written down: the same letters are a password after `password=` and a type after `password: `. */
export interface Writing {
  /** Between quotes, after a flag, or joined to its name by `=` without spaces: it is a value, not code. */
  readonly isLiteral: boolean
  /** After a colon: could be a label of a form. */
  readonly isLabel: boolean
  /** What comes next makes it a call or a member: `getToken(`, `args.password`. */
  readonly isCode: boolean
}

const PLACEHOLDER =
  /^(?:[$%<@{[(&]|\\\$|[*x•.#_-]{2,}$|X{3,}|\.\.\.|(?:your|my|the|some|any|insert|enter|replace|example|sample|dummy|fake|placeholder|change|redacted|hidden|todo)(?:$|[-_ .A-Z])|(?:changeme|none|null|nil|undefined|true|false|yes|no|string|str|text|bool|boolean|number|int|integer|object|any|unknown|optional|required|type|value|bytes|char|void|self|this|function|async|await|new|return)$)/i
const PLACEHOLDER_WITHIN = /\$\{|\{\{|<[a-z_ -]+>|\*{4}|\.{3}|xxxx|%s|%d|process\.env|os\.environ|getenv|secrets\./i
const SENSITIVE_WORD = /pass|pwd|secret|token|key|cred|auth/i

export function isPlaceholder(value: string): boolean {
  return PLACEHOLDER.test(value) || PLACEHOLDER_WITHIN.test(value)
}

/** A password can be anything people type, so it is mostly where it stands that tells. */
export function isPlausiblePassword(value: string, { isLiteral, isLabel, isCode }: Writing): boolean {
  if (
    value.length < 3 ||
    isPlaceholder(value) ||
    /^(?:0x[0-9A-Fa-f]+|\.{0,2}\/[\w./-]*|[\w.]+\?\.[\w.?]+)$/.test(value)
  )
    return false
  if (!isLiteral && /^!+[A-Za-z_$][\w$]*\./.test(value)) return false // `!result.issues`
  const isName = /^[A-Za-z_][A-Za-z0-9_.]*$/.test(value)
  if (isName && SENSITIVE_WORD.test(value) && isWordy(value)) return false
  if (/\s/.test(value) && (isLabel || value.length > 80)) return false
  if (isLiteral) return !(isCode && isName) && !(isLabel && /^[A-Z][a-z]+$/.test(value))
  return value.length >= 6 && !isCode && hasTwoKinds(value) && !/^[a-z]+(?:[A-Z][a-z]+)*[.,:;!?]?$/.test(value)
}

/** A token, key or secret was made by a machine: it does not look like words. */
export function isPlausibleToken(value: string, { isLiteral, isCode }: Writing): boolean {
  if (value.length < (isLiteral ? 8 : 12) || isCode || !canLookRandom(value)) return false
  if (isPlaceholder(value) || /\s/.test(value)) return false
  if (/^(?:\.{0,2}\/|~\/|[A-Za-z]:\\|[a-z][a-z0-9+.-]*:\/\/)/.test(value)) return false
  return looksRandom(value)
}

/** Asked first: most values are words. */
const canLookRandom = (value: string): boolean => value.length >= LEAST_WITHOUT_DIGITS || /[0-9]/.test(value)
const LEAST_WITHOUT_DIGITS = 16

/** Digits among letters, or upper among lower case as no camel has them. */
export function looksRandom(value: string): boolean {
  if (!canLookRandom(value) || /^[0-9.,:-]+$/.test(value) || isWordy(value)) return false
  const letters = value.replace(/[^A-Za-z]/g, '').length
  if (/[0-9]/.test(value)) return letters > 0
  const upper = value.replace(/[^A-Z]/g, '').length
  return !/[-_.]/.test(value) && upper > letters * 0.3 && upper < letters * 0.7
}

/** Letters with digits or with signs that no plain word has. */
const hasTwoKinds = (value: string): boolean => /[A-Za-z]/.test(value) && /[0-9!@#$%^&*~+?]/.test(value)
