import { DAY_MS } from './time.js'

/** How the worth of an event falls over its time to live. */
export type Curve = 'rapid' | 'steady' | 'slow' | 'flat'

export interface Retention {
  ttlMs: number
  curve: Curve
}

export interface RetentionPolicy {
  defaultTtlMs: number
  /** Exact type, or a pattern with `*`. */
  ttls: Readonly<Record<string, number>>
  /** This many of the newest events are kept however old they are. */
  minRetain: number
  pruneIntervalMs: number
}

const days = (count: number): number => count * DAY_MS

export const DEFAULT_POLICY: RetentionPolicy = {
  defaultTtlMs: days(7),
  ttls: {
    'patrol_*': days(1),
    polecat_checked: days(1),
    polecat_nudged: days(1),
    session_start: days(3),
    session_end: days(3),
    nudge: days(3),
    handoff: days(7),
    hook: days(14),
    unhook: days(14),
    sling: days(14),
    done: days(14),
    mail: days(30),
    work_changed: days(90),
    mail_changed: days(30),
    work_forgotten: days(90),
    session_death: days(30),
    mass_death: days(90),
    'merge_*': days(30),
    merged: days(30),
    'identity_*': days(30),
    privacy_redacted: days(30),
    agent_status: days(3),
    agent_started: days(30),
    agent_stopped: days(30),
    agent_start_failed: days(30),
    tool_called: days(30),
    'turn_*': days(90),
  },
  minRetain: 100,
  pruneIntervalMs: 3_600_000,
}

const CURVES: Readonly<Record<string, Curve>> = {
  'patrol_*': 'rapid',
  polecat_checked: 'rapid',
  polecat_nudged: 'rapid',
  heartbeat: 'rapid',
  ping: 'rapid',
  hook: 'slow',
  unhook: 'slow',
  sling: 'slow',
  done: 'slow',
  error: 'slow',
  recovery: 'slow',
  'escalation*': 'slow',
  mail: 'flat',
  work_changed: 'flat',
  mail_changed: 'flat',
  handoff_recorded: 'flat',
  session_death: 'flat',
  mass_death: 'flat',
  'merge_*': 'flat',
  merged: 'flat',
  'identity_*': 'flat',
  privacy_redacted: 'flat',
}

/** Exact name first, then the longest pattern that fits, then the default. */
export function retentionOf(type: string, policy: RetentionPolicy): Retention {
  return {
    ttlMs: mostSpecific(type, policy.ttls) ?? policy.defaultTtlMs,
    curve: mostSpecific(type, CURVES) ?? 'steady',
  }
}

/** The share of its worth an event still has, 1 to 0. A ttl of 0 means it is kept for ever. */
export function worth(ageMs: number, { ttlMs, curve }: Retention): number {
  const x = ttlMs <= 0 ? 0 : ageMs / ttlMs
  if (x <= 0) return 1
  if (x >= 1) return 0
  switch (curve) {
    case 'rapid':
      return 2 ** (-4 * x)
    case 'steady':
      return 1 - x
    case 'slow':
      return 2 ** (-x / 0.75)
    case 'flat':
      return x < 0.9 ? 1 : (1 - x) / 0.1
  }
}

export function isExpired(type: string, ageMs: number, policy: RetentionPolicy): boolean {
  const { ttlMs } = retentionOf(type, policy)
  return ttlMs > 0 && ageMs > ttlMs
}

export function matchesPattern(type: string, pattern: string): boolean {
  const parts = pattern.split('*')
  const [first = '', ...rest] = parts
  if (rest.length === 0) return type === pattern
  const last = rest.pop() ?? ''
  if (!type.startsWith(first) || type.length < first.length + last.length || !type.endsWith(last)) return false
  let from = first.length
  for (const part of rest) {
    const found = type.indexOf(part, from)
    if (found < 0 || found + part.length > type.length - last.length) return false
    from = found + part.length
  }
  return true
}

function mostSpecific<Value>(type: string, table: Readonly<Record<string, Value>>): Value | undefined {
  if (Object.hasOwn(table, type)) return table[type]
  const patterns = Object.keys(table).filter((pattern) => pattern.includes('*') && matchesPattern(type, pattern))
  const longest = patterns.reduce((best, pattern) => (pattern.length > best.length ? pattern : best), '')
  return longest ? table[longest] : undefined
}
