import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Forgetter, PURGED, type PurgeRule, printOf } from '../../src/privacy/index.js'

const pattern = (source: string): Forgetter => new Forgetter([{ kind: 'pattern', source }])
const path = (glob: string): Forgetter => new Forgetter([{ kind: 'path', glob }])
const known = (secret: string): Forgetter => new Forgetter([], [secret])
const printed = (secret: string): Forgetter => {
  const rules: PurgeRule[] = [{ kind: 'secret', print: printOf(secret, Buffer.alloc(32, 'salt')) }]
  return new Forgetter(JSON.parse(JSON.stringify(rules)) as PurgeRule[])
}

/** A secret of any characters, though not one that is made of our own mark or of white space. */
const secrets = fc
  .string({ minLength: 6, maxLength: 40, unit: 'grapheme' })
  .filter((text) => text.length >= 6 && !text.includes('PURGED') && !PURGED.includes(text) && text.trim() === text)
const texts = fc.string({ maxLength: 80, unit: 'grapheme' })

/** As grep shows a match in the middle of it. */
const coloured = (text: string): string =>
  `${text.slice(0, 2)}\x1b[01;31m\x1b[K${text.slice(2, 4)}\x1b[m\x1b[K${text.slice(4)}`

/** The ways in which a text may stand in another. */
const FORMS: Record<string, (text: string) => string> = {
  plain: (text) => text,
  json: (text) => JSON.stringify(text).slice(1, -1),
  'json in json': (text) => JSON.stringify(JSON.stringify(text)).slice(1, -1),
  'json with codes': (text) =>
    [...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join(''),
  'percent-encoded': (text) =>
    [...Buffer.from(text)].map((byte) => `%${byte.toString(16).padStart(2, '0').toUpperCase()}`).join(''),
  base64: (text) => Buffer.from(text).toString('base64'),
  'base64 without its end': (text) => Buffer.from(text).toString('base64').replace(/=+$/, ''),
  'base64 behind one byte': (text) => Buffer.from(`u${text}`).toString('base64'),
  'base64 behind two bytes': (text) => Buffer.from(`u:${text}`).toString('base64'),
  'base64 behind three, before others': (text) => Buffer.from(`{"a${text}"}`).toString('base64'),
  'base64 for addresses': (text) => Buffer.from(`~~${text}~`).toString('base64url'),
  'base64, percent-encoded': (text) => encodeURIComponent(Buffer.from(`>>${text}`).toString('base64')),
  'base64 over lines': (text) =>
    (
      Buffer.from(`${'x'.repeat(50)}${text}${'y'.repeat(60)}`)
        .toString('base64')
        .match(/.{1,76}/g) ?? []
    ).join('\n'),
  'base64 over lines, in JSON': (text) =>
    (
      Buffer.from(`${'x'.repeat(41)}${text}`)
        .toString('base64')
        .match(/.{1,64}/g) ?? []
    ).join('\\r\\n'),
  hex: (text) => Buffer.from(text).toString('hex'),
  'hex in capitals': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  coloured: (text) => coloured(text),
  'coloured, in JSON': (text) => JSON.stringify(coloured(text)).slice(1, -1),
  'coloured, in JSON within JSON': (text) => JSON.stringify(JSON.stringify(coloured(text))).slice(1, -1),
  'coloured, as programs write it': (text) => coloured(text.replaceAll('\\', '\\\\')).replaceAll('\x1b', '\\x1b'),
  'with a character without width': (text) => `${text.slice(0, 3)}\u200b${text.slice(3)}`,
  'in single quotes of a shell': (text) => `'${text.replaceAll("'", "'\\''")}'`,
  'as Python quotes for a shell': (text) => `'${text.replaceAll("'", `'"'"'`)}'`,
  'in double quotes of a shell': (text) => `"${text.replace(/["\\$`]/g, '\\$&')}"`,
  'with backslashes for a shell': (text) => text.replace(/[ !"#$&'()*;<>?[\\\]^`{|}~]/g, '\\$&'),
}

describe.each([
  ['a secret that is known', known],
  ['a secret that is known by its print', printed],
])('%s', (_, make) => {
  it.each(Object.keys(FORMS))('never survives, whatever stands around it: %s', (form) => {
    fc.assert(
      fc.property(secrets, texts, texts, (secret, before, after) => {
        const encoded = FORMS[form]?.(secret) ?? ''
        fc.pre(form !== 'plain' || Buffer.from(secret).toString() === secret)
        fc.pre(Buffer.from(secret).toString() === secret)
        const text = `${before} ${encoded} ${after}`
        const { value, count } = make(secret).text(text)
        expect(count).toBeGreaterThan(0)
        expect(value).not.toContain(secret)
        expect(value.includes(encoded)).toBe(false)
      }),
    )
  })

  it('is purged twice as it is purged once, and other texts stay', () => {
    fc.assert(
      fc.property(secrets, texts, texts, (secret, before, after) => {
        const forgetter = make(secret)
        const once = forgetter.text(`${before}${secret}${after}`).value
        expect(forgetter.text(once)).toEqual({ value: once, count: 0 })
        if (!before.includes(secret)) expect(forgetter.text(`${before}`).value.length).toBeGreaterThanOrEqual(0)
      }),
    )
    expect(make('s3cr3t-value').text('nothing of it here, s3cr3t-valu')).toEqual(
      make === known
        ? { value: 'nothing of it here, [PURGED]', count: 1 }
        : { value: 'nothing of it here, s3cr3t-valu', count: 0 },
    )
  })
})

it('says in which spellings it was found', () => {
  const forgetter = known('correct horse')
  expect([...forgetter.spellings]).toEqual([])
  forgetter.text(`Basic ${FORMS.base64?.('ada:correct horse')} and ${FORMS.hex?.('correct horse')}`)
  expect([...forgetter.spellings].sort()).toEqual(['base64', 'hex'])
  forgetter.text('correct%20horse')
  forgetter.text('correct\\ horse')
  forgetter.text('correct horse')
  expect([...forgetter.spellings].sort()).toEqual(['base64', 'escaped', 'hex', 'percent', 'plain'])
})

it('leaves what stands before and behind an encoded one', () => {
  const text = `before ${Buffer.from('user:correct horse').toString('base64')}, after`
  expect(known('correct horse').text(text).value).toMatch(/^before dXNlc[\w]{0,2}\[PURGED\], after$/)
})

it('the print of a secret does not hold it, and differs with every salt', () => {
  const prints = ['one', 'another'].map((salt) => printOf('correct horse', Buffer.alloc(32, salt)))
  expect(prints[0]?.hash).not.toBe(prints[1]?.hash)
  expect(JSON.stringify(prints)).not.toContain('horse')
})

describe('a known secret', () => {
  it('goes also where a text was cut in the middle of it', () => {
    const { value } = known('abcdefghijklmnop').text('it is abcdefghijk… (200 more)')
    expect(value).toBe('it is [PURGED]… (200 more)')
  })

  it('leaves alone what only ends like it begins', () => {
    const untouched = 'Please enter your password'
    expect(known('password-of-mine-42').text(untouched)).toEqual({ value: untouched, count: 0 })
    // Hooks cut what they tell without a word about it.
    const cut = `${'x'.repeat(180)} password-of-mine`
    expect(known('password-of-mine-42').text(cut).value).toBe(`${'x'.repeat(180)} [PURGED]`)
  })

  it('goes from the values of JSON, not from ids and times', () => {
    const event = { id: 'abcdef-1', ts: '2026-01-01', payload: { title: 'see abcdef', list: ['abcdef'], abcdef: 1 } }
    expect(known('abcdef').json(event)).toEqual({
      value: {
        id: 'abcdef-1',
        ts: '2026-01-01',
        payload: { title: 'see [PURGED]', list: ['[PURGED]'], '[PURGED]': 1 },
      },
      count: 3,
    })
    // What others put together has no ids of ours.
    for (const free of [
      { type: 'mail', payload: { id: 'abcdef', key: 'abcdef' } },
      { kind: 'tool-call', arguments: { id: 'abcdef', nested: [{ session: 'abcdef' }] } },
    ])
      expect(JSON.stringify(known('abcdef').json(free).value)).not.toContain('abcdef')
    expect(known('abcdef').json({ address: 'web/abcdef' }).value).toEqual({ address: 'web/PURGED' })
  })
})

describe('a pattern', () => {
  it('takes out what it fits', () => {
    expect(pattern('ACME-\\d{4,}').text('ACME-12345 and ACME-99')).toEqual({ value: '[PURGED] and ACME-99', count: 1 })
    expect(pattern('a\\nb').text('{"x":"a\\nb"}').value).toBe('{"x":"[PURGED]"}')
    const encoded = Buffer.from('the code is ACME-12345').toString('base64')
    expect(pattern('ACME-\\d{4,}').text(`see ${encoded}`).value).toMatch(/^see [\w]+\[PURGED\]$/)
    // What decodes to anything is no text.
    const code = 'functionWithALongName/and/a/path/with-many_parts 0123456789abcdef0123456789abcdef0123456789abcdef'
    expect(pattern('[^x]{3}$').text(`${code} x`).count).toBe(0)
    expect(pattern('PURGE.*').text('[PURGED] PURGED')).toMatchObject({ count: 0 })
  })

  it.each([
    ['(a+)+$', 'repeats a group'],
    ['(?:(?:x|y)*z){2,}', 'repeats a group'],
    ['x*', 'also matches an empty text'],
    ['(', 'cannot be parsed'],
    ['x'.repeat(1_001), 'is longer than'],
  ])('is refused when it is %s', (source, why) => {
    expect(() => pattern(source)).toThrow(
      expect.objectContaining({ code: 'bad-input', message: expect.stringContaining(why) }),
    )
  })

  it('is stopped when it takes too long', () => {
    expect(() => pattern('(?:a|a)+b').text('a'.repeat(60))).toThrow(/took more than 2 s/)
    expect(() => pattern('.*.*.*=x').text('a'.repeat(20_000))).toThrow(/took more than 2 s/)
    expect(() => pattern('(.*)(.*)(.*)(.*)(.*)x{50}').text('a'.repeat(600))).toThrow(/took more than 2 s/)
  })
})

describe('a path', () => {
  it.each([
    ['.env', 'cat src/.env now', 'cat [PURGED] now'],
    ['.env', 'cat src/.envrc', 'cat src/.envrc'],
    ['secrets/*.pem', '"/srv/web/secrets/a.pem"', '"[PURGED]"'],
    ['/srv/keys', 'in /srv/keys/a/b, and /srv/keyset.', 'in [PURGED], and /srv/keyset.'],
    ['/srv/**/id_rsa', '/srv/a/b/id_rsa: read', '[PURGED]: read'],
    ['/home/eve/My Documents', 'cat "/home/eve/My Documents/tax.pdf" now', 'cat "[PURGED]" now'],
    ['/home/eve/My Documents', '/home/eve/My Documentsx', '/home/eve/My Documentsx'],
    ['My Documents/*.pdf', '{"path":"/home/eve/My Documents/tax.pdf"}', '{"path":"[PURGED]"}'],
    ['My Documents/*.pdf', 'My Documents/tax 2025.pdf and "other.pdf"', '[PURGED] and "other.pdf"'],
    ['~/.ssh/id_*', 'cat ~/.ssh/id_rsa /home/eve/.ssh/id_rsa', 'cat [PURGED] [PURGED]'],
    ['~/.ssh', 'ls /Users/eve/.ssh/config $HOME/.ssh /srv/.ssh', 'ls [PURGED] [PURGED] /srv/.ssh'],
    ['app/[id]/page.tsx', 'edit src/app/[id]/page.tsx, please', 'edit [PURGED], please'],
    ['app/(shop)', 'see app/(shop)/cart.tsx and app/(shop)', 'see [PURGED] and [PURGED]'],
    ['C:\\keys', 'in C:\\keys and C:\\keysets', 'in [PURGED] and C:\\keysets'],
  ])('%s in %s', (glob, text, expected) => {
    expect(path(glob).text(text).value).toBe(expected)
  })

  it('is refused when it fits almost everything', () => {
    for (const glob of ['*', '**/*', '/', './..']) expect(() => path(glob)).toThrow(/matches almost every path/)
  })
})

it('a value that is nested too deeply to be searched is forgotten as a whole', () => {
  let deep: unknown = 'hunter2-hunter2'
  for (let level = 0; level < 100_000; level += 1) deep = level % 2 ? [deep] : { a: deep }
  const { value, count } = new Forgetter([], ['another-secret']).json({ deep, beside: 'kept' })
  expect(count).toBe(1)
  expect(JSON.stringify(value)).toContain('"beside":"kept"')
  expect(JSON.stringify(value)).not.toContain('hunter2')
})
