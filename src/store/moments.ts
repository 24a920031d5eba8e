import { type Instant, parseWhen } from '../model/index.js'

/** A moment as the command line takes it: a span back from now (`24h`, `7d`), a day, or a full time. Every `Instant` is one. */
export type When = string

/** The same options with moments in place of what was written. Throws `bad-time`. */
export function withMoments<Options extends { since?: When; until?: When }>(
  options: Options,
  nowMs: number,
): Omit<Options, 'since' | 'until'> & { since?: Instant; until?: Instant } {
  const { since, until, ...rest } = options
  return {
    ...rest,
    ...(since === undefined ? {} : { since: parseWhen(since, nowMs) }),
    ...(until === undefined ? {} : { until: parseWhen(until, nowMs) }),
  }
}
