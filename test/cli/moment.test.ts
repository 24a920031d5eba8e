import { describe, expect, it } from 'vitest'
import { localTime, relativeTime } from '../../src/cli/screen/moment.js'
import { instantOf } from '../../src/model/index.js'

const NOW = Date.parse('2026-01-17T12:00:00Z')
const MINUTE = 60_000

describe('a moment, for people', () => {
  it.each([
    [0, 'now'],
    [30_000, '30s ago'],
    [5 * MINUTE, '5m ago'],
    [65 * MINUTE, '1h05m ago'],
    [120 * MINUTE, '2h ago'],
    [13.5 * 60 * MINUTE, '13h ago'],
    [36 * 60 * MINUTE, '1d12h ago'],
    [9.5 * 24 * 60 * MINUTE, '9d ago'],
    [-10 * MINUTE, 'in 10m'],
  ])('%i ms back is "%s"', (ms, words) => {
    expect(relativeTime(instantOf(NOW - ms), NOW)).toBe(words)
  })

  it('is on the clock of the user', () => {
    const at = instantOf(NOW)
    const local = new Date(NOW)
    expect(localTime(at)).toMatch(/^2026-01-1\d \d\d:00:00$/)
    expect(localTime(at)).toContain(` ${String(local.getHours()).padStart(2, '0')}:`)
  })
})
