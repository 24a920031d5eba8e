import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { type Mutated, mutated } from '../support/mutations.js'
import { FUZZ_SEED, generator } from '../support/random.js'
import { contentOf, forget, jsonFiles, lookAt, put, renewed, SESSIONS, world } from './fuzz-world.js'
import { profileDirectory } from './scratch.js'

const BIN = join(import.meta.dirname, '..', '..', 'bin', 'skein.js')

/** The id of the line before was raised a little above this line's: which of the two is damaged nobody can tell. */
function isOvertaken(content: readonly string[], at: number): boolean {
  const idOf = (line: string | undefined): string => /^\{"id":"([0-9a-f-]{36})"/.exec(line ?? '')?.[1] ?? ''
  return content.slice(0, at).some((line, before) => {
    const below = content.slice(before + 1, before + 10).filter((next) => idOf(next) < idOf(line) && idOf(next) !== '')
    return idOf(line) >= idOf(content[at]) && below.length <= 1
  })
}

const LINE_ROUNDS = 200
const LINES = 15
const FILE_ROUNDS = 500
const FILES = 4

it(`${LINE_ROUNDS * LINES} damaged journal lines stop nothing, and all that the others tell is listed`, async () => {
  const here = await world()
  const whole = readFileSync(join(profileDirectory(here.pristine), 'events', '00000001.jsonl'), 'utf8')
  const lines = whole.trimEnd().split('\n')
  for (let round = 1; round <= LINE_ROUNDS; round += 1) {
    const random = generator(FUZZ_SEED + round)
    renewed(here)
    const damaged = new Map<number, Mutated>()
    while (damaged.size < LINES) {
      const at = random(lines.length)
      damaged.set(at, mutated(lines[at] ?? '', random))
    }
    const content = lines.map((line, at) => `${(damaged.get(at)?.text ?? line).replaceAll('\n', ' ')}\n`)
    writeFileSync(join(profileDirectory(here.root), 'events', '00000001.jsonl'), content.join(''))
    // Only the journal is left to tell.
    forget(
      here.root,
      'index.db',
      'sessions',
      'roster.json',
      'roster.json.bak',
      'roster.json.bak.1',
      'roster.json.bak.2',
    )
    const done = [...damaged].map(([at, { how }]) => `line ${at + 1}: ${how}`)
    const listed = await lookAt(here, round, done)
    const isTold = (id: string): boolean =>
      lines.some(
        (line, at) =>
          line.includes(`"session_start","actor":"tester","session":"${id}"`) &&
          !damaged.has(at) &&
          !isOvertaken(content, at),
      )
    expect(
      SESSIONS.filter((id) => isTold(id) && !listed.includes(id)),
      `seed ${FUZZ_SEED}, round ${round}: ${done.join(', ')}`,
    ).toEqual([])
  }
}, 900_000)

it(`${FILE_ROUNDS * FILES} damaged files stop nothing, and all other sessions are listed`, async () => {
  const here = await world()
  const names = jsonFiles(here.pristine)
  const hit = new Set<string>()
  for (let round = 1; round <= FILE_ROUNDS; round += 1) {
    const random = generator(FUZZ_SEED + 10_000 + round)
    renewed(here)
    const chosen = Array.from({ length: FILES }, () => names[random(names.length)] ?? '')
    const done = chosen.map((name) => {
      hit.add(name)
      const other = names[random(names.length)] ?? ''
      const isSwap = random(12) === 0
      const change = isSwap
        ? { how: other, text: contentOf(here.pristine + other) }
        : mutated(contentOf(here.root + name), random)
      put(here.root + name, change.text)
      return `${name}: ${change.how}`
    })
    if (random(4) > 0) forget(here.root, 'index.db')
    const listed = await lookAt(here, round, done)
    const isTouched = (id: string): boolean =>
      chosen.some((name) => name.endsWith(`/${id}.json`) || (id === 'old' && name.endsWith('.gz')))
    expect(
      SESSIONS.filter((id) => !listed.includes(id) && !isTouched(id)),
      `seed ${FUZZ_SEED}, round ${round}: ${done.join(', ')}`,
    ).toEqual([])
  }
  expect([...hit].sort()).toEqual(names)
}, 900_000)

it('the built program never takes a damaged file for a bug of its own', async () => {
  const here = await world()
  const names = jsonFiles(here.pristine)
  for (let round = 1; round <= 12; round += 1) {
    const random = generator(FUZZ_SEED + 50_000 + round)
    renewed(here)
    const name = names[random(names.length)] ?? ''
    const { how, text } = mutated(contentOf(here.root + name), random)
    put(here.root + name, text)
    forget(here.root, 'index.db')
    const env = { PATH: process.env.PATH, HOME: here.root, SKEIN_HOME: here.root }
    for (const args of [
      ['sessions', 'list', '--json'],
      ['list', '--all', '--json'],
      ['events', 'stats'],
    ]) {
      const ran = spawnSync(process.execPath, [BIN, ...args], { env, timeout: 60_000, encoding: 'utf8' })
      const told = `${name}: ${how}: ${args.join(' ')}: ${ran.stderr}`
      expect({ isBug: ran.status === 70, signal: ran.signal }, told).toEqual({ isBug: false, signal: null })
    }
  }
}, 900_000)

/** What `v` may say. From 2 to 999 it is a newer Skein's. */
const VERSIONS = [
  '2',
  '3',
  '57',
  '999',
  '1000',
  '0',
  '-1',
  '1.5',
  '1e308',
  '"1"',
  '"2"',
  'null',
  'true',
  '[]',
  '{}',
  '',
]
const isNewer = (v: string): boolean => /^[1-9]\d{0,2}$/.test(v) && v !== '1'
/** Gone or changed by use as meant: a message is read, and the daemon's record and notices are its own. */
const isPassing = (name: string): boolean => name.endsWith('.msg') || name.startsWith('/run/')

/** A roster moves on to the next of its names when a newer one is written. */
function bytesNamed(root: string, name: string): string[] {
  const path = name.replace(/roster\.json.*/, 'roster.json')
  return readdirSync(join(root, dirname(path)))
    .filter((one) => one.startsWith(basename(path)) && statSync(join(root, dirname(path), one)).isFile())
    .map((one) => readFileSync(join(root, dirname(path), one), 'base64'))
}

it('any version in any file stops nothing, and what a newer Skein wrote is kept byte for byte', async () => {
  const here = await world()
  const versioned = jsonFiles(here.pristine).filter((name) => /"v"\s*:\s*1\b/.test(contentOf(here.pristine + name)))
  expect(versioned.length).toBeGreaterThan(12)
  let round = 0
  for (const name of versioned) {
    for (const v of VERSIONS) {
      round += 1
      const random = generator(FUZZ_SEED + 80_000 + round)
      renewed(here)
      const more = random(3) === 0 ? [versioned[random(versioned.length)] ?? ''] : []
      const chosen = [...new Set([name, ...more])]
      for (const one of chosen) {
        const text = contentOf(here.root + one).replaceAll(/("v"\s*:\s*)1\b/g, v === '' ? '"w":1' : `$1${v}`)
        put(here.root + one, text)
      }
      const before = chosen.map((one) => readFileSync(here.root + one, 'base64'))
      if (random(2) === 0) forget(here.root, 'index.db')
      const done = chosen.map((one) => `${one}: v ${v}`)
      const listed = await lookAt(here, round, done)
      const isTouched = (id: string): boolean =>
        chosen.some((one) => one.endsWith(`/${id}.json`) || (id === 'old' && one.endsWith('.gz')))
      expect(
        SESSIONS.filter((id) => !listed.includes(id) && !isTouched(id)),
        done.join(', '),
      ).toEqual([])
      if (!isNewer(v)) continue
      for (const [at, one] of chosen.entries())
        if (!isPassing(one)) expect(bytesNamed(here.root, one), done.join(', ')).toContain(before[at])
    }
  }
}, 900_000)
