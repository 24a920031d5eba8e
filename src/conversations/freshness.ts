import type { SessionEntry } from './entry.js'
import type { KeyParts } from './key.js'

/** When a conversation starts over automatically. Nothing set: never. Both set: whichever comes first. */
export interface ResetRule {
  /** At this full hour, local time. */
  dailyAtHour?: number
  /** After this long without a message. */
  idleMinutes?: number
}

/** The rule for the channel wins over the one for the type of chat, and that over the general one. */
export interface ResetPolicy extends ResetRule {
  byType?: { dm?: ResetRule; group?: ResetRule; thread?: ResetRule }
  byChannel?: Record<string, ResetRule>
}

export function resetRuleFor(policy: ResetPolicy, { channel, kind, thread }: KeyParts): ResetRule {
  const byChannel = channel === undefined ? undefined : policy.byChannel?.[channel]
  const type = thread !== undefined ? 'thread' : kind === 'group' || kind === 'channel' ? 'group' : 'dm'
  return byChannel ?? policy.byType?.[type] ?? policy
}

/** Why the conversation has gone stale, or undefined while it is fresh. Times in the future (a clock set back) count as fresh. */
export function staleReason(rule: ResetRule, entry: SessionEntry, nowMs: number): 'daily' | 'idle' | undefined {
  if (
    rule.dailyAtHour !== undefined &&
    (entry.sessionStartedAt ?? entry.updatedAt) < lastBoundary(rule.dailyAtHour, nowMs)
  ) {
    return 'daily'
  }
  const idleMs = (rule.idleMinutes ?? 0) * 60_000
  return idleMs > 0 && nowMs - entry.updatedAt > idleMs ? 'idle' : undefined
}

function lastBoundary(hour: number, nowMs: number): number {
  const boundary = new Date(nowMs)
  boundary.setHours(Math.min(23, Math.max(0, Math.trunc(hour))), 0, 0, 0)
  if (boundary.getTime() > nowMs) boundary.setDate(boundary.getDate() - 1)
  return boundary.getTime()
}
