import { type Event, eventFault, isInstant, isTooDeep, isTooShortToBeDeep, parseInstant } from '../model/index.js'
import { isBlobReference } from './blob.js'

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
  const event = value as Record<string, unknown>
  const blob = blobIn(event.payload)
  if (blob !== undefined) event.payload = openBlob(blob)
  // Programs that use the library could once give a time of another form.
  if (!isInstant(event.ts) && typeof event.ts === 'string') event.ts = parseInstant(event.ts)
  const fault = eventFault(event)
  if (fault !== undefined) return { kind: 'unreadable', reason: `its ${fault} is missing or not usable` }
  if ((blob !== undefined || !isTooShortToBeDeep(line)) && isTooDeep(event)) {
    return { kind: 'unreadable', reason: 'nested too deeply' }
  }
  return { kind: 'event', event: value as Event }
}

/** What a payload refers to. A payload of somebody else's that has such a key among others is no reference. */
function blobIn(payload: unknown): unknown {
  if (typeof payload !== 'object' || payload === null || !Object.hasOwn(payload, '$blob')) return undefined
  const { $blob, ...others } = payload as { $blob: unknown }
  return isBlobReference($blob) && Object.keys(others).length === 0 ? $blob : undefined
}
