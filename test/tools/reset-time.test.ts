import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { failedTurn, resetTimeOf } from '../../src/tools/index.js'
import { resetPhrase } from '../../src/tools/run/reset-time.js'
import { troubleAtExit, troubleOf } from '../../src/tools/run/trouble.js'

const NOW = Date.parse('2026-11-16T23:30:00Z')

/** A time without a zone is one of this machine. */
const local = (day: number, hour: number, minute: number): string => new Date(2026, 10, day, hour, minute).toISOString()
function nextLocal(hour: number, minute: number): string {
  const today = new Date(NOW)
  today.setHours(hour, minute, 0, 0)
  if (today.getTime() < NOW) today.setDate(today.getDate() + 1)
  return today.toISOString()
}

/** What the pinned programs say about a limit, word for word, and when it ends by it. Texts without a time say so with undefined. */
const SAID: readonly (readonly [tool: string, said: string, until: string | undefined])[] = [
  ['claude', "You've hit your session limit · resets 3am (UTC)", '2026-11-17T03:00:00.000Z'],
  ['claude', "You've hit your session limit · resets 12:30am (Europe/Paris)", '2026-11-16T23:30:00.000Z'],
  ['claude', "You've hit your weekly limit · resets Nov 19, 3pm (America/Los_Angeles)", '2026-11-19T23:00:00.000Z'],
  ['claude', "You've hit your weekly limit · resets Jan 2, 2027, 4am (Asia/Tokyo)", undefined],
  ['claude', 'spend limit reached · resets Dec 1', new Date(2026, 11, 1).toISOString()],
  ['claude', 'try again after it resets on Dec 1 at 06:30 UTC.', '2026-12-01T06:30:00.000Z'],
  ['claude', 'Claude AI usage limit reached|1794880800', '2026-11-17T02:00:00.000Z'],
  ['claude', "You're out of usage credits", undefined],
  ['codex', "You've hit your usage limit. Try again at 1:05 AM.", nextLocal(1, 5)],
  [
    'codex',
    "You've hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit https://chatgpt.com/codex/settings/usage to purchase more credits or try again at Nov 19th, 2026 10:15 PM.",
    local(19, 22, 15),
  ],
  ['codex', 'exceeded retry limit, last status: 429 Too Many Requests', undefined],
  ['gemini', 'Usage limit reached for all Pro models.\nAccess resets at 2:05 AM GMT+1.', '2026-11-17T01:05:00.000Z'],
  ['gemini', 'You exceeded your current quota. Please retry in 39.5s.', '2026-11-16T23:30:39.500Z'],
  ['gemini', 'You have exhausted your daily quota on this model.', undefined],
  ['opencode', 'Weekly usage limit reached. It will reset in 2 hours 5 minutes. To', '2026-11-17T01:35:00.000Z'],
  ['opencode', 'Usage limit reached. It will reset in 1 day 1 hour.', '2026-11-18T00:30:00.000Z'],
  ['opencode', 'trying again at 2026-11-17T01:00:00.000Z: Rate limit reached', '2026-11-17T01:00:00.000Z'],
  ['opencode', 'Free usage exceeded, subscribe to Go', undefined],
  ['pi', 'You have hit your ChatGPT usage limit (plus plan). Try again in ~54 min.', '2026-11-17T00:24:00.000Z'],
  [
    'pi',
    '429 Rate limit reached for gpt-5 on tokens per min. Please try again in 1m30.5s.',
    '2026-11-16T23:31:30.500Z',
  ],
  ['pi', '429 Rate limit reached', undefined],
]

describe('when a limit ends', () => {
  it.each(SAID)('%s: %s', (_tool, said, until) => {
    expect(resetTimeOf(said, NOW)).toBe(until)
    expect(troubleOf(said)).toBe(/try again after it resets/.test(said) ? 'api-error' : 'usage-limit')
  })

  it('is known from the reason that is kept of a failed turn, however long the message is', () => {
    for (const [, said, until] of SAID) expect(resetTimeOf(failedTurn(said).reason, NOW)).toBe(until)
  })

  it('is a time of day in the zone that is named, across the change of the clocks', () => {
    const before = Date.parse('2026-03-28T22:00:00Z')
    expect(resetTimeOf('resets 3am (Europe/Paris)', before)).toBe('2026-03-29T01:00:00.000Z')
    const autumn = Date.parse('2026-10-24T22:00:00Z')
    expect(resetTimeOf('resets 3am (Europe/Paris)', autumn)).toBe('2026-10-25T02:00:00.000Z')
    expect(resetTimeOf('resets 3am (Nowhere/City)', NOW)).toBe(nextLocal(3, 0))
  })

  it('what is said a little late is over, and is not tomorrow; what is far off or in the past is no time', () => {
    expect(resetTimeOf('resets 11:28pm (UTC)', NOW)).toBe('2026-11-16T23:28:00.000Z')
    expect(resetTimeOf('resets 11:20pm (UTC)', NOW)).toBe('2026-11-17T23:20:00.000Z')
    for (const none of ['try again at 2019-01-01T00:00:00Z', 'reset in 900 days', 'resets 25:00', 'resets 3', 'resets'])
      expect(resetTimeOf(none, NOW)).toBeUndefined()
  })

  it('any text gives a time within forty days, or none, and nothing fails', () => {
    const word = fc.constantFrom(
      'resets',
      'try again',
      'in',
      'at',
      'on',
      '3pm',
      '25:61',
      'Feb 31st',
      '(UTC)',
      '99999 days',
      '5',
      'GMT+14',
      'limit reached|9999999999',
    )
    fc.assert(
      fc.property(fc.array(fc.oneof(word, fc.string({ maxLength: 6 })), { maxLength: 9 }), (words) => {
        const said = words.join(' ')
        const ms = Date.parse(resetTimeOf(said, NOW) ?? new Date(NOW).toISOString())
        resetPhrase(said)
        return ms >= NOW - 5 * 60_000 && ms <= NOW + 40 * 86_400_000
      }),
      { seed: 17, numRuns: 2_000 },
    )
  })
})

describe('the last words of a program that left', () => {
  it.each([
    [['Error: Not logged in · Please run /login'], 'auth'],
    [['Invalid API key provided'], 'auth'],
    [['stream error: 401 Unauthorized', '', ''], 'auth'],
    [["You've hit your usage limit.", 'Try again at 1:05 AM.'], 'usage-limit'],
    [['HTTP 429: Too Many Requests'], 'usage-limit'],
    [['Error: cannot find module x', '    at main.js:401:12'], undefined],
    [['panic: index out of range [4] with length 3'], undefined],
    [['usage limit in the work that it was on', ...'12345'], undefined],
    [[], undefined],
  ] as const)('%j: %s', (screen, trouble) => {
    expect(troubleAtExit(screen)?.trouble).toBe(trouble)
  })

  it('include when the limit ends, also on a later line', () => {
    const said = troubleAtExit(["You've hit your usage limit.", 'Try again at 1:05 AM.'])?.said ?? ''
    expect(resetTimeOf(said, NOW)).toBe(nextLocal(1, 5))
  })
})
