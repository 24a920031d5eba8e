import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Span } from './mark.js'
import { isVisibleAscii } from './secrets/decoded-runs.js'

/** What is kept of a secret so that it is known again, and cannot be read: its length, a rough print, and a salted hash. */
export interface SecretPrint {
  /** In UTF-16 units. */
  length: number
  /** 32 random bytes, as hex. */
  salt: string
  hash: string
  /** 20 bits: tells where it is worth while to compute the hash. */
  rough: number
  /** Only of ASCII that can be seen, as most are: then there are fewer places where it may lie encoded. */
  ascii?: true
}

export function printOf(secret: string, salt: Uint8Array): SecretPrint {
  const hex = Buffer.from(salt).toString('hex')
  const base = baseOf(hex)
  let sum = 0
  for (let at = 0; at < secret.length; at += 1) sum = (Math.imul(sum, base) + secret.charCodeAt(at)) | 0
  const print = { length: secret.length, salt: hex, hash: hashOf(hex, secret), rough: sum >>> 12 }
  return isVisibleAscii(secret) ? { ...print, ascii: true } : print
}

/** Finds a secret in a text without knowing it. Looks at each character twice. */
export function printedSpans(text: string, { length, salt, hash, rough }: SecretPrint): Span[] {
  if (text.length < length) return []
  const base = baseOf(salt)
  let leaving = 1
  for (let at = 1; at < length; at += 1) leaving = Math.imul(leaving, base)
  const found: Span[] = []
  let sum = 0
  for (let at = 0; at < text.length; at += 1) {
    if (at >= length) sum = (sum - Math.imul(leaving, text.charCodeAt(at - length))) | 0
    sum = (Math.imul(sum, base) + text.charCodeAt(at)) | 0
    const start = at + 1 - length
    if (start < 0 || sum >>> 12 !== rough || !isSecret(text.slice(start, at + 1), salt, hash)) continue
    found.push({ start, end: at + 1 })
  }
  return found
}

/** Odd, so that no character of the window is lost from the sum. */
const baseOf = (salt: string): number => Number.parseInt(salt.slice(0, 8), 16) | 1

const hashOf = (salt: string, text: string): string =>
  createHmac('sha256', Buffer.from(salt, 'hex')).update(text, 'utf16le').digest('hex')

const isSecret = (text: string, salt: string, hash: string): boolean =>
  timingSafeEqual(Buffer.from(hashOf(salt, text), 'hex'), Buffer.from(hash, 'hex'))
