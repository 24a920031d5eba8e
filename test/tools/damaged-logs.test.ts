import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Counters, foldSession, LOG_TOOLS, type LogTool } from '../../src/tools/index.js'
import { allTurns, fixturesOf, logAt } from '../contracts/tool-log.js'

/** What can happen to a file: bad disks, crashes, two writers, a careless copy. Places are fractions of its length. */
type Damage =
  | { kind: 'flip'; at: number; bit: number }
  | { kind: 'cut'; at: number; length: number }
  | { kind: 'nul'; at: number; length: number }
  | { kind: 'truncate'; at: number }
  | { kind: 'drop-line' | 'repeat-line' | 'join-line' | 'blank-line'; at: number }
  | { kind: 'swap-lines'; at: number; with: number }
  | { kind: 'number'; at: number; value: string }

const place = fc.double({ min: 0, max: 0.999, noNaN: true })
const damage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({ kind: fc.constant('flip'), at: place, bit: fc.nat(7) }),
  fc.record({ kind: fc.constant('cut'), at: place, length: fc.nat(300) }),
  fc.record({ kind: fc.constant('nul'), at: place, length: fc.integer({ min: 1, max: 600 }) }),
  fc.record({ kind: fc.constant('truncate'), at: place }),
  fc.record({ kind: fc.constantFrom('drop-line', 'repeat-line', 'join-line', 'blank-line'), at: place }),
  fc.record({ kind: fc.constant('swap-lines'), at: place, with: place }),
  fc.record({
    kind: fc.constant('number'),
    at: place,
    value: fc.constantFrom('-1', '1e999', '9007199254740993', '0.5', 'null', '"x"', '[]'),
  }),
) as fc.Arbitrary<Damage>

const subjects = LOG_TOOLS.flatMap((tool) =>
  fixturesOf(tool.name)
    .filter((fixture) => !fixture.path.endsWith('.db'))
    .map((fixture) => ({ tool, path: fixture.path, bytes: readFileSync(fixture.path) })),
)

/** `JSON.parse` takes any depth; whoever walks the result runs out of stack. */
const LEVELS = 12_000

/** A record with one of its values marked to be replaced, for each of them down to six levels; lists count as one value, their first. */
function* withOneReplaced(line: string): Generator<{ name: string; text: string }> {
  let record: unknown
  try {
    record = JSON.parse(line)
  } catch {
    return
  }
  const kind = (record as { type?: unknown } | null)?.type
  for (const path of pathsIn(record)) {
    const copy = structuredClone(record)
    let at = copy as Record<string, unknown>
    for (const name of path.slice(0, -1)) at = at[name] as Record<string, unknown>
    at[path.at(-1) ?? ''] = '@@deep@@'
    yield { name: `${kind} ${path.join('.')}`, text: JSON.stringify(copy) }
  }
}

function pathsIn(value: unknown, above: readonly string[] = []): string[][] {
  if (typeof value !== 'object' || value === null || above.length === 6) return []
  const names = Array.isArray(value) ? Object.keys(value).slice(0, 3) : Object.keys(value)
  return names.flatMap((name) => {
    const path = [...above, name]
    return [path, ...pathsIn((value as Record<string, unknown>)[name], path)]
  })
}

describe('damaged logs', () => {
  let scratch = ''
  beforeAll(() => {
    scratch = mkdtempSync(join(tmpdir(), 'skein-damaged-'))
  })
  afterAll(() => rmSync(scratch, { recursive: true, force: true }))

  it('ten thousand of them: read to their end, every line accounted for, nothing made up', () => {
    const before = process.memoryUsage().rss
    fc.assert(
      fc.property(fc.nat(subjects.length - 1), fc.array(damage, { minLength: 1, maxLength: 4 }), (index, damages) => {
        const subject = subjects[index]
        if (!subject) throw new Error('no such subject')
        const path = join(scratch, basename(subject.path))
        const bytes = damages.reduce(apply, subject.bytes)
        writeFileSync(path, bytes)
        check(subject.tool, path, bytes)
      }),
      { numRuns: 10_000 },
    )
    expect(process.memoryUsage().rss - before).toBeLessThan(400 * 1024 * 1024)
  }, 300_000)

  it(`a value of ${LEVELS} levels in any place of any record costs that record at most`, () => {
    const deep = ['['.repeat(LEVELS) + ']'.repeat(LEVELS), `${'{"a":'.repeat(LEVELS)}1${'}'.repeat(LEVELS)}`]
    const tried = new Set<string>()
    for (const { tool, path, bytes } of subjects) {
      const lines = path.endsWith('.json') ? [bytes.toString()] : bytes.toString().split('\n')
      lines.forEach((line, at) => {
        for (const { name, text } of withOneReplaced(line)) {
          const place = `${tool.name} ${name}`
          if (tried.has(place)) continue
          const value = deep[tried.size % 2] ?? ''
          tried.add(place)
          const changed = join(scratch, basename(path))
          writeFileSync(changed, lines.with(at, text.replace('"@@deep@@"', value)).join('\n'))
          const read = (): string => JSON.stringify(foldSession([tool.read(logAt(tool, changed, {}))]))
          expect(read, place).not.toThrow()
        }
      })
    }
    expect(tried.size).toBeGreaterThan(300)
  }, 120_000)

  it('a damaged database is read as far as it goes, and says so', () => {
    const tool = LOG_TOOLS.find((each) => each.name === 'opencode')
    const fixture = fixturesOf('opencode').find((each) => each.path.endsWith('.db'))
    if (!tool || !fixture) throw new Error('no database')
    const whole = readFileSync(fixture.path)
    const path = join(scratch, 'opencode.db')
    fc.assert(
      fc.property(fc.array(damage, { minLength: 1, maxLength: 30 }), (damages) => {
        writeFileSync(path, damages.reduce(apply, whole))
        for (const log of tool.discover({ home: '/nowhere', env: { OPENCODE_DB: path } })) {
          if (!log.session) {
            expect(() => [...tool.read(log)]).toThrow('not a database that Skein supports')
            continue
          }
          const session = foldSession([tool.read(log)])
          expect(session.counters.length).toBe(1)
        }
      }),
      { numRuns: 150 },
    )
  }, 120_000)
})

function check(tool: LogTool, path: string, bytes: Buffer): void {
  const log = logAt(tool, path, {})
  const facts = [...tool.read(log)]
  const end = facts.at(-1)
  if (end?.kind !== 'checkpoint') throw new Error('does not end in a checkpoint')
  if (path.endsWith('.jsonl')) expect(linesOf(end.counters)).toBe(linesIn(bytes))
  const session = foldSession([facts])
  for (const turn of allTurns(session)) {
    for (const usage of turn.usage) {
      const counts = Object.values(usage).filter((value) => typeof value === 'number')
      if (!counts.every((count) => count >= 0 && Number.isFinite(count)))
        throw new Error(`odd usage ${JSON.stringify(usage)}`)
    }
  }
  const numbers = session.turns.map((turn) => turn.number)
  expect(numbers).toEqual(numbers.map((_, index) => index + 1))
  const again = [...tool.read(log, { from: JSON.parse(JSON.stringify(end.resume)) })]
  // A log of which nothing was read yet is begun anew, so its name may be told again.
  const news = again.filter((fact) => fact.kind !== 'session' || end.resume.offset > 0)
  expect(news.map((fact) => fact.kind)).toEqual(['checkpoint'])
  tool.identify(log)
}

/** Every line is a record, blank, bad, dropped or the torn last one: none is lost without a trace. */
const linesOf = (counters: Counters): number =>
  counters.records +
  counters.blank_lines +
  counters.bad_lines +
  counters.dropped_lines +
  (counters.truncated_last_line ? 1 : 0)

function linesIn(bytes: Buffer): number {
  let lines = 0
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines += 1
  return lines + (bytes.length > 0 && bytes.at(-1) !== 10 ? 1 : 0)
}

function apply(bytes: Buffer, damage: Damage): Buffer {
  const at = Math.floor(bytes.length * damage.at)
  switch (damage.kind) {
    case 'flip': {
      const copy = Buffer.from(bytes)
      if (copy.length > 0) copy[at] = (copy[at] ?? 0) ^ (1 << damage.bit)
      return copy
    }
    case 'cut':
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + damage.length)])
    case 'nul':
      return Buffer.concat([bytes.subarray(0, at), Buffer.alloc(damage.length), bytes.subarray(at)])
    case 'truncate':
      return Buffer.from(bytes.subarray(0, at))
    case 'number': {
      const number = /:\d+/.exec(bytes.toString('latin1', at, at + 4000))
      if (!number) return bytes
      const start = at + number.index + 1
      return Buffer.concat([
        bytes.subarray(0, start),
        Buffer.from(damage.value),
        bytes.subarray(start + number[0].length - 1),
      ])
    }
    default:
      return onLines(bytes, damage)
  }
}

function onLines(
  bytes: Buffer,
  damage: Extract<Damage, { kind: 'drop-line' | 'repeat-line' | 'join-line' | 'blank-line' | 'swap-lines' }>,
): Buffer {
  const lines = bytes.toString('latin1').split('\n')
  const at = Math.floor(lines.length * damage.at)
  const line = lines[at] ?? ''
  if (damage.kind === 'drop-line') lines.splice(at, 1)
  else if (damage.kind === 'repeat-line') lines.splice(at, 0, line)
  else if (damage.kind === 'blank-line') lines.splice(at, 0, ' \r')
  else if (damage.kind === 'join-line') lines.splice(at, 2, line.slice(0, line.length >> 1) + (lines[at + 1] ?? ''))
  else if (damage.kind === 'swap-lines') {
    const other = Math.floor(lines.length * damage.with)
    lines[at] = lines[other] ?? ''
    lines[other] = line
  }
  return Buffer.from(lines.join('\n'), 'latin1')
}
