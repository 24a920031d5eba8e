import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { withoutRightsOfRoot } from '../support/without-rights-of-root.js'
import { openTestHome, profileDirectory, scratch } from './scratch.js'

const WORKER = join(import.meta.dirname, '..', 'workers', 'use-home.mjs')
const IS_ROOT = process.getuid?.() === 0
const NOBODY = 65534

/** Two agents, a handoff chain, a fork, a crash; everything closed and checkpointed. */
async function buildWorld(root: string): Promise<void> {
  const { home } = await openTestHome(root, { ms: Date.now() })
  await home.roster.add({ address: 'web/toast', tool: 'claude' })
  await home.roster.add({ address: 'web/bread', tool: 'codex' })
  await home.sessions.start({ id: 'one', agent: 'web/toast', title: 'first' })
  await home.sessions.handoff('one', { id: 'two' })
  await home.sessions.start({ id: 'fork', forked_from: { session: 'one', turn: 2 } })
  await home.sessions.end('two', { outcome: 'crash', reason: 'pane died' })
  await home[Symbol.asyncDispose]()
  const again = await openTestHome(root, { ms: Date.now() })
  await again.home.roster.update('web/bread', { role: 'crew' }) // a second generation of the roster file
  await again.home[Symbol.asyncDispose]()
}

const EVERYTHING = { sessions: ['fork', 'one', 'two'], agents: ['web/bread', 'web/toast'] }

interface Told {
  warnings: string[]
  error?: { code: string; message: string; next?: string }
  sessions: string[]
  agents: string[]
  written: string[]
}

function use(root: string, what: 'look' | 'write' | 'fill', wrapper: readonly string[] = []): Told {
  const [command = process.execPath, ...rest] = [...wrapper, process.execPath, WORKER, root, what]
  return JSON.parse(
    execFileSync(command, rest, { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: root } }),
  ) as Told
}

const garbage = (path: string): void =>
  writeFileSync(path, Buffer.from('\x00\x01garbage{{{not json\n\xff\xfe more \n'.repeat(40), 'latin1'))
const empty = (path: string): void => writeFileSync(path, '')
const half = (path: string): void => truncateSync(path, Math.floor(statSync(path).size / 2))
const gone = (path: string): void => rmSync(path)

const kept = (root: string, pattern: RegExp): string[] =>
  readdirSync(profileDirectory(root), { recursive: true, encoding: 'utf8' }).filter((name) => pattern.test(name))

describe('index.db', () => {
  const damages = {
    truncated: half,
    'cut to a few bytes': (path: string) => truncateSync(path, 40),
    empty,
    garbage,
    'garbage in the middle': (path: string) => {
      const bytes = readFileSync(path)
      bytes.fill(0x5a, 4096, 4096 * 6)
      writeFileSync(path, bytes)
    },
    'of another version': (path: string) => {
      const bytes = readFileSync(path)
      bytes.writeUInt32BE(999, 60) // user_version in SQLite's header
      writeFileSync(path, bytes)
    },
    gone,
  }
  for (const [damage, inflict] of Object.entries(damages)) {
    it(`${damage}: is set aside and rebuilt by itself, and nothing is missing`, async () => {
      const root = scratch()
      await buildWorld(root)
      const generation = realpathSync(join(profileDirectory(root), 'index.db'))
      for (const side of ['-wal', '-shm']) rmSync(`${generation}${side}`, { force: true })
      inflict(join(profileDirectory(root), 'index.db'))
      const told = use(root, 'write')
      expect(told.error).toBeUndefined()
      expect(told).toMatchObject({
        sessions: ['fork', 'new-session', 'one', 'two'],
        agents: ['new/agent', 'web/bread', 'web/toast'],
      })
      if (damage !== 'gone')
        expect(told.warnings.join('\n')).toMatch(/index\.db could not be used and was kept as .*set-aside/)
      const { home } = await openTestHome(root, { ms: Date.now() })
      expect((await home.index.check()).problems).toEqual([])
      await home[Symbol.asyncDispose]()
    })
  }

  it('unreadable: is set aside and rebuilt', async () => {
    const root = scratch()
    await buildWorld(root)
    chmodSync(join(profileDirectory(root), 'index.db'), 0)
    const told = use(root, 'look', withoutRightsOfRoot)
    expect(told.error).toBeUndefined()
    expect(told).toMatchObject(EVERYTHING)
  })
})

describe('roster.json', () => {
  for (const [damage, inflict] of Object.entries({ truncated: half, empty, garbage })) {
    it(`${damage}: is kept under a dated name and written again`, async () => {
      const root = scratch()
      await buildWorld(root)
      inflict(join(profileDirectory(root), 'roster.json'))
      const told = use(root, 'look')
      expect(told).toMatchObject(EVERYTHING)
      expect(told.warnings).toEqual([
        expect.stringMatching(
          /^roster\.json could not be parsed and was kept as .*roster\.json\.damaged-\d{8}T\d{6}Z; it has been written again with 2 agents$/,
        ),
      ])
      expect(kept(root, /roster\.json\.damaged-/)).toHaveLength(1)
      expect(use(root, 'look')).toMatchObject({ ...EVERYTHING, warnings: [] })
    })

    it(`${damage}, and the index gone: comes back from its backup and the journal`, async () => {
      const root = scratch()
      await buildWorld(root)
      inflict(join(profileDirectory(root), 'roster.json'))
      rmSync(join(profileDirectory(root), 'index.db'))
      const told = use(root, 'look')
      expect(told).toMatchObject(EVERYTHING)
      expect(told.warnings.join('\n')).toContain('The roster was restored from roster.json.bak and the journal')
    })
  }

  it('all generations damaged and the index gone: comes back from the journal, with a loud warning', async () => {
    const root = scratch()
    await buildWorld(root)
    for (const name of kept(root, /^roster\.json(\.bak(\.\d)?)?$/)) garbage(join(profileDirectory(root), name))
    rmSync(join(profileDirectory(root), 'index.db'))
    const told = use(root, 'look')
    expect(told).toMatchObject(EVERYTHING)
    expect(told.warnings.join('\n')).toContain('WARNING: no roster file could be read')
    expect(kept(root, /roster\.json.*damaged-/).length).toBeGreaterThanOrEqual(2)
  })

  it('gone: is written again', async () => {
    const root = scratch()
    await buildWorld(root)
    rmSync(join(profileDirectory(root), 'roster.json'))
    expect(use(root, 'look')).toMatchObject({
      ...EVERYTHING,
      warnings: ['roster.json was missing and has been written again'],
    })
    expect(existsSync(join(profileDirectory(root), 'roster.json'))).toBe(true)
  })

  it('changed by hand: is kept under a dated name, and what Skein knows stays', async () => {
    const root = scratch()
    await buildWorld(root)
    const path = join(profileDirectory(root), 'roster.json')
    writeFileSync(path, readFileSync(path, 'utf8').replace('"codex"', '"edited"'))
    const told = use(root, 'look')
    expect(told).toMatchObject(EVERYTHING)
    expect(told.warnings[0]).toContain('was changed by another program')
  })

  it('of a newer version: is named and not touched, and everything is there', async () => {
    const root = scratch()
    await buildWorld(root)
    const path = join(profileDirectory(root), 'roster.json')
    const newer = readFileSync(path, 'utf8').replace('"v": 1', '"v": 2')
    writeFileSync(path, newer)
    const told = use(root, 'look')
    expect(told).toMatchObject(EVERYTHING)
    expect(told.warnings).toEqual([expect.stringContaining('roster.json was written by a newer Skein')])
    expect(readFileSync(path, 'utf8')).toBe(newer)
  })

  it('unreadable: says so, and what to do', async () => {
    const root = scratch()
    await buildWorld(root)
    chmodSync(join(profileDirectory(root), 'roster.json'), 0)
    rmSync(join(profileDirectory(root), 'index.db'))
    expect(use(root, 'look', withoutRightsOfRoot).error).toMatchObject({
      code: 'home-unreadable',
      message: expect.stringContaining('No permission'),
    })
  })
})

describe('a session record', () => {
  const record = (root: string): string => join(profileDirectory(root), 'sessions', 'one.json')
  for (const [damage, inflict] of Object.entries({ truncated: half, empty, garbage })) {
    it(`${damage}: a rebuild keeps it under a dated name and restores the session`, async () => {
      const root = scratch()
      await buildWorld(root)
      inflict(record(root))
      const { home, warnings } = await openTestHome(root, { ms: Date.now() })
      await home.index.rebuild()
      expect(await home.sessions.get('one')).toMatchObject({ title: 'first', outcome: 'handoff', child_id: 'two' })
      expect(warnings).toEqual([
        expect.stringMatching(
          /^The record of session one could not be parsed and was kept as one\.json\.damaged-.*; it was restored from the index$/,
        ),
      ])
      expect((await home.index.check()).problems).toEqual([])
      await home[Symbol.asyncDispose]()
    })
  }

  it('damaged with the index gone: comes back from the journal', async () => {
    const root = scratch()
    await buildWorld(root)
    garbage(record(root))
    rmSync(join(profileDirectory(root), 'index.db'))
    expect(use(root, 'look')).toMatchObject(EVERYTHING)
  })

  it('of a newer version: is named and not touched by a rebuild, which keeps what the index has', async () => {
    const root = scratch()
    await buildWorld(root)
    const newer = readFileSync(record(root), 'utf8').replace('"v": 1', '"v": 7')
    writeFileSync(record(root), newer)
    const { home, warnings } = await openTestHome(root, { ms: Date.now() })
    await home.index.rebuild()
    expect(warnings).toEqual([expect.stringContaining('Session records were written by a newer Skein')])
    expect(readFileSync(record(root), 'utf8')).toBe(newer)
    expect(await home.sessions.get('one')).toMatchObject({ title: 'first' })
    await home[Symbol.asyncDispose]()
  })
})

describe('the journal', () => {
  const segment = (root: string): string => join(profileDirectory(root), 'events', '00000001.jsonl')
  for (const [damage, inflict] of Object.entries({ truncated: half, empty, garbage, gone })) {
    it(`${damage}: the state survives in index and checkpoints, and writing goes on`, async () => {
      const root = scratch()
      await buildWorld(root)
      inflict(segment(root))
      const told = use(root, 'write')
      expect(told.error).toBeUndefined()
      expect(told).toMatchObject({
        sessions: ['fork', 'new-session', 'one', 'two'],
        agents: ['new/agent', 'web/bread', 'web/toast'],
      })
      const { home } = await openTestHome(root, { ms: Date.now() })
      await home.index.rebuild()
      expect((await home.sessions.query({})).sessions.map((session) => session.id).sort()).toEqual([
        'fork',
        'new-session',
        'one',
        'two',
      ])
      expect((await home.roster.agents()).map((agent) => agent.address)).toEqual([
        'new/agent',
        'web/bread',
        'web/toast',
      ])
      expect((await home.index.check()).problems).toEqual([])
      await home[Symbol.asyncDispose]()
    })
  }
})

describe('the home', () => {
  it('read-only: can be read, and says why it cannot be written', async () => {
    const root = scratch()
    await buildWorld(root)
    const readOnly = [
      'unshare',
      ...(IS_ROOT ? [] : ['-r']),
      '-m',
      'sh',
      '-c',
      'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"',
      root,
    ]
    expect(use(root, 'look', readOnly)).toMatchObject({ ...EVERYTHING, warnings: [] })
    expect(use(root, 'write', readOnly).error).toMatchObject({
      code: 'home-read-only',
      message: expect.stringContaining('is read-only'),
      next: expect.stringContaining('SKEIN_HOME'),
    })
  })

  it('read-only with an index that is behind or gone: is still read right', async () => {
    const root = scratch()
    await buildWorld(root)
    rmSync(join(profileDirectory(root), 'index.db'))
    const readOnly = [
      'unshare',
      ...(IS_ROOT ? [] : ['-r']),
      '-m',
      'sh',
      '-c',
      'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"',
      root,
    ]
    expect(use(root, 'look', readOnly)).toMatchObject(EVERYTHING)
  })

  it.runIf(IS_ROOT)('owned by another user: is refused', async () => {
    const root = scratch()
    await buildWorld(root)
    chownSync(root, NOBODY, NOBODY)
    expect(use(root, 'look').error).toMatchObject({
      code: 'home-not-ours',
      message: expect.stringMatching(/belongs to user 65534, and you are user 0/),
    })
  })

  it('a file where the home should be: one clear line', () => {
    const root = join(scratch(), 'file')
    writeFileSync(root, 'in the way')
    expect(use(root, 'look').error).toMatchObject({
      code: 'home-unreadable',
      message: expect.stringContaining('is not what Skein expects'),
    })
  })

  it('a full disk: what was acknowledged is there, the rest is a clear error, and it goes on when there is room', async () => {
    const root = scratch()
    const full = join(root, 'small')
    mkdirSync(full)
    const script =
      'mount -t tmpfs -o size=3m tmpfs "$0" && "$1" "$2" "$0" fill && rm -f "$0"/profiles/default/index.db* && "$1" "$2" "$0" look && mount -o remount,size=40m "$0" && "$1" "$2" "$0" write'
    const output = execFileSync(
      'unshare',
      [...(IS_ROOT ? [] : ['-r']), '-m', 'sh', '-c', script, full, process.execPath, WORKER],
      { encoding: 'utf8' },
    )
    const [filled, looked, written] = output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Told)
    expect(filled?.error).toMatchObject({
      code: 'disk-full',
      message: expect.stringContaining('No space left'),
      next: expect.stringContaining('Free some space'),
    })
    expect(filled?.written.length).toBeGreaterThan(20)
    // The first change that was refused may be there or not; everything that was acknowledged must be.
    expect(written?.error).toBeUndefined()
    expect(new Set(written?.sessions)).toEqual(
      new Set([...(filled?.written ?? []), ...(written?.sessions ?? []).filter((id) => id === 'new-session')]),
    )
    expect(written?.sessions).toContain('new-session')
    expect(looked?.error === undefined || looked.error.code === 'disk-full').toBe(true)
  })
})
