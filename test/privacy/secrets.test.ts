import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findSecrets, redact, redactValue } from '../../src/privacy/index.js'
import { RULES, rulesTried } from '../../src/privacy/secrets/find-secrets.js'
import { SAMPLES, type Sample } from './samples.js'

/** Text as it comes: letters and signs of the rules' own words among anything else, also half characters. */
const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 }).map((codes) => String.fromCharCode(...codes)),
  fc
    .array(
      fc.constantFrom(
        ...RULES.flatMap((rule) => rule.anchors.map((anchor) => anchor.text)),
        '=',
        ': ',
        '"',
        ' ',
        '\n',
        '\\n',
        '[REDACTED]',
        '[REDACTED:token]',
        '[ENV:',
        ']',
        '://',
        'a1B2',
      ),
      { maxLength: 12 },
    )
    .map((parts) => parts.join('')),
)

/** What rules look at again and again, over and over. */
const HOSTILE_UNITS = [
  '"',
  '=',
  '\\',
  '\\"',
  '\\\\\\"',
  '{\\"password\\":\\"',
  'key=',
  'key="',
  'key="a1b2c3d4e5f6g7h8" + "',
  'password = """\n',
  'password:\n ',
  '"value":"abc","name":"DB_PASSWORD",',
  '| key | ',
  'mysql -p',
  'mysql',
  'curl "',
  'echo a | sudo -S ',
  '5432:',
  '*:*:*:',
  'Ab1+',
  'eyJa.',
  '://a:',
  'cookie: a=b; ',
  '-----BEGIN PRIVATE KEY-----\n',
  '-----END PRIVATE KEY-----\n',
  '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ\n',
  '\x1b[',
  '\x1b[31m',
  '\x1b]8;;',
  '\\u001b[',
  '\\\\u001b[31m',
  '%3D',
  '&quot;',
  'a\b',
  'a\0',
  'ghp_\u200b',
  'password=[REDACTED:x]',
]

function placed({ text, beside }: Sample, before: string, after: string): string {
  switch (beside) {
    case 'any':
      return before + text + after
    case 'word':
      return `${before}${/[A-Za-z0-9_+-]$/.test(before) ? ' ' : ''}${text}${/^[A-Za-z0-9_+-]/.test(after) ? ' ' : ''}${after}`
    case 'line':
      return `${before}\n${text}\n${after}`
  }
}

/** Whether a part of the secret can still be read that did not stand in the text around it anyway. */
function isReadable(secret: string, text: string, ...around: string[]): boolean {
  const piece = Math.min(12, secret.length)
  for (let at = 0; at + piece <= secret.length; at += 1) {
    const part = secret.slice(at, at + piece)
    if (text.includes(part) && !around.some((other) => other.includes(part))) return true
  }
  return false
}

describe('secret detection', () => {
  it('has a sample for every rule, and every sample a rule', () => {
    expect([...new Set(SAMPLES.map((sample) => sample.rule))].sort()).toEqual(
      [...new Set(RULES.map((rule) => rule.name))].sort(),
    )
  })

  it.each(SAMPLES)('finds $rule bare and embedded', (sample) => {
    expect(redact(sample.text).applied).toHaveProperty(sample.rule)
    for (const around of [
      ['see ', ' there'],
      ['"', '"'],
      ['(', ')'],
      ['x=', '&y=1'],
      ['\\n', '\\n'],
      ['`', '`'],
      ['日本 ', ' 日本'],
    ]) {
      const { text } = redact(placed(sample, around[0] ?? '', around[1] ?? ''))
      expect(isReadable(sample.secret, text), text).toBe(false)
    }
  })

  it('lets no secret of the sample table survive in any text around it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SAMPLES), anyText, anyText, (sample, before, after) => {
        const { text } = redact(placed(sample, before, after))
        expect(isReadable(sample.secret, text, before, after), JSON.stringify({ before, after, text })).toBe(false)
      }),
      { numRuns: 3_000 },
    )
  })

  it('finds both of two secrets that touch', () => {
    fc.assert(
      fc.property(fc.constantFrom(...SAMPLES), fc.constantFrom(...SAMPLES), (one, other) => {
        if (one.beside !== 'any' || other.beside !== 'any') return
        const { text } = redact(one.text + other.text)
        expect(isReadable(one.secret, text) || isReadable(other.secret, text), text).toBe(false)
      }),
      { numRuns: 2_000 },
    )
  })

  it('changes nothing when it is done a second time', () => {
    const parts = fc.array(
      fc.oneof(
        anyText,
        fc.constantFrom(...SAMPLES).map((sample) => sample.text),
      ),
      { maxLength: 6 },
    )
    fc.assert(
      fc.property(parts, (some) => {
        const once = redact(some.join(''))
        expect(redact(once.text)).toEqual({ text: once.text, applied: {} })
      }),
      { numRuns: 3_000 },
    )
  })

  it('finds a secret wherever it lies in a long text', () => {
    const sample = SAMPLES.find((one) => one.rule === 'github-token') as Sample
    for (const lead of [65_500, 65_520, 65_535, 65_536, 65_537, 131_000, 131_040]) {
      for (const filler of ['.', '语']) {
        const text = filler.repeat(lead) + sample.text
        expect(findSecrets(text)).toEqual([{ start: lead, end: text.length, rule: 'github-token' }])
      }
    }
  })

  it('takes a text of 10 MB, of any characters, without failing', () => {
    for (const unit of ['\ud83d', '\0', '语', 'a ', '-----BEGIN CERTIFICATE-----\n', 'https://example.test/a/b ']) {
      expect(() => redact(unit.repeat(Math.ceil(10_000_000 / unit.length)))).not.toThrow()
    }
  })

  it('tries rules in proportion to the text, whatever the text', () => {
    const hostile = [
      'key=',
      'eyJ',
      'eyJa.',
      '://',
      '://a:',
      'pass',
      'token="',
      'sk-',
      '-----BEGIN PRIVATE KEY',
      'curl ',
      '1//0',
      '-us',
      ':AA',
      'secret:',
      '2/1',
      'bearer ',
      'basic ',
      'cookie: a=',
    ]
    for (const unit of hostile) {
      const tried = (size: number): number => {
        const before = rulesTried()
        findSecrets(unit.repeat(Math.ceil(size / unit.length)))
        return rulesTried() - before
      }
      expect(tried(200_000), unit).toBeLessThanOrEqual(200_000)
      expect(tried(200_000), unit).toBeLessThanOrEqual(2.1 * tried(100_000) + 10)
    }
  })

  it('takes time in proportion to the text, whatever the text', () => {
    const cpuMs = (text: string): number => {
      const from = process.cpuUsage()
      redact(text)
      const { user, system } = process.cpuUsage(from)
      return (user + system) / 1_000
    }
    for (const unit of HOSTILE_UNITS) {
      const text = (size: number): string => unit.repeat(Math.ceil(size / unit.length))
      const small = Math.min(cpuMs(text(6_000)), cpuMs(text(6_000)))
      // Sixteen times the text: what grows with its square takes 256 times as long.
      expect(cpuMs(text(96_000)), JSON.stringify(unit)).toBeLessThan(64 * Math.max(small, 10))
    }
  })

  it('takes values that are nested as deep as anybody likes', () => {
    let list: unknown = ['--password', 'hunter2-x9']
    for (let depth = 0; depth < 20_000; depth += 1) list = depth % 2 === 0 ? ['-', list] : { list }
    const applied = {}
    expect(() => redactValue(list, applied)).not.toThrow()
    expect(Object.keys(applied)).toEqual(['nested-too-deep'])
  })

  it('reads names of fields, and leaves what has no secret as the same object', () => {
    const clean = { command: 'ls', list: ['a', { b: 1 }], nothing: null }
    expect(redactValue(clean, {})).toBe(clean)
    const [password, key] = ['tr0ub4dor', 'q8Zk2Lm9Xw4Rt7Yb1Nc6']
    const applied = {}
    expect(redactValue({ password, nested: [{ apiKey: key, user: 'eve' }] }, applied)).toEqual({
      password: '[REDACTED:password]',
      nested: [{ apiKey: '[REDACTED:key]', user: 'eve' }],
    })
    expect(applied).toEqual({ password: 1, key: 1 })
  })

  it('looks into names of fields, too', () => {
    const { text } = SAMPLES[0] as Sample
    expect(redactValue({ [`${text}`]: 1 }, {})).toEqual({ '[REDACTED:aws-access-key-id]': 1 })
  })

  it('leaves nothing of a value that has another secret in it, also in a list of words', () => {
    const token = (SAMPLES.find((one) => one.rule === 'github-token') as Sample).secret
    const list = ['--password', `abc def ${token} tail-of-it`]
    expect(redactValue(list, {})).toEqual(['--password', '[REDACTED:github-token]'])
    const fields = { password: `abc/${token}/tail-of-it`, apiKey: token }
    const hidden = { password: '[REDACTED:password]', apiKey: '[REDACTED:github-token]' }
    expect(redactValue(fields, {})).toEqual(hidden)
    expect(redactValue(hidden, {})).toBe(hidden)
  })

  it('finds nothing in the marks that a text begins with', () => {
    const text = '[REDACTED:password][REDACTED:dynatrace-token]=ops4eyJawOF3fKM75YhfyAoxJjOJvO9qHUmA'
    expect(redact(text)).toEqual({ text, applied: {} })
  })

  it('redacts lists and fields twice as it redacts them once', () => {
    const item = fc
      .array(
        fc.oneof(
          fc.constantFrom(...SAMPLES).map((sample) => sample.text),
          fc.constantFrom('--password', '-u ', 'curl ', '=', ' ', '\\n', '\0', '"', 'token', '\ud800', 'x'.repeat(60)),
        ),
        { maxLength: 5 },
      )
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.array(item, { maxLength: 3 }), (items) => {
        const [one = '', two = ''] = items
        const fields = { password: one, api_key: two, env: [{ name: 'DB_PASSWORD', value: one }] }
        const once = redactValue({ list: ['run', '--password', ...items], ...fields }, {})
        expect(redactValue(once, {})).toEqual(once)
      }),
      { numRuns: 300 },
    )
  })
})

it('every pattern of a rule is bounded: one attempt costs a constant at most', async () => {
  const { readFileSync, readdirSync } = await import('node:fs')
  const folder = new URL('../../src/privacy/', import.meta.url)
  const patterns = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) =>
      [
        ...readFileSync(new URL(name, folder), 'utf8').matchAll(
          /^.*?(?:pattern: |flag: |= |\n {2})(\/(?:[^/\\\n]|\\.|\[(?:[^\]\\]|\\.)*\])+\/)[dgimsuvy]*y\b.*$/gm,
        ),
      ].map((found) => found[1] ?? ''),
    )
  expect(patterns.length).toBeGreaterThan(10)
  const unbounded = patterns.filter((source) =>
    /(?<!\\)[*+](?![^[]*\])|\{[0-9]+,\}/.test(source.replace(/\[(?:[^\]\\]|\\.)*\]/g, 'C').replace(/\\./g, 'E')),
  )
  expect(unbounded).toEqual([])
})
