// biome-ignore-all lint/suspicious/noTemplateCurlyInString: shell variables are what is tested
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Event } from '../../src/model/index.js'
import {
  applyTier,
  DEFAULT_PRIVACY,
  type Policy,
  redactionNotice,
  TIERS,
  totalRedactions,
} from '../../src/privacy/index.js'
import { SAMPLES } from './samples.js'

const keeping = (tier: (typeof TIERS)[number]): Policy => ({
  user: [{ source: 'test', tools: { '*': { arguments: tier, result: tier } } }],
  projects: [],
  allowProjectLooser: false,
})
const commandOf = (command: string): unknown =>
  applyTier({ tool: 'Bash', arguments: { command } }, DEFAULT_PRIVACY).arguments?.command

describe('the tier redacted', () => {
  it.each([
    ['echo $HOME ${USER} ${X:-y}', 'echo [ENV:HOME] [ENV:USER] [ENV:X]'],
    ['price is $5 and $$ and $1', 'price is $5 and $$ and $1'],
    [
      'run password=abc token=x1 key="a b" monkey',
      'run password=[REDACTED:password] token=[REDACTED] key=[REDACTED] monkey',
    ],
    ['if key==1', 'if key==1'],
    [`decode ${'QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVowMTIzNDU2Nzg5YWJjZGVmZ2hp'}`, 'decode [BASE64:60]'],
    [`git show ${'0123456789abcdef'.repeat(4)}`, `git show ${'0123456789abcdef'.repeat(4)}`],
    [
      'cat /tmp/skein/a/very/long/path/that/goes/on/and/on/Until2/It3/Ends4/file',
      'cat /tmp/skein/a/very/long/path/that/goes/on/and/on/Until2/It3/Ends4/file',
    ],
    ['ls /home/ada/src ~/work', 'ls /home/ada/src ~/work'],
    ['password=$PW', 'password=[ENV:PW]'],
  ])('%j becomes %j', (before, after) => {
    expect(commandOf(before)).toBe(after)
  })

  it('changes nothing when it is done a second time', () => {
    const parts = fc.array(
      fc.oneof(
        fc.string({ unit: 'binary' }),
        fc.constantFrom(
          '$A',
          '${B',
          '}',
          'password=',
          'key=',
          '"',
          "'",
          ' ',
          'A1b2'.repeat(15),
          '[ENV:',
          '[REDACTED]',
          ']',
          'token',
          '=',
        ),
        fc.constantFrom(...SAMPLES).map((sample) => sample.text),
      ),
      { maxLength: 8 },
    )
    fc.assert(
      fc.property(parts, (some) => {
        const once = commandOf(some.join(''))
        expect(commandOf(String(once))).toBe(once)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('every tier', () => {
  it('keeps what it says', () => {
    const call = { tool: 'X', arguments: { path: '/a', count: 2, list: [1], none: null }, result: 'ok $HOME' }
    expect(applyTier(call, keeping('full'))).toEqual({ arguments: call.arguments, result: 'ok $HOME', applied: {} })
    expect(applyTier(call, keeping('redacted'))).toMatchObject({ result: 'ok [ENV:HOME]', applied: { variable: 1 } })
    expect(applyTier(call, keeping('metadata'))).toEqual({
      arguments: { path: '[string]', count: '[number]', list: '[array]', none: '[null]' },
      result: '[string]',
      applied: { 'metadata-only': 2 },
    })
    expect(applyTier(call, keeping('none'))).toEqual({ applied: { 'not-kept': 2 } })
  })

  it('lets no secret through, wherever in the call it is', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...TIERS),
        fc.constantFrom(...SAMPLES),
        fc.jsonValue(),
        (tier, { text, secret }, other) => {
          const call = {
            tool: 'X',
            arguments: { a: text, deep: [{ b: [text, other] }], [`name ${text}`]: 1 },
            result: text,
          }
          const { applied, ...kept } = applyTier(call, keeping(tier))
          expect(JSON.stringify(kept)).not.toContain(JSON.stringify(secret).slice(1, -1))
          expect(JSON.stringify(applied)).not.toContain(secret)
        },
      ),
    )
  })
})

describe('the audit', () => {
  it('says which rule was applied how often, and never the value', () => {
    const { text, secret } = SAMPLES[0] as (typeof SAMPLES)[number]
    const { applied } = applyTier(
      { tool: 'Bash', arguments: { command: `echo $A ${text}` }, result: text },
      DEFAULT_PRIVACY,
    )
    const notice = redactionNotice({ run: 'r', rules: applied, tools: { Bash: 3 } })
    expect(notice).toEqual({
      run: 'r',
      rules: { 'aws-access-key-id': 2, variable: 1 },
      tools: { Bash: 3 },
      count: 3,
    })
    expect(JSON.stringify(notice)).not.toContain(secret)
  })

  it('is silent when nothing was done', () => {
    expect(redactionNotice({ run: 'r', rules: {}, tools: {} })).toBeUndefined()
  })

  it('adds up', () => {
    const event = (id: string, type: string, payload: Record<string, unknown>) =>
      ({ id, type, session: 's', ts: `2026-01-1${id}T08:00:00.000Z`, payload }) as unknown as Event
    const events = [
      event('1', 'privacy_redacted', { run: 'a', rules: { token: 1 }, tools: { Bash: 1 } }),
      // The same run, told again because the first process was killed: it stands for both.
      event('2', 'privacy_redacted', { run: 'a', rules: { token: 2, jwt: 1 }, tools: { Bash: 3 } }),
      event('3', 'privacy_redacted', { run: 'b', rules: { token: 1, odd: 'x' }, tools: { text: 1 } }),
      event('4', 'privacy_redacted', { rules: null }),
      event('5', 'mail', { rules: { token: 9 } }),
    ]
    expect(totalRedactions(events, (ts) => ts.slice(0, 10))).toEqual({
      events: 3,
      count: 4,
      by_rule: { token: 3, jwt: 1 },
      by_tool: { Bash: 3, text: 1 },
      by_session: { s: 4 },
      by_day: { '2026-01-12': 3, '2026-01-13': 1, '2026-01-14': 0 },
    })
  })
})
