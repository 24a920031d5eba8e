import type { Random } from './random.js'

const DEEP = '['.repeat(20_000) + ']'.repeat(20_000)
/** JSON texts that may stand in the place of any value. */
const STRANGE = [
  ...[
    'null',
    'true',
    'false',
    '0',
    '-1',
    '42',
    '1e308',
    '1e999',
    '-1e999',
    '9007199254740993',
    '0.1',
    '""',
    '"x"',
    '[]',
    '{}',
  ],
  ...[
    '[null]',
    '[[]]',
    '{"a":1}',
    '{"__proto__":{"a":1}}',
    '{"constructor":1}',
    '"constructor"',
    '"__proto__"',
    '"\\u0000"',
  ],
  ...[
    '"\\ud800"',
    '"\\udfff\\ud800"',
    '"a/b/../../c"',
    '"../../../etc/passwd"',
    '"/dev/zero"',
    '"yesterday"',
    '"\\u001b[2J"',
  ],
  ...[
    '"0000-00-00T00:00:00.000Z"',
    '"-000001-01-01T00:00:00.000Z"',
    '"+010000-01-01T00:00:00.000Z"',
    '"2026-13-45T99:99:99.999Z"',
  ],
  ...['"9999-12-31T23:59:59.999Z"', '"ffffffff-ffff-7fff-bfff-ffffffffffff"', '"e677d21f-dbff-7fff-bfff-ffffffffffff"'],
  ...['"00000000-0000-7000-8000-000000000000"', '{"$blob":{"sha256":"x"}}', '{"sha256":{},"bytes":1}', DEEP],
  ...[JSON.stringify('a/'.repeat(3_000)), JSON.stringify('long '.repeat(2_000))],
]

const picked = <T>(from: readonly T[], random: Random): T => from[random(from.length)] as T
const spliced = (text: string, at: number, remove: number, insert: string): string =>
  text.slice(0, at) + insert + text.slice(at + remove)

/** What a bad disk, a bad editor or a bad neighbour may do to a file of JSON. */
const MUTATIONS: Readonly<Record<string, (text: string, random: Random) => string>> = {
  flip: (text, random) => {
    const at = random(text.length)
    return spliced(text, at, 1, String.fromCharCode(text.charCodeAt(at) ^ (1 << random(7))))
  },
  cut: (text, random) => text.slice(0, random(text.length)),
  drop: (text, random) => spliced(text, random(text.length), 1 + random(20), ''),
  nul: (text, random) => spliced(text, random(text.length), random(2), '\0'),
  surrogate: (text, random) => spliced(text, random(text.length), random(3), '\\ud83d'),
  'swap of a value': (text, random) => swapped(text, random, () => picked(STRANGE, random)),
  'deep nesting': (text, random) => swapped(text, random, () => DEEP),
  'huge number': (text, random) =>
    swapped(text, random, () => picked(['1e999', '-1e400', '123456789012345678901234567890'], random)),
  'duplicate key': (text, random) => {
    const keys = [...text.matchAll(/"(?:[^"\\]|\\.)*"(?=\s*:)/g)]
    const key = keys.length > 0 ? picked(keys, random) : undefined
    return key ? spliced(text, key.index, 0, `${key[0]}:${picked(STRANGE, random)},`) : `${text}${text}`
  },
  'missing value': (text, random) => swapped(text, random, () => ''),
  'another document': (_text, random) => picked(STRANGE, random),
}

/** Some value of a JSON text, of whatever level, replaced. `v` is left alone: a higher one is said by a newer Skein, which is no damage. */
function swapped(text: string, random: Random, by: () => string): string {
  const values = [
    ...text.matchAll(
      /("(?!v")(?:[^"\\]|\\.)*"\s*:\s*)("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null|\[[^[\]]*\]|\{[^{}]*\})/g,
    ),
  ]
  if (values.length === 0) return by()
  const value = picked(values, random)
  return spliced(text, value.index + (value[1]?.length ?? 0), value[2]?.length ?? 0, by())
}

export interface Mutated {
  how: string
  text: string
}

export function mutated(text: string, random: Random): Mutated {
  const how = picked(Object.keys(MUTATIONS), random)
  const changed = MUTATIONS[how]?.(text, random) ?? text
  return { how, text: changed.replace(/("v"\s*:\s*)\d+/, '$11') }
}
