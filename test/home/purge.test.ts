import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FileLock } from '../../src/disk/index.js'
import { createProfile, openHome } from '../../src/home/index.js'
import { makeCorpus } from '../ingest/corpus.js'
import { openTestHome, profileDirectory, scratch } from './scratch.js'
import {
  EVERYTHING,
  filesUnder,
  fillHome,
  LATER,
  line,
  logOf,
  NOW,
  OTHER,
  SESSION,
  stateOf,
  turn,
  whereIs,
} from './worded-home.js'

const WORKER = join(import.meta.dirname, '..', 'workers', 'purge.mjs')

describe('purging a secret', () => {
  it.each([
    ['a log that goes on', NOW.ms],
    ['a log that is over', LATER.ms],
  ])('leaves nothing of it in any byte, and everything else as it was: %s', async (_, nowMs) => {
    const root = scratch()
    const secret = 'Wombat "42"\nline\\two é%'
    const home = await fillHome(root, secret, nowMs)
    onTestFinished(() => home[Symbol.asyncDispose]())
    const before = await stateOf(home)
    expect(whereIs(root, secret).length).toBeGreaterThan(8)

    const preview = await home.privacy.purge({ secret, dryRun: true })
    expect(preview).toMatchObject({ dry_run: true, native_logs: [{ file: logOf(root, SESSION) }] })
    const files = preview.places.map(({ file }) =>
      file.replace('profiles/default/', '').replace(/\/[\w-]{30,}.*/, '/*'),
    )
    expect([...new Set(files)]).toEqual(
      expect.arrayContaining([
        ...['events/00000001.jsonl', 'events/blobs/*', 'history.db', 'text.db', 'roster.json', 'roster.json.bak'],
        ...['sessions/first.json', 'sessions/archive/2026-01.001.jsonl.gz', 'cache/page.html'],
        ...['archive/claude/*', 'conversations/agents/main/conversations.db', 'conversations/agents/main/sessions/*'],
      ]),
    )
    expect(await stateOf(home)).toEqual(before)
    expect(whereIs(root, secret).length).toBeGreaterThan(8)

    const report = await home.privacy.purge({ secret })
    expect(report.proof).toMatchObject({ left: [], unreadable: [] })
    expect(report.proof?.files).toBeGreaterThan(10)
    expect(whereIs(root, secret)).toEqual([])
    expect(readFileSync(join(root, 'purged.json'), 'utf8')).not.toContain('Wombat')
    expect(await stateOf(home)).toEqual(before)
    expect(await home.index.check()).toMatchObject({ ok: true, problems: [], unreadable_lines: 0 })
    expect((await home.sessions.get('first'))?.title).toBe('Fix [PURGED]')
    expect((await home.roster.agent('web/toast')).title).toBe('Still knows [PURGED]')
    expect((await home.events.read({ type: 'mail' }))[0]?.payload.body).toMatch(/^(\[PURGED\] ){9000}$/)
    expect((await home.history.search({ text: 'Wombat' })).hits).toEqual([])
    expect((await home.history.search({ text: 'walrus' })).hits).toHaveLength(1)
    expect((await home.history.search({ text: 'octopus' })).hits).toHaveLength(1)
    await home.index.rebuild()
    expect(await stateOf(home)).toEqual(before)

    expect(await home.privacy.purge({ secret })).toMatchObject({ count: 0, proof: { left: [] } })
    expect(JSON.parse(readFileSync(join(root, 'purged.json'), 'utf8')).purges).toHaveLength(1)
  })

  it('keeps it out of what is read later, also from a log that goes on', async () => {
    const root = scratch()
    const secret = 'Wombat-4242-burrow'
    const home = await fillHome(root, secret)
    onTestFinished(() => home[Symbol.asyncDispose]())
    await home.privacy.purge({ secret })
    await home.history.ingest()
    appendFileSync(
      logOf(root, SESSION),
      turn(SESSION, 3, { prompt: `once more ${secret}`, command: `cat ${secret}`, result: secret }),
    )
    appendFileSync(
      logOf(root, SESSION),
      line({ type: 'custom-title', customTitle: `New ${secret}`, sessionId: SESSION }),
    )
    await home.history.ingest()
    await home.history.cost()
    expect((await home.history.search({ text: 'once more' })).hits).toHaveLength(1)
    expect((await home.sessions.get(SESSION))?.title).toBe('New [PURGED]')
    rmSync(join(home.directory, 'text.db'))
    rmSync(join(home.directory, 'history.db'))
    await home.history.ingest()
    expect(whereIs(root, secret)).toEqual([])
  })

  it('keeps it out of what is told later', async () => {
    const root = scratch()
    const secret = 'Wombat-4242-burrow'
    const { home } = await openTestHome(root, NOW)
    onTestFinished(() => home[Symbol.asyncDispose]())
    await home.privacy.purge({ secret })
    const encoded = Buffer.from(`ada:${secret}`).toString('base64')
    await home.sessions.start({ id: 'first', title: `Fix ${secret}`, branch: secret })
    await home.sessions.update('first', { title: `Mend ${encoded}` })
    await home.sessions.handoff('first', { id: 'second', message: `it is ${secret}`, subject: secret })
    await home.sessions.end('second', { outcome: 'done', reason: secret })
    await home.events.append({ type: 'mail', payload: { id: secret, body: [`${encoded} is it`], [secret]: 1 } })
    expect([...whereIs(root, secret), ...whereIs(root, encoded)]).toEqual([])
    expect(await home.sessions.get('first')).toMatchObject({ title: expect.stringMatching(/^Mend .*\[PURGED\]/) })
    expect((await home.events.read({ type: 'mail' }))[0]?.payload).toMatchObject({ id: '[PURGED]', '[PURGED]': 1 })
  })

  it('goes from the other profiles, too', async () => {
    const root = scratch()
    createProfile(root, 'play')
    const home = await fillHome(root, 'Wombat-4242-burrow')
    onTestFinished(() => home[Symbol.asyncDispose]())
    const play = await openHome({
      root,
      configFile: join(root, 'config.toml'),
      profile: 'play',
      surroundings: { home: join(root, 'nowhere'), env: {}, zone: 'UTC' },
      context: {
        clock: { now: () => NOW.ms },
        random: { bytes: (n) => crypto.getRandomValues(new Uint8Array(n)), uuid: () => crypto.randomUUID() },
        warn: () => {},
        progress: () => {},
        actor: 'a',
        host: 'h',
      },
    })
    await play.sessions.start({ id: 'there', title: 'Wombat-4242-burrow' })
    // The profile stays open: others may use it while something is purged.
    onTestFinished(() => play[Symbol.asyncDispose]())
    expect((await home.privacy.purge({ secret: 'Wombat-4242-burrow' })).proof).toMatchObject({ left: [] })
    expect(whereIs(root, 'Wombat-4242-burrow')).toEqual([])
    expect((await play.sessions.get('there'))?.title).toBe('[PURGED]')
    await play.sessions.update('there', { branch: 'main' })
    expect(whereIs(root, 'Wombat-4242-burrow')).toEqual([])
    expect(await play.index.check()).toMatchObject({ ok: true })
  })

  it('leaves none of its words in the index of words', async () => {
    const root = scratch()
    const home = await fillHome(root, 'xqzvwombat7burrow')
    await home.privacy.purge({ secret: 'xqzvwombat7burrow' })
    await home[Symbol.asyncDispose]()
    // The index keeps only what differs from the word before, so its end is looked for.
    for (const path of filesUnder(profileDirectory(root)))
      expect(readFileSync(path, 'latin1')).not.toContain('mbat7burrow')
  })

  it('never survives, whatever it is and whatever stands around it', async () => {
    const words = fc.string({ minLength: 8, maxLength: 24, unit: 'grapheme' })
    const isFit = (text: string): boolean =>
      text.length >= 8 && text.trim() === text && !/PURGED|\0/.test(text) && Buffer.from(text).toString() === text
    await fc.assert(
      fc.asyncProperty(
        words.filter(isFit),
        fc.string({ maxLength: 40 }),
        fc.string({ maxLength: 40 }),
        async (secret, before, after) => {
          const root = scratch()
          const home = await fillHome(root, `${before}${secret}${after}`)
          const state = await stateOf(home)
          const first = await home.privacy.purge({ secret })
          expect(first.proof).toMatchObject({ left: [] })
          expect(await home.privacy.purge({ secret })).toMatchObject({ count: 0 })
          expect(await stateOf(home)).toEqual(state)
          expect((await home.index.check()).ok).toBe(true)
          await home[Symbol.asyncDispose]()
          expect(whereIs(root, secret)).toEqual([])
        },
      ),
      { numRuns: 8, endOnFailure: true },
    )
  })

  it('works beside a daemon and agents that hold their locks', async () => {
    const root = scratch()
    const home = await fillHome(root, 'Wombat-4242-burrow')
    onTestFinished(() => home[Symbol.asyncDispose]())
    mkdirSync(join(root, 'run'))
    mkdirSync(join(home.directory, 'agents'), { recursive: true })
    using _daemon = await new FileLock(join(root, 'run', 'default.lock')).hold(1_000)
    using _agent = await new FileLock(join(home.directory, 'agents', 'a1.state.lock')).hold(1_000)
    expect((await home.privacy.purge({ secret: 'Wombat-4242-burrow' })).proof).toMatchObject({ left: [] })
    // Opening a lock file, if only to read it, would have released what this process holds.
    const others = new FileLock(join(root, 'run', 'default.lock'))
    await expect(others.hold(50)).rejects.toThrow()
  }, 60_000)

  it('is done although another text says it in other letters, which the index of words does not tell apart', async () => {
    const root = scratch()
    const home = await fillHome(root, 'zqwombatburrow')
    onTestFinished(() => home[Symbol.asyncDispose]())
    appendFileSync(
      logOf(root, OTHER),
      turn(OTHER, 2, { prompt: 'the ZqWombatBurrow stays', command: 'ls', result: '' }),
    )
    await home.history.ingest()
    expect((await home.privacy.purge({ secret: 'zqwombatburrow' })).proof).toMatchObject({ left: [], unreadable: [] })
    expect((await home.history.search({ text: 'zqwombatburrow' })).hits).toHaveLength(1)
    expect(existsSync(join(root, 'purge-unfinished'))).toBe(false)
    expect((await home.privacy.purge({ pattern: 'zqwombatburrow' })).proof).toMatchObject({ left: [] })
  })

  it('says that it is part of the path of a log, where it has to stay, and shows it nowhere', async () => {
    const root = scratch()
    const secret = 'Zebra77Secret'
    const path = join(root, '.claude', 'projects', `-srv-${secret}-web`, `${SESSION}.jsonl`)
    mkdirSync(join(path, '..'), { recursive: true })
    const content = turn(SESSION, 1, { prompt: 'walrus', command: `ls /srv/${secret}`, result: 'narwhal' })
    writeFileSync(path, content.replaceAll('"/srv/web"', `"/srv/${secret}/web"`))
    const { home } = await openTestHome(root, NOW)
    onTestFinished(() => home[Symbol.asyncDispose]())
    await home.history.ingest()
    for (const dryRun of [true, false]) {
      const report = await home.privacy.purge({ secret, dryRun })
      expect(report).toMatchObject({ log_paths: 1, native_logs: [{ file: path.replace(secret, '[PURGED]') }] })
      expect(JSON.stringify(report)).not.toContain(secret)
      expect((report.proof?.left.length ?? 0) > 0).toBe(!dryRun)
    }
    expect((await home.sessions.get(SESSION))?.cwd).toBe('/srv/[PURGED]/web')
    expect(await home.privacy.purge({ resume: true, accept: true })).toMatchObject({ log_paths: 1 })
    expect(existsSync(join(root, 'purge-unfinished'))).toBe(false)
    // It is still read, and known by its words.
    appendFileSync(path, turn(SESSION, 2, { prompt: `octopus ${secret}`, command: 'ls', result: '' }))
    await home.history.ingest()
    expect((await home.history.search({ text: 'octopus' })).hits).toHaveLength(1)
    expect((await home.history.search({ text: secret })).hits).toEqual([])
    // Nothing of the kind with one that stands in texts alone.
    expect(await home.privacy.purge({ secret: 'octopus walrus', dryRun: true })).toMatchObject({ log_paths: 0 })
  })

  it.each([
    ['base64', (secret: string) => Buffer.from(`ada:${secret}`).toString('base64')],
    ['hex', (secret: string) => Buffer.from(secret).toString('hex')],
    ['escaped', (secret: string) => `'${secret.replaceAll("'", "'\\''")}'`],
  ])('goes in other spellings, too, and stays out: %s', async (spelling, spell) => {
    const root = scratch()
    const secret = "Wombat'4242+burrow"
    const home = await fillHome(root, spell(secret), LATER.ms)
    onTestFinished(() => home[Symbol.asyncDispose]())
    const core = spell(secret).slice(4, -4)
    expect(whereIs(root, core).length).toBeGreaterThan(8)
    expect(await home.privacy.purge({ secret, dryRun: true })).toMatchObject({ spellings: [spelling] })
    expect(whereIs(root, core).length).toBeGreaterThan(8)
    expect((await home.privacy.purge({ secret })).proof).toMatchObject({ left: [], unreadable: [] })
    expect(whereIs(root, core)).toEqual([])
    appendFileSync(
      logOf(root, SESSION),
      turn(SESSION, 3, {
        prompt: `once more ${spell(secret)}`,
        command: `cat ${spell(secret)}`,
        result: spell(secret),
      }),
    )
    await home.history.ingest()
    expect((await home.history.search({ text: 'once more' })).hits).toHaveLength(1)
    expect(whereIs(root, core)).toEqual([])
  })

  it('a second look finds what is left in another spelling', async () => {
    const root = scratch()
    const { home } = await openTestHome(root, NOW)
    onTestFinished(() => home[Symbol.asyncDispose]())
    writeFileSync(join(root, 'config.toml'), `# ${Buffer.from('ada:Wombat-4242-burrow').toString('base64')}\n`)
    expect((await home.privacy.purge({ secret: 'Wombat-4242-burrow' })).proof).toMatchObject({
      left: [{ file: 'config.toml', count: 1 }],
    })
  })

  it('refuses what is too short, and more than one thing', async () => {
    const { home } = await openTestHome(scratch(), NOW)
    onTestFinished(() => home[Symbol.asyncDispose]())
    for (const secret of [
      'short',
      '       ',
      '\n\n\n\n\n\n',
      '\ufffd'.repeat(7),
      '[PURGED]',
      'PURGED',
      'my PURGED one',
    ])
      await expect(home.privacy.purge({ secret })).rejects.toMatchObject({ code: 'bad-input' })
    await expect(home.privacy.purge({ secret: 'long enough', pattern: 'x' })).rejects.toMatchObject({ code: 'usage' })
    await expect(home.privacy.purge({})).rejects.toMatchObject({ code: 'usage' })
    await expect(home.privacy.purge({ pattern: '(a+)+' })).rejects.toMatchObject({ code: 'bad-input' })
  })
})

describe('purging by pattern and path', () => {
  it('takes out what fits, and keeps it out', async () => {
    const root = scratch()
    const home = await fillHome(root, 'ACME-123456')
    onTestFinished(() => home[Symbol.asyncDispose]())
    const before = await stateOf(home)
    expect((await home.privacy.purge({ pattern: 'ACME-\\d{6}' })).proof).toMatchObject({ left: [] })
    appendFileSync(logOf(root, OTHER), turn(OTHER, 2, { prompt: 'see ACME-654321', command: 'ls', result: '' }))
    await home.history.ingest()
    expect([...whereIs(root, 'ACME-123456'), ...whereIs(root, 'ACME-654321')]).toEqual([])
    expect(await home.index.check()).toMatchObject({ ok: true })
    expect(JSON.stringify(await stateOf(home))).toContain(JSON.stringify((before as { agents: unknown }).agents))
  })

  it.each([
    ['a log that goes on', NOW.ms],
    ['a log that is over', LATER.ms],
  ])('nothing is left where two texts that lie side by side fit a pattern together: %s', async (_, nowMs) => {
    const root = scratch()
    writeFileSync(join(root, 'privacy.yaml'), EVERYTHING)
    const long = 'long enough to lie among the words '
    writeFileSync(
      logOf(root, SESSION),
      turn(SESSION, 1, { prompt: `${long}ACME-123456`, command: 'ls', result: `${long}ACME-12` }) +
        turn(SESSION, 2, { prompt: `9999 ${long}`, command: 'ls', result: 'narwhal' }),
    )
    const { home } = await openTestHome(root, { ms: nowMs })
    onTestFinished(() => home[Symbol.asyncDispose]())
    await home.history.ingest()
    const report = await home.privacy.purge({ pattern: 'ACME-\\d{5,}' })
    expect(report.count).toBeGreaterThan(0)
    expect(report.proof).toMatchObject({ left: [], unreadable: [] })
  })

  it('a pattern that takes too long on a log of a tool is refused before anything is changed', async () => {
    const root = scratch()
    const home = await fillHome(root, 'ACME-123456')
    onTestFinished(() => home[Symbol.asyncDispose]())
    // Not ingested yet: only the tool's log has it.
    appendFileSync(logOf(root, OTHER), turn(OTHER, 2, { prompt: 'a'.repeat(5_000), command: 'ls', result: '' }))
    for (const dryRun of [true, false])
      await expect(home.privacy.purge({ pattern: '(?:a|a)+b', dryRun })).rejects.toMatchObject({ code: 'bad-input' })
    expect(existsSync(join(root, 'purged.json'))).toBe(false)
  })

  it('a pattern that fits ids and times takes out words and leaves the records whole', async () => {
    const root = scratch()
    const home = await fillHome(root, '2026-11-14')
    onTestFinished(() => home[Symbol.asyncDispose]())
    const before = await stateOf(home)
    const { proof } = await home.privacy.purge({ pattern: '\\d{4}-\\d\\d-\\d\\d' })
    expect(proof?.left.length).toBeGreaterThan(0)
    expect(existsSync(join(root, 'purge-unfinished'))).toBe(true)
    await home.privacy.purge({ resume: true, accept: true })
    expect(existsSync(join(root, 'purge-unfinished'))).toBe(false)
    expect(await stateOf(home)).toEqual(before)
    expect((await home.sessions.get('first'))?.title).toBe('Fix [PURGED]')
    expect(await home.index.check()).toMatchObject({ ok: true })
  })

  it('a path goes with what tools did to it', async () => {
    const root = scratch()
    writeFileSync(join(root, 'privacy.yaml'), EVERYTHING)
    const command = 'cat secrets/prod.env'
    writeFileSync(
      logOf(root, SESSION),
      turn(SESSION, 1, { prompt: 'look at secrets/prod.env please', command, result: 'flamingo' }) +
        turn(SESSION, 2, { prompt: 'go on', command: 'ls', result: 'pelican' }),
    )
    const { home } = await openTestHome(root, NOW)
    onTestFinished(() => home[Symbol.asyncDispose]())
    await home.history.ingest()
    expect((await home.privacy.purge({ path: 'secrets/*.env' })).proof).toMatchObject({ left: [] })
    const found = async (text: string): Promise<number> => (await home.history.search({ text })).hits.length
    expect([await found('flamingo'), await found('pelican'), await found('please')]).toEqual([0, 1, 1])
    // The call is read before its result was written.
    const [asked, called, answered] = turn(SESSION, 3, { prompt: 'again', command, result: 'flamingo' }).split('\n')
    appendFileSync(logOf(root, SESSION), `${asked}\n${called}\n`)
    await home.history.ingest()
    appendFileSync(logOf(root, SESSION), `${answered}\n`)
    await home.history.ingest()
    expect([await found('flamingo'), await found('again')]).toEqual([0, 1])
    expect([...whereIs(root, 'secrets/prod.env'), ...whereIs(root, 'flamingo')]).toEqual([])
  })
})

describe('purging a session', () => {
  it('leaves nothing of it but what it spent, until it is asked for by force', async () => {
    const root = scratch()
    const home = await fillHome(root, 'Wombat-4242-burrow')
    onTestFinished(() => home[Symbol.asyncDispose]())
    const spent = (await home.history.cost()).total
    expect((await home.archive.list()).map(({ session }) => session)).toContain(SESSION)
    expect((await home.privacy.purge({ session: '33333333' })).proof).toMatchObject({ left: [] })
    expect((await home.archive.list()).map(({ session }) => session)).not.toContain(SESSION)
    await home.history.ingest()
    expect(await home.sessions.get(SESSION)).toBeUndefined()
    expect(await home.events.read({ session: SESSION })).toEqual([])
    expect((await home.history.search({ text: 'walrus' })).hits).toEqual([])
    expect((await home.history.search({ text: 'octopus' })).hits).toHaveLength(1)
    expect((await home.history.cost()).total).toEqual(spent)
    expect(await home.index.check()).toMatchObject({ ok: true })

    expect((await home.privacy.purge({ session: 'first' })).proof).toMatchObject({ left: [] })
    expect((await home.sessions.get('second'))?.parent_id).toBe('first')
    expect(await home.index.check()).toMatchObject({ ok: true })

    await home.history.ingest({ session: SESSION, force: true })
    expect((await home.history.search({ text: 'walrus' })).hits).toHaveLength(1)
    expect((await home.sessions.get(SESSION))?.tool).toBe('claude')
  })
})

describe('a purge that is interrupted', () => {
  const start = (...args: string[]): { child: ChildProcess; ended: Promise<unknown> } => {
    const child = spawn(process.execPath, [WORKER, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    return { child, ended: new Promise((resolve) => child.on('exit', resolve)) }
  }

  it('is told of and finished by the next one, wherever it was killed', async () => {
    const root = scratch()
    const secret = 'Wombat-4242-burrow'
    const first = await fillHome(root, secret)
    const before = await stateOf(first)
    await first[Symbol.asyncDispose]()
    let kills = 0
    for (let round = 0; round < 8; round += 1) {
      const { child, ended } = start(root, 'purge', secret)
      // From the moment on which it has written down what is to go.
      while (!existsSync(join(root, 'purge-unfinished')) && child.exitCode === null)
        await new Promise((resolve) => setTimeout(resolve, 5))
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 400))
      child.kill('SIGKILL')
      if ((await ended) === null) kills += 1
    }
    expect(kills).toBeGreaterThan(0)
    const { home, warnings } = await openTestHome(root, NOW)
    onTestFinished(() => home[Symbol.asyncDispose]())
    const wasUnfinished = existsSync(join(root, 'purge-unfinished'))
    expect(warnings.some((warning) => warning.includes('skein purge --resume'))).toBe(wasUnfinished)
    expect((await home.privacy.purge({ resume: true })).proof).toMatchObject({ left: [], unreadable: [] })
    expect(existsSync(join(root, 'purge-unfinished'))).toBe(false)
    expect(whereIs(root, secret)).toEqual([])
    expect(await stateOf(home)).toEqual(before)
    expect(await home.index.check()).toMatchObject({ ok: true, unreadable_lines: 0 })
  })

  it('is not undone by an ingest that is running', async () => {
    const root = scratch()
    const secret = 'Wombat-4242-burrow'
    const home = await fillHome(root, secret)
    onTestFinished(() => home[Symbol.asyncDispose]())
    const { child, ended } = start(root, 'watch')
    await new Promise((resolve) => child.stdout?.once('data', resolve))
    let number = 10
    const writing = setInterval(() => {
      number += 1
      appendFileSync(
        logOf(root, SESSION),
        turn(SESSION, number, { prompt: `${number} ${secret}`, command: secret, result: secret }),
      )
    }, 20)
    await new Promise((resolve) => setTimeout(resolve, 300))
    const report = await home.privacy.purge({ secret })
    await new Promise((resolve) => setTimeout(resolve, 500))
    clearInterval(writing)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(report.proof).toMatchObject({ left: [] })
    await home.history.ingest()
    expect(whereIs(root, secret)).toEqual([])
    expect(await home.index.check()).toMatchObject({ ok: true })
    expect((await home.history.search({ text: String(number) })).hits.length).toBeGreaterThan(0)
  })
})

it('a needle of a large corpus is gone from the search and from every file', async () => {
  const root = scratch()
  const corpus = makeCorpus(61, { sessions: 40, mb: 8 })
  cpSync(join(corpus.root, 'projects'), join(root, '.claude', 'projects'), { recursive: true })
  writeFileSync(join(root, 'privacy.yaml'), EVERYTHING)
  const { needles } = JSON.parse(readFileSync(join(corpus.root, 'manifest.json'), 'utf8')) as {
    needles: Record<string, unknown>
  }
  const { home } = await openTestHome(root, LATER)
  onTestFinished(() => home[Symbol.asyncDispose]())
  await home.history.ingest()
  let gone = 0
  for (const needle of Object.keys(needles).slice(0, 3)) {
    const { hits } = await home.history.search({ text: needle })
    const report = await home.privacy.purge({ secret: needle })
    expect(report.proof).toMatchObject({ left: [] })
    expect(report.count >= hits.length && report.native_logs.length >= (hits.length > 0 ? 1 : 0)).toBe(true)
    expect((await home.history.search({ text: needle })).hits).toEqual([])
    expect(whereIs(root, needle)).toEqual([])
    gone += hits.length
  }
  expect(gone).toBeGreaterThan(0)
  expect((await home.history.search({ text: 'error' })).hits.length).toBeGreaterThan(0)
  expect((await home.archive.verify()).problems).toEqual([])
  rmSync(join(root, '.claude'), { recursive: true })
  await home.index.rebuild()
  for (const needle of Object.keys(needles).slice(0, 3))
    expect((await home.history.search({ text: needle })).hits).toEqual([])
})
