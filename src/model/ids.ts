import { SkeinError } from './error.js'

declare const idBrand: unique symbol
type Branded<Name extends string> = string & { readonly [idBrand]: Name }

/** The id the agent program gave its own conversation, and so the session's id. Opaque: compare it, store it, never parse it. */
export type SessionId = Branded<'SessionId'>
/** The id of an agent: chosen once, survives every rename and move. */
export type AgentId = Branded<'AgentId'>
/** A UUIDv7. Ids rise strictly in journal order, so one id is also a position: everything up to it, nothing after it. */
export type EventId = Branded<'EventId'>

// Ids become file names and terminal output: no slash, no leading dot or dash, no control characters.
const OPAQUE_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/
const EVENT_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

export const isSessionId = (text: unknown): text is SessionId => typeof text === 'string' && OPAQUE_ID.test(text)
export const isEventId = (text: unknown): text is EventId => typeof text === 'string' && EVENT_ID.test(text)

export function parseSessionId(text: string): SessionId {
  if (isSessionId(text)) return text
  throw badId('session id', text)
}

export function parseAgentId(text: string): AgentId {
  if (OPAQUE_ID.test(text)) return text as AgentId
  throw badId('agent id', text)
}

function badId(what: string, text: string): SkeinError {
  return new SkeinError(
    'bad-id',
    `${JSON.stringify(text.slice(0, 140))} cannot be a ${what}`,
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
    const lastMs = Number.parseInt(last.slice(0, 8) + last.slice(9, 13), 16)
    if (lastMs >= nowMs) {
      ms = lastMs
      counter = Number.parseInt(last.slice(15, 18), 16) + 1
      if (counter > 0xfff) {
        ms += 1
        counter = 0
      }
    }
  }
  const time = ms.toString(16).padStart(12, '0')
  const tail = Buffer.from(random.subarray(2, 10)).toString('hex')
  const variant = (8 | (Number.parseInt(tail[0] ?? '0', 16) & 3)).toString(16)
  return `${time.slice(0, 8)}-${time.slice(8)}-7${counter.toString(16).padStart(3, '0')}-${variant}${tail.slice(1, 4)}-${tail.slice(4, 16)}` as EventId
}
