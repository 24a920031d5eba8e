import { describe, expect, it } from 'vitest'
import type { Silence } from '../../src/lifecycle/agent-run.js'
import { decideSilence, type SilenceRule, type SilenceSigns } from '../../src/lifecycle/care/silence.js'
import { instantOf } from '../../src/model/index.js'

const MINUTE = 60_000
const START = 1_700_000_000_000
const at = (minutes: number) => instantOf(START + minutes * MINUTE)
const RULE: SilenceRule = { afterMs: 5 * MINUTE, respawn: 'on-crash' }

/** An agent that is at work on sk-1 and was last heard of at its start. */
const signs = (minutes: number, more: Partial<SilenceSigns> = {}): SilenceSigns => ({
  now: at(minutes),
  run: { id: 'run-1', started_at: at(0) },
  work: 'sk-1',
  activity: 'running',
  trouble: undefined,
  sign: at(0),
  prompted_at: at(0),
  isSeen: false,
  ...more,
})
const nudged = (more: Partial<Silence> = {}): Silence => ({
  run: 'run-1',
  work: 'sk-1',
  since: at(0),
  nudged_at: at(5),
  ...more,
})

describe('an agent that is silent', () => {
  it('is nudged, shown as stuck and restarted, each after the time of its rule', () => {
    expect(decideSilence(undefined, signs(4.9), RULE)).toBe('none')
    expect(decideSilence(undefined, signs(5), RULE)).toBe('nudge')
    expect(decideSilence(nudged(), signs(9.9), RULE)).toBe('none')
    expect(decideSilence(nudged(), signs(10), RULE)).toBe('show')
    expect(decideSilence(nudged({ stuck_at: at(10) }), signs(14.9), RULE)).toBe('none')
    expect(decideSilence(nudged({ stuck_at: at(10) }), signs(15), RULE)).toBe('restart')
  })

  it('also when it is idle, with its work not done', () => {
    expect(decideSilence(undefined, signs(5, { activity: 'quiet' }), RULE)).toBe('nudge')
  })

  it('is counted from its start when it was never heard of', () => {
    expect(decideSilence(undefined, signs(4, { sign: undefined }), RULE)).toBe('none')
    expect(decideSilence(undefined, signs(5, { sign: undefined }), RULE)).toBe('nudge')
  })

  it('is left alone without work, without a rule, while it asks, starts, is unknown, may not work or cannot log in', () => {
    const later = (more: Partial<SilenceSigns>) => decideSilence(undefined, signs(600, more), RULE)
    expect(later({ work: undefined })).toBe('none')
    for (const activity of ['blocked', 'starting', 'over', undefined] as const) expect(later({ activity })).toBe('none')
    for (const trouble of ['auth', 'usage-limit'] as const) expect(later({ activity: 'failed', trouble })).toBe('none')
    expect(decideSilence(undefined, signs(600), { ...RULE, afterMs: undefined })).toBe('none')
    expect(decideSilence(undefined, { ...signs(5), now: at(-60) }, RULE)).toBe('none') // the clock was set back
  })

  it('is not stuck while a tool call of its turn works, and has more time while one only lives', () => {
    expect(decideSilence(undefined, signs(60, { tool: { worked_at: at(59) } }), RULE)).toBe('none')
    expect(decideSilence(undefined, signs(29, { tool: {} }), RULE)).toBe('none')
    expect(decideSilence(undefined, signs(30, { tool: {} }), RULE)).toBe('nudge')
    // A process that outlives its turn says nothing about an agent that is idle.
    expect(decideSilence(undefined, signs(5, { activity: 'quiet', tool: {} }), RULE)).toBe('nudge')
  })

  it('is neither nudged nor restarted while somebody looks at its screen', () => {
    expect(decideSilence(undefined, signs(60, { isSeen: true }), RULE)).toBe('none')
    expect(decideSilence(nudged(), signs(60, { isSeen: true }), RULE)).toBe('show')
    expect(decideSilence(nudged({ stuck_at: at(10) }), signs(60, { isSeen: true }), RULE)).toBe('none')
  })

  it('is nudged once: an answer makes it calm, and a second silence is shown and not restarted', () => {
    const answered = { sign: at(6) }
    expect(decideSilence(nudged(), signs(10, answered), RULE)).toBe('none')
    expect(decideSilence(nudged(), signs(11, answered), RULE)).toBe('show')
    expect(decideSilence(nudged({ stuck_at: at(11) }), signs(600, answered), RULE)).toBe('none')
    expect(decideSilence(nudged({ stuck_at: at(11) }), signs(600, { sign: at(599) }), RULE)).toBe('calm')
  })

  it('is not restarted against the rule of its role', () => {
    expect(decideSilence(nudged({ stuck_at: at(10) }), signs(600), { ...RULE, respawn: 'never' })).toBe('none')
  })

  it('begins anew with another run, other work, or a prompt of its user', () => {
    expect(decideSilence(nudged({ run: 'run-0' }), signs(60), RULE)).toBe('forget')
    expect(decideSilence(nudged({ work: 'sk-0' }), signs(60), RULE)).toBe('forget')
    expect(decideSilence(nudged(), signs(60, { work: undefined }), RULE)).toBe('forget')
    expect(decideSilence(nudged({ stuck_at: at(10) }), signs(60, { prompted_at: at(30) }), RULE)).toBe('forget')
  })
})
