import { type Instant, instantIfAny, parseDuration, parseInstant, SkeinError } from '../model/index.js'
import type { Kind } from './kind.js'

/** A span of time, in milliseconds. */
export const duration: Kind<number> = {
  placeholder: '<duration>',
  schema: { anyOf: [{ type: 'integer', minimum: 0, description: 'Milliseconds' }, { type: 'string' }] },
  parse: (given) => {
    const ms = parseDuration(given)
    if (ms !== undefined) return ms
    throw new SkeinError('usage', `${JSON.stringify(given)} is not a duration`, 'Write it like 30s, 10m or 2h')
  },
  sent: (value) => (typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined),
}

/** A moment to come: a span from now, or a full time. */
export const momentToCome: Kind<Instant> = {
  placeholder: '<when>',
  parse: (given, { nowMs }) => {
    const ms = parseDuration(given)
    const at = ms === undefined ? parseInstant(given) : instantIfAny(nowMs + ms)
    if (at) return at
    throw new SkeinError(
      'usage',
      `${JSON.stringify(given)} is not a time in the future`,
      'Write it like 30m, 2h or 2026-01-17T08:30:00Z',
    )
  },
}
