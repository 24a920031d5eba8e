import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { StoredPrivacy } from '../../src/history/care/privacy-care.js'
import { PolicyMemory } from '../../src/history/policy-memory.js'
import type { Home } from '../../src/home/index.js'
import { TextStore } from '../../src/ingest/index.js'
import { profilePaths } from '../../src/store/paths.js'
import { ProfileStore } from '../../src/store/profile-store.js'
import { openTestHome, profileDirectory, scratch } from '../home/scratch.js'
import { makeCorpus } from '../ingest/corpus.js'
import { seededRandom, someTime } from '../support/random.js'
import { scanHome } from '../support/scan-home.js'

const NOW = { ms: Date.UTC(2026, 10, 15) }
const EVERYTHING =
  'tool_privacy: { "*": full, Write: full, Edit: full, MultiEdit: full, NotebookEdit: full, Bash: full }\n'
const NOTHING = 'tool_privacy: { "*": none, Read: none, Edit: none, Write: none, Bash: none, Grep: none, Glob: none }\n'
const WORKER = join(import.meta.dirname, '..', 'workers', 'apply-policy.mjs')

/** A log of one session that worked in a project. */
function writeLog(
  root: string,
  session: string,
  prompt: string,
  { cwd = '/srv/web', title = '', branch = 'main' } = {},
): string {
  const path = join(root, '.claude', 'projects', '-srv', `${session}.jsonl`)
  mkdirSync(join(path, '..'), { recursive: true })
  const base = {
    sessionId: session,
    cwd,
    version: '2.1.325',
    isSidechain: false,
    userType: 'external',
    gitBranch: branch,
  }
  const at = (second: number): string => `2026-11-14T10:00:0${second}.000Z`
  const call = { type: 'tool_use', id: `toolu_${session}`, name: 'Bash', input: { command: 'echo walrus $HOME' } }
  const lines = [
    {
      type: 'user',
      uuid: `${session}-1`,
      parentUuid: null,
      timestamp: at(1),
      message: { role: 'user', content: prompt },
      ...base,
    },
    {
      type: 'assistant',
      uuid: `${session}-2`,
      parentUuid: `${session}-1`,
      timestamp: at(2),
      requestId: 'r1',
      message: { id: `m-${session}`, role: 'assistant', model: 'claude-opus-5', content: [call] },
      ...base,
    },
    {
      type: 'user',
      uuid: `${session}-3`,
      parentUuid: `${session}-2`,
      timestamp: at(3),
      message: {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: call.id, content: 'a narwhal answered' }],
      },
      ...base,
    },
    ...(title === '' ? [] : [{ type: 'custom-title', customTitle: title, sessionId: session }]),
  ]
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  return path
}

const SESSION = '33333333-3333-4333-8333-333333333333'
const KEY = `sk-ant-api03-${'Ab1'.repeat(31)}AA`

/** Everything that can be found, in a form that does not depend on when it was read. */
function texts(root: string): string[] {
  using store = TextStore.open(join(profileDirectory(root), 'text.db'))
  const rows = store.db.all(
    'select l.path, p.agent, p.turn, p.kind, p.block, p.start, p.length from passages p join text_logs l on l.n = p.log',
  ) as { path: string; agent: string; turn: number; kind: number; block: number; start: number; length: number }[]
  return rows
    .map((row) => [row.path.slice(root.length), row.agent, row.turn, row.kind, store.textOf(row)].join('\0'))
    .sort()
}

async function found(home: Home, text: string): Promise<number> {
  return (await home.history.search({ text })).hits.length
}

/** The corpus works in directories that do not exist here, where no log is read again; `isHere` has it work in one that does. */
function withCorpus(seed: number, { isHere }: { isHere: boolean }): string {
  const root = scratch()
  const corpus = makeCorpus(seed, { sessions: 20, mb: 3 })
  const projects = join(root, '.claude', 'projects')
  cpSync(join(corpus.root, 'projects'), projects, { recursive: true })
  for (const name of isHere ? readdirSync(projects, { recursive: true, encoding: 'utf8' }) : []) {
    if (!name.endsWith('.jsonl')) continue
    const path = join(projects, name)
    writeFileSync(path, readFileSync(path, 'utf8').replace(/"cwd":"[^"]*"/g, '"cwd":"/usr"'))
  }
  return root
}

it('a secret in the name of a branch reaches neither the journal nor a record of a session', async () => {
  const root = scratch()
  writeLog(root, SESSION, 'hello', { branch: `try/${KEY}` })
  const { home } = await openTestHome(root, NOW)
  onTestFinished(() => home[Symbol.asyncDispose]())
  await home.history.ingest()
  expect((await home.sessions.get(SESSION))?.branch).toBe('try/[REDACTED:anthropic-key]')
  expect(JSON.stringify(await home.events.read())).not.toContain(KEY.slice(0, 30))
  expect(scanHome(join(root, 'profiles'), [KEY])).toEqual([])
})

it('a secret in what is said of a session reaches no file', async () => {
  const root = scratch()
  const { home } = await openTestHome(root, NOW)
  const first = await home.sessions.start({ title: `use ${KEY}`, branch: `try/${KEY}`, cwd: '/srv' })
  expect(first.title).toBe('use [REDACTED:anthropic-key]')
  await home.sessions.update(first.id, { title: `now ${KEY}` })
  const next = await home.sessions.handoff(first.id, {
    subject: KEY,
    message: `curl -u bob:${KEY} https://example.org`,
  })
  await home.sessions.end(next.id, { outcome: 'crash', reason: `refused ${KEY}` })
  const plain = await home.sessions.start({ title: 'a title like most' })
  expect(plain.title).toBe('a title like most')
  await home[Symbol.asyncDispose]()
  expect(scanHome(root, [KEY, KEY.slice(20)])).toEqual([])
})

describe('the audit', () => {
  it('has one event per session and ingest, which says rules and counts and no value', async () => {
    const root = scratch()
    writeLog(root, SESSION, `my key is ${KEY}, and again ${KEY}`, { title: `about ${KEY}` })
    const { home } = await openTestHome(root, NOW)
    onTestFinished(() => home[Symbol.asyncDispose]())
    await home.history.ingest()
    await home.history.ingest()
    const events = await home.events.read({ type: 'privacy_redacted' })
    expect(events).toMatchObject([
      {
        session: SESSION,
        payload: { rules: { 'anthropic-key': 3, variable: 1 }, tools: { text: 3, Bash: 1 }, count: 4 },
      },
    ])
    expect(await home.privacy.audit()).toMatchObject({
      events: 1,
      count: 4,
      by_session: { [SESSION]: 4 },
      by_day: { '2026-11-15': 4 },
    })
    expect(await home.privacy.audit({ session: 'other' })).toMatchObject({ events: 0, count: 0 })
    expect((await home.sessions.get(SESSION))?.title).toBe('about [REDACTED:anthropic-key]')
  })

  it('keeps no secret of an unfinished prompt or a title in any file', async () => {
    const root = scratch()
    const log = writeLog(root, SESSION, 'first', { title: `about ${KEY}` })
    const line = {
      type: 'user',
      uuid: 'u9',
      parentUuid: `${SESSION}-3`,
      timestamp: '2026-11-14T10:01:00.000Z',
      sessionId: SESSION,
      message: { role: 'user', content: `use ${KEY}` },
    }
    writeFileSync(log, `${readFileSync(log, 'utf8')}${JSON.stringify(line)}\n`)
    const { home } = await openTestHome(root, NOW)
    await home.history.ingest()
    await home[Symbol.asyncDispose]()
    for (const name of ['history.db', 'text.db', 'events/00000001.jsonl', 'index.db'])
      expect(readFileSync(join(profileDirectory(root), name), 'latin1')).not.toContain(KEY.slice(20, 40))
  })
})

describe('applying a policy to what is stored', () => {
  it('gives what a new ingest would give, whether the policy became looser or stricter', async () => {
    const root = withCorpus(51, { isHere: true })
    const { home } = await openTestHome(root, NOW)
    onTestFinished(() => home[Symbol.asyncDispose]())
    for (const policy of [EVERYTHING, NOTHING]) {
      await home.history.ingest()
      writeFileSync(join(root, 'privacy.yaml'), policy)
      const { logs } = await home.privacy.stored()
      expect(await home.privacy.stored()).toEqual({ logs, outdated: logs })
      const before = texts(root)
      expect(await home.privacy.apply({ dryRun: true })).toMatchObject({ dry_run: true, outdated: logs, logs })
      expect(texts(root)).toEqual(before)
      expect(await home.privacy.apply()).toMatchObject({ outdated: logs })
      expect(await home.privacy.stored()).toEqual({ logs, outdated: 0 })
      expect(await home.privacy.apply()).toMatchObject({ outdated: 0, read_again: 0, filtered_again: 0 })
      const applied = texts(root)
      expect(applied).not.toEqual(before)
      const fresh = scratch()
      cpSync(join(root, '.claude'), join(fresh, '.claude'), { recursive: true })
      writeFileSync(join(fresh, 'privacy.yaml'), policy)
      const { home: clean } = await openTestHome(fresh, NOW)
      await clean.history.ingest()
      await clean[Symbol.asyncDispose]()
      expect(applied).toEqual(texts(fresh))
    }
  })

  it('reads the log again when more may be kept, and filters what is stored when the log is gone', async () => {
    const root = scratch()
    const cwd = join(root, 'work')
    mkdirSync(cwd)
    const log = writeLog(root, SESSION, 'hello there', { cwd })
    const policy = join(root, 'privacy.yaml')
    writeFileSync(policy, NOTHING)
    const { home } = await openTestHome(root, NOW)
    onTestFinished(() => home[Symbol.asyncDispose]())
    await home.history.ingest()
    expect([await found(home, 'walrus'), await found(home, 'narwhal')]).toEqual([0, 0])

    writeFileSync(policy, EVERYTHING)
    expect((await home.history.search({ text: 'hello' })).may_be_outdated).toBe(true)
    expect(await home.privacy.apply()).toMatchObject({ read_again: 1, filtered_again: 0 })
    expect([await found(home, 'walrus'), await found(home, 'narwhal')]).toEqual([1, 1])
    expect((await home.history.search({ text: 'hello' })).may_be_outdated).toBe(false)

    rmSync(log)
    writeFileSync(policy, 'tool_privacy: { Bash: { arguments: redacted, result: none } }\n')
    expect(await home.privacy.apply()).toMatchObject({ read_again: 0, filtered_again: 1, passages_changed: 2 })
    expect([await found(home, 'walrus'), await found(home, 'narwhal')]).toEqual([1, 0])
    expect(texts(root).join('\n')).toContain('[ENV:HOME]')
    writeFileSync(policy, NOTHING)
    await home.privacy.apply()
    expect([await found(home, 'hello'), await found(home, 'walrus')]).toEqual([1, 0])
    await home[Symbol.asyncDispose]()
    for (const name of ['text.db', 'text.db-wal'].map((one) => join(profileDirectory(root), one)))
      expect(readFileSync(name, { encoding: 'latin1', flag: 'a+' })).not.toMatch(/walrus|narwhal/)
  })

  it('does not loosen what a project hid, when the project is gone', async () => {
    const root = scratch()
    const cwd = join(root, 'work')
    mkdirSync(join(cwd, '.skein'), { recursive: true })
    writeFileSync(join(cwd, '.skein', 'privacy.yaml'), 'tool_privacy: { Bash: none }\n')
    writeLog(root, SESSION, 'hello there', { cwd })
    const { home } = await openTestHome(root, NOW)
    onTestFinished(() => home[Symbol.asyncDispose]())
    await home.history.ingest()
    rmSync(cwd, { recursive: true })
    expect(await home.privacy.apply()).toMatchObject({ outdated: 0 })
    // Also when nobody remembers what it said.
    rmSync(join(root, 'project-policies.json'))
    const { home: forgetful } = await openTestHome(root, NOW)
    onTestFinished(() => forgetful[Symbol.asyncDispose]())
    expect(await forgetful.privacy.apply()).toMatchObject({ outdated: 1, read_again: 0, filtered_again: 1 })
    expect([await found(forgetful, 'hello'), await found(forgetful, 'walrus')]).toEqual([1, 0])
  })

  it('a project that is gone still hides what it hid: in what is read later, and in what is exported', async () => {
    const root = scratch()
    const project = join(root, 'project')
    mkdirSync(join(project, '.skein'), { recursive: true })
    writeFileSync(join(project, '.skein', 'privacy.yaml'), 'tool_privacy: { Bash: none }\n')
    writeFileSync(join(root, 'privacy.yaml'), EVERYTHING)
    writeLog(root, SESSION, 'hello there', { cwd: project })
    const { home, clock } = await openTestHome(root, { ...NOW })
    onTestFinished(() => home[Symbol.asyncDispose]())
    await home.history.ingest()
    const before = await home.privacy.policyAt(project)
    expect(before.projects).toHaveLength(1)
    rmSync(project, { recursive: true })
    clock.ms += 60_000
    expect(await home.privacy.policyAt(project)).toEqual(before)
    // As if it had been rewritten: all of it is read again.
    writeLog(root, SESSION, 'good morning there', { cwd: project })
    expect(await home.history.ingest()).toMatchObject({ read: 1, outdated_logs: 0 })
    expect([await found(home, 'morning'), await found(home, 'walrus')]).toEqual([1, 0])
    // Where only its policy was taken away, that is what somebody wanted.
    mkdirSync(project)
    expect((await home.privacy.policyAt(project)).projects).toEqual([])
  })

  it('filters what the archive has of a log that was cut', async () => {
    const { root, log, home } = await ingestedLog()
    writeFileSync(log, '')
    await home.history.ingest()
    expect([await found(home, 'hello'), await found(home, 'walrus')]).toEqual([1, 1])
    writeFileSync(join(root, 'privacy.yaml'), NOTHING)
    expect(await home.privacy.apply()).toMatchObject({ outdated: 1, read_again: 0, filtered_again: 1 })
    expect([await found(home, 'hello'), await found(home, 'walrus')]).toEqual([1, 0])
    expect(await home.privacy.stored()).toMatchObject({ outdated: 0 })
    expect(JSON.stringify((await home.history.turns(SESSION)).turns)).not.toContain('walrus')
    expect(await home.archive.verify()).toMatchObject({ ok: true, problems: [] })
  })

  it('filters what a log said before it was rewritten', async () => {
    const { root, cwd, log, home } = await ingestedLog()
    const message = { role: 'user', content: 'something else' }
    writeFileSync(log, `${JSON.stringify({ type: 'user', uuid: 'o', parentUuid: null, cwd, message })}\n`)
    await home.history.ingest()
    const older = async (): Promise<string> =>
      JSON.stringify((await home.archive.restore(SESSION, { version: 1 })).logs)
    expect(await older()).toContain('walrus')
    writeFileSync(join(root, 'privacy.yaml'), NOTHING)
    expect(await home.privacy.apply()).toMatchObject({ outdated: 1, read_again: 1 })
    expect(await older()).not.toContain('walrus')
    expect(await older()).toContain('hello there')
    expect(await home.history.ingest()).toMatchObject({ outdated_logs: 0 })
  })

  it('says of a home that cannot be written to that nothing was done', async () => {
    const root = scratch()
    const context = { clock: { now: () => 0 }, warn: () => {}, progress: () => {}, actor: 'tester', host: 'here' }
    const random = { bytes: randomBytes, uuid: randomUUID }
    const store = new ProfileStore(profilePaths(root, 'default'), { ...context, random }, { readOnly: true })
    const never = (): never => {
      throw new Error('not to be asked')
    }
    const memory = new PolicyMemory(join(root, 'project-policies.json'))
    const privacyFile = join(root, 'privacy.yaml')
    const setup = { logged: never, stores: never, audited: never, privacyFile, memory, zone: never }
    await expect(new StoredPrivacy(store, setup).apply()).rejects.toMatchObject({ code: 'home-read-only' })
  })

  it('refuses a policy that cannot be understood, and changes nothing', async () => {
    const root = scratch()
    writeLog(root, SESSION, 'hello there')
    const { home } = await openTestHome(root, NOW)
    onTestFinished(() => home[Symbol.asyncDispose]())
    await home.history.ingest()
    const before = texts(root)
    writeFileSync(join(root, 'privacy.yaml'), 'tool_privacy: { Bash: never }\n')
    await expect(home.privacy.apply()).rejects.toMatchObject({ code: 'bad-config' })
    expect(texts(root)).toEqual(before)
  })

  it('ends in the same text after kills in the middle, beside a running ingest', async () => {
    const root = withCorpus(52, { isHere: false })
    const { home } = await openTestHome(root, NOW)
    writeFileSync(join(root, 'privacy.yaml'), EVERYTHING)
    await home.history.ingest()
    writeFileSync(join(root, 'privacy.yaml'), NOTHING)
    const start = (verb: string): { child: ChildProcess; ended: Promise<unknown> } => {
      const child = spawn(process.execPath, [WORKER, root, verb], { stdio: ['ignore', 'pipe', 'inherit'] })
      return { child, ended: new Promise((resolve) => child.on('exit', resolve)) }
    }
    const random = seededRandom()
    for (let kill = 0; kill < 5; kill += 1) {
      const { child, ended } = start('apply')
      await new Promise((resolve) => child.stdout?.once('data', resolve))
      await someTime(random, 300)
      child.kill('SIGKILL')
      await ended
    }
    expect(await Promise.all([start('apply').ended, start('ingest').ended])).toEqual([0, 0])
    expect((await home.privacy.apply()).dry_run).toBe(false)
    expect(await home.privacy.stored()).toMatchObject({ outdated: 0 })
    const fresh = scratch()
    cpSync(join(root, '.claude'), join(fresh, '.claude'), { recursive: true })
    writeFileSync(join(fresh, 'privacy.yaml'), NOTHING)
    const { home: clean } = await openTestHome(fresh, NOW)
    await clean.history.ingest()
    expect(texts(root)).toEqual(texts(fresh))
    await home[Symbol.asyncDispose]()
    await clean[Symbol.asyncDispose]()
  })
})

/** A home that keeps everything of one log. */
async function ingestedLog(): Promise<{ root: string; cwd: string; log: string; home: Home }> {
  const root = scratch()
  const cwd = join(root, 'work')
  mkdirSync(cwd)
  writeFileSync(join(root, 'privacy.yaml'), EVERYTHING)
  const log = writeLog(root, SESSION, 'hello there', { cwd })
  const { home } = await openTestHome(root, NOW)
  onTestFinished(() => home[Symbol.asyncDispose]())
  await home.history.ingest()
  return { root, cwd, log, home }
}
