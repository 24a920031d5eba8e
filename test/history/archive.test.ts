import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Home } from '../../src/home/index.js'
import {
  answers,
  EVERYTHING,
  OWN,
  sessionsWith,
  whereNeedlesAre,
  withCorpus,
  withFixture,
} from '../home/corpus-home.js'
import { openTestHome, profileDirectory, scratch } from '../home/scratch.js'
import { seededRandom, someTime } from '../support/random.js'
import { scanHome } from '../support/scan-home.js'

const WORKER = join(import.meta.dirname, '..', 'workers', 'ingest.mjs')
const IS_ROOT = process.getuid?.() === 0
/** When every log of the tests is long quiet, and when it was written just now. */
const LATER = { ms: Date.UTC(2031, 0, 1) }
const NOW = { ms: Date.UTC(2026, 10, 15) }
const DATABASES = ['text.db', 'history.db']

const archiveOf = (root: string): string => join(profileDirectory(root), 'archive')

function loseDatabases(root: string): void {
  for (const name of readdirSync(profileDirectory(root)).filter((one) => /^(text|history)/.test(one)))
    rmSync(join(profileDirectory(root), name))
}

const spentBy = async (home: Home): Promise<unknown> => (await home.history.cost({ by: 'session' })).rows

describe('when the tools have deleted their logs', () => {
  it('search says the same before and after index rebuild, and finds every needle', async () => {
    const { root, projects, manifest } = withCorpus(51)
    writeFileSync(join(root, 'privacy.yaml'), EVERYTHING)
    const { home, warnings } = await openTestHome(root, LATER)
    await home.history.ingest()
    const places = whereNeedlesAre(projects, manifest)
    const expected = await answers(home, manifest)
    const spent = await spentBy(home)
    rmSync(join(root, '.claude'), { recursive: true })
    const gone = JSON.parse(JSON.stringify(expected).replaceAll('"log_gone":false', '"log_gone":true'))
    expect(await answers(home, manifest)).toEqual(gone)
    await home.index.rebuild()
    expect(await answers(home, manifest)).toEqual(gone)
    expect(await spentBy(home)).toEqual(spent)
    expect(places.length).toBeGreaterThan(3)
    for (const [needle, session] of places)
      expect([needle, ...(await sessionsWith(home, { text: needle }))]).toContain(session)
    expect(await home.history.ingest()).toMatchObject({ read: 0 })
    expect(await home.archive.verify()).toMatchObject({ ok: true, problems: [], not_archived: 0 })
    expect(warnings).toEqual([])
    await home[Symbol.asyncDispose]()
  })

  it('both databases are filled again from the archive alone', async () => {
    const { root, projects, manifest } = withCorpus(52)
    const { home } = await openTestHome(root, LATER)
    await home.history.ingest()
    const [session = ''] = readdirSync(projects, { recursive: true, encoding: 'utf8' }).flatMap(
      (name) => /([0-9a-f-]{36})\.jsonl$/.exec(name)?.[1] ?? [],
    )
    const expected = {
      said: await answers(home, manifest),
      spent: await spentBy(home),
      counts: await home.history.counts(session),
    }
    rmSync(join(root, '.claude'), { recursive: true })
    loseDatabases(root)
    await home.history.ingest()
    const said = JSON.parse(
      JSON.stringify(await answers(home, manifest)).replaceAll('"log_gone":true', '"log_gone":false'),
    )
    expect({ said, spent: await spentBy(home), counts: await home.history.counts(session) }).toEqual(expected)
    expect(await home.archive.verify()).toMatchObject({ ok: true, problems: [] })
    await home[Symbol.asyncDispose]()
  })

  it('a rebuild keeps what was read before there was an archive', async () => {
    const { root } = withFixture()
    const { home } = await openTestHome(root, NOW)
    await home.history.ingest()
    rmSync(archiveOf(root), { recursive: true })
    rmSync(join(root, '.claude'), { recursive: true })
    await home.index.rebuild()
    expect((await home.history.search({ text: 'slowly' })).hits).toMatchObject([{ turn: 5, log_gone: true }])
    expect((await home.history.turns(OWN)).told_from).toBe('counts')
    await home[Symbol.asyncDispose]()
  })
})

describe('what is kept', () => {
  it.each([
    ['while logs grow', NOW],
    ['when they are over', LATER],
  ])('has no planted secret in any file, packed, sealed, live or in a database: %s', async (_, clock) => {
    const { root, manifest } = withCorpus(53)
    writeFileSync(join(root, 'privacy.yaml'), EVERYTHING)
    const { home } = await openTestHome(root, clock)
    await home.history.ingest()
    await home.index.rebuild()
    await home[Symbol.asyncDispose]()
    const values = manifest.secrets.flatMap(({ s }) => s.match(/[A-Za-z0-9]{16,}/g)?.slice(-1) ?? [])
    expect(values.length).toBeGreaterThan(3)
    expect(scanHome(profileDirectory(root), values)).toEqual([])
    // The scan sees what is there: a needle is in the archive, in a block of text and among the words.
    const [needle = ''] = Object.keys(manifest.needles)
    const where = scanHome(profileDirectory(root), [needle]).map((one) => one.where)
    expect(where.some((one) => one.includes('/archive/'))).toBe(true)
    expect(where.some((one) => one.endsWith('text_blocks.data'))).toBe(true)
    expect(where.some((one) => one.endsWith(' words'))).toBe(true)
  })

  it('of a tool call is what the policy keeps, and how much there was', async () => {
    const { root } = withFixture()
    const { home } = await openTestHome(root, NOW)
    await home.history.ingest()
    const { logs } = await home.archive.restore(OWN)
    const edit = logs[0]?.facts.find((fact) => fact.kind === 'tool-call' && fact.name === 'Edit')
    expect(edit).toMatchObject({ arguments: { old_string: '[string]', new_string: '[string]' } })
    expect(scanHome(archiveOf(root), ['world'])).toEqual([])
    await home[Symbol.asyncDispose]()
  })

  it('of a log that was rewritten is also what it said before', async () => {
    const { root, log } = withFixture()
    const { home } = await openTestHome(root, NOW)
    await home.history.ingest()
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
    const message = { role: 'user', content: 'something else entirely' }
    const other = JSON.stringify({ type: 'user', uuid: 'o1', parentUuid: null, message })
    writeFileSync(log, `${[...lines.slice(0, 20), other].join('\n')}\n`)
    await home.history.ingest()
    const [own] = (await home.archive.list({ session: OWN })).filter((one) => one.agent === undefined)
    expect(own).toMatchObject({ log: 'there', older_versions: [{ version: 1 }] })
    expect(await home.history.turns(OWN)).toMatchObject({ told_from: 'log', older_versions: 1 })
    expect(await home.history.search({ text: 'slowly' })).toMatchObject({ hits: [], older_versions: 1 })
    expect((await home.history.search({ text: 'entirely' })).older_versions).toBe(0)
    const text = JSON.stringify((await home.archive.restore(OWN, { version: 1 })).logs)
    expect(text).toContain('slowly')
    expect(JSON.stringify((await home.archive.restore(OWN)).logs[0])).not.toContain('slowly')
    await expect(home.archive.restore(OWN, { version: 7 })).rejects.toMatchObject({ next: 'Use one of 1' })
    expect(await home.archive.verify()).toMatchObject({ ok: true })
    await home[Symbol.asyncDispose]()
  })

  it.each([20, 0])('of a log that was cut to %i lines is all it said, until it says something else', async (left) => {
    const { root, log } = withFixture()
    const { home } = await openTestHome(root, NOW)
    await home.history.ingest()
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
    const before = {
      turns: (await home.history.turns(OWN)).turns.map(({ number, prompt }) => [number, prompt]),
      counts: await home.history.counts(OWN),
      hits: (await home.history.search({ text: 'slowly' })).hits.length,
      cost: await home.history.cost({ by: 'session' }),
    }
    const beginning = lines.slice(0, left).map((line) => `${line}\n`)
    const cut = (): void => writeFileSync(log, beginning.join(''))
    const same = async (): Promise<void> => {
      const { turns, told_from } = await home.history.turns(OWN)
      expect(turns.map(({ number, prompt }) => [number, prompt])).toEqual(before.turns)
      expect(told_from).toBe('archive')
      expect(await home.history.counts(OWN)).toEqual(before.counts)
      expect((await home.history.search({ text: 'slowly' })).hits).toHaveLength(before.hits)
      expect(await home.history.cost({ by: 'session' })).toEqual(before.cost)
      expect(await home.archive.verify()).toMatchObject({ ok: true, problems: [] })
    }
    cut()
    await home.history.ingest()
    await same()
    expect(await home.history.ingest()).toMatchObject({ read: 0 })
    await home.index.rebuild()
    await same()
    // Whole again, it is read from there again.
    writeFileSync(log, `${lines.join('\n')}\n`)
    await home.history.ingest()
    expect(await home.history.turns(OWN)).toMatchObject({ told_from: 'log' })
    cut()
    await home.history.ingest()
    rmSync(log)
    await home.history.ingest()
    await same()
    await home[Symbol.asyncDispose]()
  })

  it('is compressed when the session has ended, and goes on when its log does', async () => {
    const { root, log } = withFixture()
    const whole = readFileSync(log)
    writeFileSync(log, whole.subarray(0, whole.length / 2))
    const clock = { ...NOW }
    const { home } = await openTestHome(root, clock)
    await home.history.ingest()
    const states = async (): Promise<boolean[]> => (await home.archive.list({ session: OWN })).map((one) => one.is_live)
    expect(await states()).toContain(true)
    await home.sessions.end(OWN, { outcome: 'done' })
    await home.history.ingest()
    expect(await states()).toContain(true) // it was written to a moment ago: it may go on
    clock.ms = Date.now() + 120_000
    await home.history.ingest()
    expect(await states()).not.toContain(true)
    writeFileSync(log, whole)
    await home.history.ingest()
    const there = await home.history.turns(OWN)
    rmSync(log)
    const { turns, told_from } = await home.history.turns(OWN)
    expect(told_from).toBe('archive')
    expect(turns.map((turn) => [turn.prompt, turn.reply])).toEqual(there.turns.map((turn) => [turn.prompt, turn.reply]))
    await home[Symbol.asyncDispose]()
  })
})

describe('under --watch', () => {
  it('a line is in the archive and on the disk when its reading is reported', async () => {
    const { root, log } = withFixture()
    const whole = readFileSync(log)
    const cut = whole.indexOf('\n', whole.length / 2) + 1
    writeFileSync(log, whole.subarray(0, cut))
    const { home } = await openTestHome(root, NOW)
    const stop = new AbortController()
    const facts: number[] = []
    const read = async (): Promise<void> => {
      const [own] = (await home.archive.list({ session: OWN })).filter((one) => one.agent === undefined)
      facts.push(own?.facts ?? 0)
    }
    const watching = home.history.watch({
      signal: stop.signal,
      onReport: () => {
        void read().then(() =>
          facts.length === 1 ? writeFileSync(log, whole.subarray(cut), { flag: 'a' }) : stop.abort(),
        )
      },
    })
    await watching
    expect(facts[1]).toBeGreaterThan(facts[0] ?? 0)
    expect(await home.archive.verify()).toMatchObject({ ok: true, behind: 0 })
    await home[Symbol.asyncDispose]()
  })
})

describe('processes that are killed at any moment, and two at once', () => {
  it('leave an archive that is whole and says what a fresh one says', async () => {
    const random = seededRandom()
    const { root, manifest } = withCorpus(54)
    const ingest = (): { child: ChildProcess; ended: Promise<unknown> } => {
      const child = spawn(process.execPath, [WORKER, root, root, '1'], { stdio: ['ignore', 'pipe', 'inherit'] })
      return { child, ended: new Promise((resolve) => child.on('exit', resolve)) }
    }
    for (let kill = 0; kill < 10; kill += 1) {
      const { child, ended } = ingest()
      await new Promise((resolve) => child.stdout?.once('data', resolve))
      await someTime(random, 600)
      child.kill('SIGKILL')
      await ended
      const { home } = await openTestHome(root, NOW)
      expect((await home.archive.verify()).problems.filter((line) => !line.includes('history.db'))).toEqual([])
      await home[Symbol.asyncDispose]()
    }
    expect(await Promise.all([ingest().ended, ingest().ended])).toEqual([0, 0])
    const { home } = await openTestHome(root, NOW)
    expect(await home.history.ingest()).toMatchObject({ read: 0 })
    expect(await home.archive.verify()).toMatchObject({ ok: true, problems: [], behind: 0 })
    const fresh = scratch()
    cpSync(join(root, '.claude'), join(fresh, '.claude'), { recursive: true, preserveTimestamps: true })
    const { home: clean } = await openTestHome(fresh, NOW)
    await clean.history.ingest()
    for (const [of, at] of [
      [home, root],
      [clean, fresh],
    ] as const) {
      rmSync(join(at, '.claude'), { recursive: true })
      await of.index.rebuild()
    }
    expect(await answers(home, manifest)).toEqual(await answers(clean, manifest))
    await home[Symbol.asyncDispose]()
    await clean[Symbol.asyncDispose]()
  })
})

describe('a database that is damaged', () => {
  it.each(DATABASES)('%s is set aside and filled again, with a line that says so', async (name) => {
    const { root } = withFixture()
    const { home, warnings } = await openTestHome(root, NOW)
    await home.history.ingest()
    const spent = await spentBy(home)
    rmSync(join(root, '.claude'), { recursive: true })
    const path = join(home.directory, name)
    rmSync(`${path}-wal`, { force: true })
    writeFileSync(path, 'garbage'.repeat(5_000))
    expect((await home.history.search({ text: 'slowly' })).hits).toHaveLength(1)
    expect((await home.history.turns(OWN)).turns).toHaveLength(7)
    expect(await spentBy(home)).toEqual(spent)
    expect(warnings).toEqual([
      expect.stringMatching(new RegExp(`^${name} was damaged and is kept as .*from the logs and the archive$`)),
    ])
    const kept = readdirSync(home.directory).find((one) => one.startsWith(`${name}.set-aside-`)) ?? ''
    expect(readFileSync(join(home.directory, kept), 'utf8')).toContain('garbage')
    expect(await home.history.ingest()).toMatchObject({ read: 0 })
    await home[Symbol.asyncDispose]()
  })

  it('in the middle is noticed when it is used', async () => {
    const { root, manifest } = withCorpus(55)
    // In a process of its own: only then is everything in the file, and nothing in the log beside it.
    expect(spawnSync(process.execPath, [WORKER, root, root, '1']).status).toBe(0)
    const copy = scratch()
    cpSync(profileDirectory(root), profileDirectory(copy), { recursive: true, verbatimSymlinks: true })
    const { home: whole } = await openTestHome(copy, LATER)
    const expected = await answers(whole, manifest)
    await whole[Symbol.asyncDispose]()
    const path = join(profileDirectory(root), 'text.db')
    const bytes = readFileSync(path)
    for (let page = 2; page * 4096 < bytes.length; page += 1) bytes.fill(0x5a, page * 4096, page * 4096 + 2048)
    writeFileSync(path, bytes)
    const { home: again, warnings } = await openTestHome(root, LATER)
    expect(await answers(again, manifest)).toEqual(expected)
    expect(warnings).toEqual([expect.stringContaining('text.db was damaged')])
    await again[Symbol.asyncDispose]()
  })
})

describe('the archive itself', () => {
  it('of files that were put in the place of each other is noticed', async () => {
    const { root } = withFixture()
    const { home } = await openTestHome(root, NOW)
    await home.history.ingest()
    const directory = join(profileDirectory(root), 'archive', 'claude')
    const [one = '', two = ''] = readdirSync(directory).map((name) => join(directory, name))
    const bytes = readFileSync(one)
    writeFileSync(one, readFileSync(two))
    writeFileSync(two, bytes)
    const { ok, problems } = await home.archive.verify()
    expect({ ok, problems }).toEqual({
      ok: false,
      problems: [expect.stringContaining('contains another log'), expect.stringContaining('contains another log')],
    })
    await home[Symbol.asyncDispose]()
  })

  it('verify names what is damaged, and ingest archives it again from its log', async () => {
    const { root } = withFixture()
    const { home } = await openTestHome(root, LATER)
    await home.history.ingest()
    const [file = ''] = readdirSync(archiveOf(root), { recursive: true, encoding: 'utf8' }).filter(
      (name) => name.includes(OWN) && /\.(sealed|live)$/.test(name),
    )
    const path = join(archiveOf(root), file)
    const bytes = readFileSync(path)
    bytes[bytes.length - 20] = (bytes[bytes.length - 20] ?? 0) ^ 0xff
    writeFileSync(path, bytes)
    const { ok, problems } = await home.archive.verify()
    expect(ok).toBe(false)
    expect(problems).toEqual([expect.stringContaining(file.replace(/\.\w+$/, ''))])
    rmSync(path)
    await home.history.ingest()
    expect(await home.archive.verify()).toMatchObject({ ok: true, problems: [] })
    await home[Symbol.asyncDispose]()
  })

  it('is pruned by age and size as the settings say, never without them, and only of logs that are gone', async () => {
    const { root, log } = withFixture()
    const { home } = await openTestHome(root, LATER)
    await home.history.ingest()
    expect(await home.archive.prune()).toMatchObject({ is_configured: false, logs: [] })
    writeFileSync(join(root, 'config.toml'), '[archive]\nmax_age = "30d"\nmax_size = "1KB"\n')
    expect(await home.archive.prune()).toMatchObject({ is_configured: true, logs: [] })
    rmSync(log)
    const would = await home.archive.prune({ dryRun: true })
    expect(would).toMatchObject({ dry_run: true, logs: [{ session: OWN, path: log, because: 'age' }] })
    expect((await home.history.turns(OWN)).told_from).toBe('archive')
    expect(await home.archive.prune()).toMatchObject({ dry_run: false, bytes_freed: would.bytes_freed })
    expect((await home.history.turns(OWN)).told_from).toBe('counts')
    expect((await home.history.search({ text: 'slowly' })).hits).toEqual([])
    expect(await home.events.read({ type: 'archive_pruned' })).toMatchObject([
      { payload: { logs: 1, by_age: 1, by_size: 0 } },
    ])
    writeFileSync(join(root, 'config.toml'), '[archive]\nmax_size = "many"\n')
    await expect(home.archive.prune()).rejects.toMatchObject({
      code: 'bad-config',
      next: expect.stringContaining('"2GB"'),
    })
    await home[Symbol.asyncDispose]()
  })
})

describe('a home that cannot be written to', () => {
  it('can be searched and shown, also what only the archive has', async () => {
    const { root } = withFixture()
    const { home } = await openTestHome(root, NOW)
    await home.history.ingest()
    await home[Symbol.asyncDispose]()
    rmSync(join(root, '.claude'), { recursive: true })
    const inside = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    const skein = (...args: string[]) =>
      spawnSync(
        'unshare',
        [
          ...(IS_ROOT ? [] : ['-r']),
          '-m',
          'sh',
          '-c',
          inside,
          root,
          process.execPath,
          join(import.meta.dirname, '..', '..', 'bin', 'skein.js'),
          ...args,
        ],
        { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: root, SKEIN_HOME: root } },
      )
    expect(skein('search', 'slowly')).toMatchObject({ status: 0, stdout: expect.stringContaining('turn 5') })
    expect(skein('turns', OWN)).toMatchObject({ status: 0, stderr: expect.stringContaining('shown from the archive') })
    expect(skein('show', OWN)).toMatchObject({ status: 0 })
    expect(skein('archive', 'list')).toMatchObject({ status: 0, stdout: expect.stringContaining('gone') })
    expect(skein('archive', 'verify')).toMatchObject({ status: 0, stdout: expect.stringContaining('intact') })
    expect(skein('ingest').status).toBe(1)
  })

  it('also when a process was killed and left the log of its database', async () => {
    const { root } = withFixture()
    const { home } = await openTestHome(root, NOW)
    await home.history.ingest()
    const copy = scratch()
    cpSync(root, copy, { recursive: true, verbatimSymlinks: true })
    await home[Symbol.asyncDispose]()
    expect(existsSync(join(profileDirectory(copy), 'text.db'))).toBe(true)
    const inside = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'
    const bin = join(import.meta.dirname, '..', '..', 'bin', 'skein.js')
    const found = spawnSync(
      'unshare',
      [...(IS_ROOT ? [] : ['-r']), '-m', 'sh', '-c', inside, copy, process.execPath, bin, 'search', 'slowly'],
      { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: copy, SKEIN_HOME: copy } },
    )
    expect(found).toMatchObject({ status: 0, stdout: expect.stringContaining('turn 5') })
    expect(statSync(join(profileDirectory(copy), 'text.db')).isFile()).toBe(true)
  })
})
