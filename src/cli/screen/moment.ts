import { formatDuration, type Instant, msOf } from '../../model/index.js'

/** `3h05m ago`, `now`, `in 2d`. */
export function relativeTime(at: Instant, nowMs: number): string {
  const ms = nowMs - msOf(at)
  if (Math.abs(ms) < 1_000) return 'now'
  return ms > 0 ? `${roughly(ms)} ago` : `in ${roughly(-ms)}`
}

/** `2026-01-17 09:30:00`, on the user's own clock. */
export function localTime(at: Instant): string {
  const date = new Date(msOf(at))
  const two = (part: number): string => String(part).padStart(2, '0')
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** `2026-01-17 09:30:00 (3h ago)`. */
export function localAndRelativeTime(at: Instant, nowMs: number): string {
  return `${localTime(at)} (${relativeTime(at, nowMs)})`
}

/** One unit is enough for "when": nobody plans by the minutes of last week. */
function roughly(ms: number): string {
  const days = Math.floor(ms / 86_400_000)
  if (days >= 2) return `${days}d`
  return formatDuration(ms >= 36_000_000 ? Math.floor(ms / 3_600_000) * 3_600_000 : ms).replace(/h00m$/, 'h')
}
