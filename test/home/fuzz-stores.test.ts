import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ConversationStore } from '../../src/conversations/index.js'
import { SkeinError } from '../../src/model/index.js'
import { FUZZ_SEED, generator, type Random } from '../support/random.js'
import { openTestHome, profileDirectory } from './scratch.js'
import { filesUnder, fillHome, LATER, OTHER, SESSION } from './worded-home.js'

const ROUNDS = 150
const KEY = 'agent:main:discord:dm:ada'

/** What a bad disk or a newer version may do to any file. */
const MUTATIONS: Readonly<Record<string, (bytes: Buffer, random: Random) => Buffer>> = {
  flip: (bytes, random) => {
    const at = random(bytes.length)
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8))
    return bytes
  },
  cut: (bytes, random) => bytes.subarray(0, random(bytes.length)),
  drop: (bytes, random) => {
    const at = random(bytes.length)
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random(40))])
  },
  zeros: (bytes, random) => bytes.fill(0, random(bytes.length)),
  noise: (bytes, random) => {
    const at = random(bytes.length)
    return Buffer.concat([bytes.subarray(0, at), Buffer.from([255, 0, 10, 123, 34]), bytes.subarray(at)])
  },
  twice: (bytes) => Buffer.concat([bytes, bytes]),
  'another version': (bytes, random) => {
    if (bytes.toString('latin1', 0, 15) === 'SQLite format 3') {
      bytes.writeUInt32BE(2 + random(1_000), 60) // user_version
      return bytes
    }
    const v = ['2', '999', '0', '-1', '"1"', 'null'][random(6)]
    return Buffer.from(bytes.toString('latin1').replace(/("(?:v|version)"\s*:\s*)\d+/, `$1${v}`), 'latin1')
  },
  empty: () => Buffer.alloc(0),
}

/** All that reads or writes these stores. What a user can be told is told; anything else is our fault. */
async function useStores(root: string): Promise<string[]> {
  const attempt = async (work: () => Promise<unknown> | unknown): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error
    }
  }
  const { home } = await openTestHome(root, { ms: LATER.ms })
  try {
    for (const session of [SESSION, OTHER]) await attempt(() => home.history.turns(session))
    await attempt(() => home.history.search({ text: 'walrus' }))
    await attempt(() => home.history.cost())
    await attempt(() => home.archive.list())
    await attempt(() => home.archive.verify())
    await attempt(() => home.history.ingest())
    for (const agent of ['main', 'other']) {
      const backend = agent === 'main' ? 'rows' : 'files'
      using store = new ConversationStore({ directory: join(home.directory, 'conversations'), backend })
      await attempt(async () => store.open(agent).list())
      const key = KEY.replace('main', agent)
      await attempt(async () => store.open(agent).transcript(key))
      await attempt(async () => store.open(agent).append(key, { role: 'user', content: 'and now?' }))
      await attempt(async () => store.open(agent).reset(key, {}))
    }
    await attempt(() => home.index.rebuild())
    return (await home.sessions.query({ limit: 1_000 })).sessions.map(({ id }) => id)
  } finally {
    await home[Symbol.asyncDispose]()
  }
}

it(`${ROUNDS} rounds of damage to the archive of words and to conversations stop nothing, and every session is listed`, async () => {
  const base = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'skein-fuzz-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const [pristine, root] = [join(base, 'pristine'), join(base, 'home')]
  mkdirSync(pristine)
  const home = await fillHome(pristine, 'a harmless word')
  {
    using store = new ConversationStore({ directory: join(home.directory, 'conversations'), backend: 'files' })
    await store.open('other').receive(KEY.replace('main', 'other'), { text: 'hi', from: 'ada' })
    await store.open('other').append(KEY.replace('main', 'other'), { role: 'user', content: 'files' })
  }
  await home[Symbol.asyncDispose]()
  const later = await openTestHome(pristine, { ms: LATER.ms })
  await later.home.history.ingest() // seals what is over
  const all = (await later.home.sessions.query({ limit: 1_000 })).sessions.map(({ id }) => id).sort()
  await later.home[Symbol.asyncDispose]()
  const profile = profileDirectory(pristine)
  const names = [join(profile, 'archive'), join(profile, 'conversations')]
    .flatMap(filesUnder)
    .map((path) => relative(pristine, path))
    .filter((name) => !/-(?:shm|wal)$/.test(name) && readFileSync(join(pristine, name)).length > 0)
    .sort()
  expect(names.length).toBeGreaterThan(5)
  const hit = new Set<string>()
  for (let round = 1; round <= ROUNDS; round += 1) {
    const random = generator(FUZZ_SEED + 90_000 + round)
    rmSync(root, { recursive: true, force: true })
    cpSync(pristine, root, { recursive: true, verbatimSymlinks: true })
    const hows = Object.keys(MUTATIONS)
    const done = Array.from({ length: 1 + random(3) }, () => {
      const name = names[random(names.length)] ?? ''
      const how = hows[random(hows.length)] ?? ''
      hit.add(name)
      const bytes = readFileSync(join(root, name))
      if (bytes.length > 0) writeFileSync(join(root, name), MUTATIONS[how]?.(bytes, random) ?? bytes)
      return `${name}: ${how}`
    })
    // Some of it is then all that is left.
    if (random(2) === 0) rmSync(join(root, '.claude'), { recursive: true, force: true })
    if (random(3) === 0) rmSync(join(profileDirectory(root), 'text.db'), { force: true })
    const listed = await useStores(root).catch((error: Error) => {
      throw new Error(`seed ${FUZZ_SEED}, round ${round}: ${done.join(', ')}: ${error.stack}`)
    })
    expect(
      all.filter((id) => !listed.includes(id)),
      `seed ${FUZZ_SEED}, round ${round}: ${done.join(', ')}`,
    ).toEqual([])
  }
  expect([...hit].sort()).toEqual(names)
}, 900_000)
