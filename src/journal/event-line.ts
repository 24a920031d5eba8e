import { type Event, isEventId, isSessionId, isSoundPayload, isStateType, VISIBILITIES } from '../model/index.js'

/** Beyond this a line would not be written in one piece by every file system; larger payloads go to a blob. */
export const MAX_LINE_BYTES = 64 * 1024

/** One journal line, read. A line that is no event is a value: it is counted and kept, never thrown. */
export type Reading = { kind: 'event'; event: Event } | { kind: 'unreadable'; reason: string }

/** The id comes first, so that a segment's age can be read from its first bytes. */
export function encodeEvent(event: Event): string {
  const { id, ts, type, actor, session, agent, payload, visibility, host } = event
  return `${JSON.stringify({ id, ts, type, actor, session, agent, payload, visibility, host })}\n`
}

export function decodeLine(line: string, openBlob: (reference: unknown) => unknown): Reading {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return { kind: 'unreadable', reason: 'not JSON' }
  }
  if (typeof value !== 'object' || value === null) return { kind: 'unreadable', reason: 'not an object' }
  const event = value as Partial<Event>
  if (!isEventId(event.id)) return { kind: 'unreadable', reason: 'no event id' }
  if (typeof event.ts !== 'string' || Number.isNaN(Date.parse(event.ts)))
    return { kind: 'unreadable', reason: 'no time' }
  if (typeof event.type !== 'string' || typeof event.actor !== 'string' || typeof event.host !== 'string') {
    return { kind: 'unreadable', reason: 'no type, actor or host' }
  }
  if (!event.visibility || !VISIBILITIES.includes(event.visibility))
    return { kind: 'unreadable', reason: 'no visibility' }
  const payload = event.payload && '$blob' in event.payload ? openBlob(event.payload.$blob) : event.payload
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) {
    return { kind: 'unreadable', reason: 'no payload' }
  }
  event.payload = payload as Record<string, unknown>
  if (isStateType(event.type)) {
    const ofSession = event.type.startsWith('session_')
    if ((ofSession && !isSessionId(event.session)) || !isSoundPayload(event.type, event.payload)) {
      return { kind: 'unreadable', reason: `unsound ${event.type}` }
    }
  }
  return { kind: 'event', event: event as Event }
}
