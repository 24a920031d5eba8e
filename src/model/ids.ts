import { SkeinError } from './error.js'

declare const idBrand: unique symbol
type Branded<Name extends string> = string & { readonly [idBrand]: Name }

/** The id the agent program gave its own conversation, and so the session's id. Opaque: compare it, store it, never parse it. */
export type SessionId = Branded<'SessionId'>
/** The id of an agent: chosen once, survives every rename and move. */
export type AgentId = Branded<'AgentId'>
/** A UUIDv7. Ids rise strictly in journal order, so one id is also a position: everything up to it, nothing after it. */
export type EventId = Branded<'EventId'>
/** The id of a work unit: ours, or that of the program which keeps the work. */
export type WorkId = Branded<'WorkId'>
export type MailId = Branded<'MailId'>

// Ids become file names and terminal output: no slash, no leading dot or dash, no control characters.
const OPAQUE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const EVENT_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
/** The last millisecond of the year 9999. An id beyond it is none: counting on from there would leave the form of an id. */
const LAST_MS = 253_402_300_799_999
const BEYOND_LAST = hexTime(LAST_MS + 1)

export const isSessionId = (text: unknown): text is SessionId => typeof text === 'string' && OPAQUE_ID.test(text)
export const isAgentId = (text: unknown): text is AgentId => typeof text === 'string' && OPAQUE_ID.test(text)
export const isWorkId = (text: unknown): text is WorkId => typeof text === 'string' && OPAQUE_ID.test(text)
export const isMailId = (text: unknown): text is MailId => typeof text === 'string' && OPAQUE_ID.test(text)
export const isEventId = (text: unknown): text is EventId =>
  typeof text === 'string' && text < BEYOND_LAST && EVENT_ID.test(text)

export function parseSessionId(text: string): SessionId {
  if (isSessionId(text)) return text
  throw badId('session id', text)
}

export function parseAgentId(text: string): AgentId {
  if (isAgentId(text)) return text
  throw badId('agent id', text)
}

function badId(what: string, text: unknown): SkeinError {
  return new SkeinError(
    'bad-id',
    `${JSON.stringify(String(text).slice(0, 140))} cannot be a ${what}`,
    'Use 1 to 128 letters, digits, ".", "_" or "-", starting with a letter or digit',
  )
}

/**
 * The id after `last`: later in time when the clock moved on, else one step up in the same millisecond.
 * A clock that was set back must not make ids fall, because a falling id would be read as a duplicate.
 */
export function nextEventId(last: EventId | undefined, nowMs: number, random: Uint8Array): EventId {
  let ms = nowMs
  let counter = ((random[0] ?? 0) << 3) | ((random[1] ?? 0) & 7) // 11 bits: leaves half the range to count up in
  if (last) {
    const lastMs = msOfEventId(last)
    if (lastMs >= nowMs) {
      ms = lastMs
      counter = Number.parseInt(last.slice(15, 18), 16) + 1
      if (counter > 0xfff) {
        if (lastMs >= LAST_MS) return successorOf(last)
        ms += 1
        counter = 0
      }
    }
  }
  const tail = Buffer.from(random.subarray(2, 10)).toString('hex')
  const variant = (8 | (Number.parseInt(tail[0] ?? '0', 16) & 3)).toString(16)
  return `${hexTime(ms)}-7${counter.toString(16).padStart(3, '0')}-${variant}${tail.slice(1, 4)}-${tail.slice(4, 16)}` as EventId
}

/** When an id was made, as far as its maker's clock was right: ids never fall, so it may be later than that clock said. */
export const msOfEventId = (id: EventId): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** Every id of an earlier time is below it, every other is not. */
export const firstIdOf = (ms: number): string => hexTime(Math.max(0, Math.min(ms, LAST_MS)))

/** In the last millisecond that an id can have, the digits that are otherwise random count on. */
function successorOf(last: EventId): EventId {
  const variantBits = BigInt(Number.parseInt(last.charAt(19), 16) & 3) << 60n
  const next = (variantBits | BigInt(`0x${last.slice(20, 23)}${last.slice(24)}`)) + 1n
  if (next >> 62n > 0n) {
    throw new SkeinError(
      'home-unreadable',
      `The journal ends with ${last} , the highest possible id`,
      'Remove that line from the newest file in events/, then try again',
    )
  }
  const digits = ((2n << 62n) | next).toString(16)
  return `${last.slice(0, 19)}${digits.slice(0, 4)}-${digits.slice(4)}` as EventId
}

function hexTime(ms: number): string {
  const time = ms.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}`
}
