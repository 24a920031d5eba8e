import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { FileLock } from '../../src/disk/index.js'
import { createProfile, openHome } from '../../src/home/index.js'
import { openTestHome, profileDirectory, scratch } from '../home/scratch.js'
import {
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
} from '../home/worded-home.js'

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
