import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/disk/index.js'
import type { Home } from '../../src/home/index.js'
import { asTruth, makeCorpus, type Truth } from '../ingest/corpus.js'
import { openTestHome, scratch } from './scratch.js'

const WORKER = join(import.meta.dirname, '..', 'workers', 'ingest.mjs')
const FIXTURES = join(import.meta.dirname, '..', 'fixtures')
const CLAUDE = join(FIXTURES, 'claude', '2.1.325')

/** A home whose user has these logs of Claude Code. */
function withLogs(seed: number): { root: string; projects: string; truth: Truth } {
  const root = scratch()
  const corpus = makeCorpus(seed, { sessions: 40, mb: 3 })
  cpSync(join(corpus.root, 'projects'), join(root, '.claude', 'projects'), { recursive: true })
  return { root, projects: join(root, '.claude', 'projects'), truth: corpus.truth }
}

const logsUnder = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => join(directory, name))

async function byModel(home: Home): Promise<Truth['byModel']> {
  return asTruth(await home.history.cost({ by: 'model' }))
}

/** Everything the history says, in a form that does not depend on how it was read. */
async function told(home: Home): Promise<unknown> {
  const { sessions } = await home.sessions.query({ limit: 1_000 })
  sessions.sort((a, b) => (a.id < b.id ? -1 : 1))
  const counts = await Promise.all(
    sessions.map(async (session) => [
      session.id,
      await home.history.counts(session.id),
      session.title,
      session.started_at,
    ]),
  )
  return { counts, cost: await home.history.cost({ by: 'session' }) }
}

function ingestInProcess(
  root: string,
  rounds = 1,
): { child: ReturnType<typeof spawn>; ended: Promise<number | null>; started: Promise<void> } {
  const child = spawn(process.execPath, [WORKER, root, root, String(rounds)], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH },
  })
  return {
    child,
    ended: new Promise((resolve) => child.on('exit', (code) => resolve(code))),
    started: new Promise((resolve) => child.stdout?.once('data', () => resolve())),
  }
}

describe('ingesting', () => {
  it.each([11, 12, 13])(
    'counts every token of a tree of logs exactly once, with and without the index (seed %i)',
    async (seed) => {
      const { root, truth } = withLogs(seed)
      const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
      const report = await home.history.ingest()
      expect(report.unreadable).toEqual([])
      expect(await byModel(home)).toEqual(truth.byModel)
      expect(asTruth(await home.history.cost({ by: 'model', noIndex: true }))).toEqual(truth.byModel)
      expect((await home.sessions.query({ limit: 1_000 })).sessions).toHaveLength(report.sessions_found)
      expect(await home.history.ingest()).toMatchObject({ read: 0, sessions_found: 0 })
      expect((await home.index.check()).problems).toEqual([])
      await home[Symbol.asyncDispose]()
    },
  )

  it('says the same in whatever pieces and order the logs come', async () => {
    const { root, projects, truth } = withLogs(21)
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await home.history.ingest()
    const expected = await told(home)
    await home[Symbol.asyncDispose]()

    for (let order = 0; order < 10; order += 1) {
      const other = scratch()
      const { home: piecemeal } = await openTestHome(other, { ms: Date.UTC(2026, 10, 15) })
      const logs = logsUnder(projects).sort(() => Math.random() - 0.5)
      for (let at = 0; at < logs.length; ) {
        const some = logs.slice(at, at + 1 + Math.floor(Math.random() * 15))
        for (const log of some) {
          const target = join(other, '.claude', 'projects', log.slice(projects.length))
          mkdirSync(dirname(target), { recursive: true })
          const bytes = readFileSync(log)
          // First a part that ends anywhere, also inside a line and a character; then the rest.
          writeFileSync(target, bytes.subarray(0, Math.floor(Math.random() * bytes.length)))
        }
        await piecemeal.history.ingest()
        for (const log of some) {
          const target = join(other, '.claude', 'projects', log.slice(projects.length))
          appendFileSync(target, readFileSync(log).subarray(statSync(target).size))
        }
        if (Math.random() < 0.7) await piecemeal.history.ingest()
        at += some.length
      }
      await piecemeal.history.ingest()
      expect(await byModel(piecemeal)).toEqual(truth.byModel)
      expect(await told(piecemeal)).toEqual(expected)
      await piecemeal[Symbol.asyncDispose]()
    }
  })

  it('by two processes at once, and by many that are killed in the middle, ends in the same state', async () => {
    const { root, truth } = withLogs(31)
    for (let kill = 0; kill < 12; kill += 1) {
      const { child, started, ended } = ingestInProcess(root)
      await started
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 150))
      child.kill('SIGKILL')
      await ended
    }
    const both = [ingestInProcess(root, 2), ingestInProcess(root, 2)]
    expect(await Promise.all(both.map((one) => one.ended))).toEqual([0, 0])
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    expect(await home.history.ingest()).toMatchObject({ read: 0 })
    expect(await byModel(home)).toEqual(truth.byModel)
    const seen = await told(home)
    await home[Symbol.asyncDispose]()

    const fresh = scratch()
    cpSync(join(root, '.claude'), join(fresh, '.claude'), { recursive: true })
    const { home: clean } = await openTestHome(fresh, { ms: Date.UTC(2026, 10, 15) })
    await clean.history.ingest()
    expect(seen).toEqual(await told(clean))
    await clean[Symbol.asyncDispose]()
  })

  it('reads a log that was rewritten or cut anew, and counts nothing twice', async () => {
    const root = scratch()
    const log = join(root, '.claude', 'projects', '-srv', '22222222-2222-4222-8222-222222222222.jsonl')
    mkdirSync(dirname(log), { recursive: true })
    copyFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), log)
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await home.history.ingest()
    const whole = await home.history.counts('22222222-2222-4222-8222-222222222222')
    expect(whole).toMatchObject({ turns: 7, tool_calls: 8, unread_lines: 0 })
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
    writeFileSync(log, `${lines.slice(0, 30).join('\n')}\n`)
    await home.history.ingest()
    // What it lacks now is kept, until it says something else.
    expect(await home.history.counts('22222222-2222-4222-8222-222222222222')).toEqual(whole)
    const message = { role: 'user', content: 'something else entirely' }
    appendFileSync(log, `${JSON.stringify({ type: 'user', uuid: 'o1', parentUuid: null, message })}\n`)
    await home.history.ingest()
    const other = await home.history.counts('22222222-2222-4222-8222-222222222222')
    expect(other.turns).toBeLessThan(whole.turns)
    writeFileSync(log, `${lines.join('\n')}\n`)
    await home.history.ingest()
    expect(await home.history.counts('22222222-2222-4222-8222-222222222222')).toEqual(whole)
    await home[Symbol.asyncDispose]()
  })

  it('makes sessions of what it finds, adds to those it knows, and links what took the place of another', async () => {
    const root = scratch()
    const id = '77777777-7777-4777-8777-777777777777'
    const log = join(root, '.claude', 'projects', '-srv', `${id}.jsonl`)
    mkdirSync(dirname(log), { recursive: true })
    copyFileSync(join(CLAUDE, 'interactive-with-ai-title.jsonl'), log)
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await home.sessions.start({ id, agent: 'web/kim', work_unit: 'w-1' })
    expect(await home.history.ingest()).toMatchObject({ sessions_found: 0, read: 1 })
    const known = await home.sessions.get(id)
    expect(known).toMatchObject({
      agent: 'web/kim',
      work_unit: 'w-1',
      tool: 'claude',
      title: expect.stringMatching(/./),
      cwd: expect.stringMatching(/^\//),
    })
    expect(known?.outcome).toBeUndefined() // whoever started it says when it ends
    expect((await home.history.cost({ by: 'agent' })).rows.map((row) => row.key)).toEqual(['web/kim'])
    expect((await home.history.cost({ by: 'work' })).rows.map((row) => row.key)).toEqual(['w-1'])
    await home[Symbol.asyncDispose]()
  })

  it('follows what the log calls a session and where it goes on, but not over what a person said', async () => {
    const root = scratch()
    const project = join(root, '.claude', 'projects', '-srv')
    const [found, reported] = ['aaaaaaaa-0000-4000-8000-000000000001', 'bbbbbbbb-0000-4000-8000-000000000002']
    mkdirSync(project, { recursive: true })
    let line = 0
    const append = (id: string, gitBranch: string, aiTitle: string): void => {
      line += 1
      const [timestamp, message] = [`2026-01-01T00:00:0${line}.000Z`, { role: 'user', content: 'go' }]
      const prompt = {
        type: 'user',
        uuid: `${line}`,
        parentUuid: null,
        sessionId: id,
        cwd: '/srv',
        gitBranch,
        timestamp,
        message,
      }
      const title = { type: 'ai-title', aiTitle, sessionId: id }
      appendFileSync(join(project, `${id}.jsonl`), `${JSON.stringify(prompt)}\n${JSON.stringify(title)}\n`)
    }
    const { home } = await openTestHome(root)
    const read = async (branch: string, title: string) => {
      for (const id of [found, reported]) append(id, branch, title)
      await home.history.ingest()
      return [await home.sessions.get(found), await home.sessions.get(reported)]
    }
    await home.sessions.start({ id: reported, branch: 'mine' })
    expect(await read('main', 'First')).toMatchObject([
      { title: 'First', branch: 'main' },
      { title: 'First', branch: 'mine' },
    ])
    expect(await read('topic', 'Second')).toMatchObject([
      { title: 'Second', branch: 'topic' },
      { title: 'Second', branch: 'mine' },
    ])
    await home.sessions.update(found, { title: 'By hand' })
    expect(await read('topic', 'Third')).toMatchObject([{ title: 'By hand', log_title: 'Third' }, { title: 'Third' }])
    expect(await read('topic', 'Third')).toMatchObject([{ title: 'By hand' }, { title: 'Third' }])
    expect((await home.index.check()).problems).toEqual([])
    await home[Symbol.asyncDispose]()
  })

  it('shows turns from the log, from the archive when it is gone, and their counts when both are', async () => {
    const root = scratch()
    const id = '22222222-2222-4222-8222-222222222222'
    const log = join(root, '.claude', 'projects', '-srv', `${id}.jsonl`)
    mkdirSync(dirname(log), { recursive: true })
    copyFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), log)
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await home.history.ingest()
    const there = await home.history.turns(id)
    expect(there).toMatchObject({ from_log: true, told_from: 'log' })
    expect(there.turns).toHaveLength(7)
    expect(there.turns[0]?.prompt).not.toBe('')
    rmSync(log)
    const archived = await home.history.turns(id)
    expect(archived).toMatchObject({ from_log: false, told_from: 'archive', counters: there.counters })
    const said = (turns: typeof there.turns) => turns.map(({ prompt, reply, usage }) => ({ prompt, reply, usage }))
    expect(said(archived.turns)).toEqual(said(there.turns))
    rmSync(join(home.directory, 'archive'), { recursive: true })
    const counted = await home.history.turns(id)
    expect(counted).toMatchObject({ from_log: false, told_from: 'counts' })
    const shape = (turns: typeof there.turns) =>
      turns.map((turn) => [turn.number, turn.outcome, turn.tool_calls.map((call) => call.name)])
    expect(shape(counted.turns)).toEqual(shape(there.turns))
    expect(shape(archived.turns)).toEqual(shape(there.turns))
    await home[Symbol.asyncDispose]()
  })

  it('while watching, sees a line that is appended to a log, and a log that is new', async () => {
    const root = scratch()
    const project = join(root, '.claude', 'projects', '-srv')
    mkdirSync(project, { recursive: true })
    const lines = readFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), 'utf8').trimEnd().split('\n')
    const log = join(project, '22222222-2222-4222-8222-222222222222.jsonl')
    writeFileSync(log, `${lines.slice(0, 20).join('\n')}\n`)
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    const stop = new AbortController()
    const reports: { read: number; logs: number; bytes: number }[] = []
    const watching = home.history.watch({ signal: stop.signal, onReport: (report) => reports.push(report) })
    const until = async (done: () => boolean): Promise<void> => {
      for (let tries = 0; !done() && tries < 1_000; tries += 1) await new Promise((resolve) => setTimeout(resolve, 20))
      expect(done()).toBe(true)
    }
    await until(() => reports.length === 1)
    appendFileSync(log, `${lines[20]}\n`)
    await until(() => reports.length === 2)
    expect(reports[1]).toMatchObject({ logs: 1, read: 1, bytes: Buffer.byteLength(lines[20] ?? '') + 1 })
    copyFileSync(
      join(CLAUDE, 'interactive-with-ai-title.jsonl'),
      join(project, '77777777-7777-4777-8777-777777777777.jsonl'),
    )
    await until(() => reports.length >= 3)
    expect(await home.sessions.get('77777777-7777-4777-8777-777777777777')).toBeDefined()
    stop.abort()
    await watching
    await home[Symbol.asyncDispose]()
  })

  it('while watching one session, reads its log and no other', async () => {
    const root = scratch()
    const project = join(root, '.claude', 'projects', '-srv')
    mkdirSync(project, { recursive: true })
    const lines = readFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), 'utf8').trimEnd().split('\n')
    const [mine, other] = ['2', '7'].map((n) => '22222222-2222-4222-8222-222222222222'.replaceAll('2', n)) as [
      string,
      string,
    ]
    for (const id of [mine, other]) writeFileSync(join(project, `${id}.jsonl`), `${lines.slice(0, 20).join('\n')}\n`)
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    const stop = new AbortController()
    const reports: { read: number; logs: number }[] = []
    const watching = home.history.watch({
      session: mine,
      signal: stop.signal,
      onReport: (report) => reports.push(report),
    })
    const until = async (count: number): Promise<void> => {
      for (let tries = 0; reports.length < count && tries < 1_000; tries += 1)
        await new Promise((resolve) => setTimeout(resolve, 20))
      expect(reports).toHaveLength(count)
    }
    await until(1)
    appendFileSync(join(project, `${other}.jsonl`), `${lines[20]}\n`)
    appendFileSync(join(project, `${mine}.jsonl`), `${lines[20]}\n`)
    await until(2)
    expect(reports).toMatchObject([
      { logs: 1, read: 1 },
      { logs: 1, read: 1 },
    ])
    expect(await home.sessions.get(other)).toBeUndefined()
    stop.abort()
    await watching
    await home[Symbol.asyncDispose]()
  })

  it('while watching, goes on with a log that was replaced, and sees directories come and go', async () => {
    const root = scratch()
    const lines = readFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), 'utf8').trimEnd().split('\n')
    const project = join(root, '.claude', 'projects', '-srv')
    const log = join(project, '22222222-2222-4222-8222-222222222222.jsonl')
    const text = (from: number, to: number): string => `${lines.slice(from, to).join('\n')}\n`
    mkdirSync(project, { recursive: true })
    writeFileSync(log, text(0, 5))
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    const stop = new AbortController()
    const reports: { bytes: number; logs: number }[] = []
    const watching = home.history.watch({
      signal: stop.signal,
      onReport: (report) => reports.push(report),
      lookAgainMs: 600_000, // so that nothing but a watch can tell
    })
    const news = async (act: () => void): Promise<{ bytes: number } | undefined> => {
      const before = reports.length
      act()
      for (let tries = 0; reports.length === before && tries < 300; tries += 1)
        await new Promise((resolve) => setTimeout(resolve, 20))
      return reports[before]
    }
    await news(() => {})
    const replace = (): void => {
      writeFileSync(`${log}.tmp`, text(0, 10))
      renameSync(`${log}.tmp`, log)
    }
    expect(await news(replace)).toMatchObject({ logs: 1 })
    expect(await news(() => appendFileSync(log, text(10, 11)))).toMatchObject({
      bytes: Buffer.byteLength(text(10, 11)),
    })
    expect(await news(() => truncateSync(log, Buffer.byteLength(text(0, 10))))).toMatchObject({ logs: 1 })
    rmSync(project, { recursive: true })
    await new Promise((resolve) => setTimeout(resolve, 200))
    const again = (): void => {
      mkdirSync(project)
      writeFileSync(log, text(0, 11))
    }
    expect(await news(again)).toMatchObject({ logs: 1 })
    expect(await news(() => appendFileSync(log, text(11, 12)))).toMatchObject({
      bytes: Buffer.byteLength(text(11, 12)),
    })
    const subAgent = join(log.slice(0, -'.jsonl'.length), 'subagents', 'agent-abf9e9456692b8bab.jsonl')
    const spawn = (): void => {
      mkdirSync(dirname(subAgent), { recursive: true })
      writeFileSync(subAgent, text(12, 13))
    }
    expect(await news(spawn)).toMatchObject({ logs: 1 })
    expect(await news(() => appendFileSync(subAgent, text(13, 14)))).toMatchObject({ logs: 1 })
    stop.abort()
    await watching
    await home[Symbol.asyncDispose]()
  })

  it('while watching, reads nothing but logs, and each as a log of its own tool', async () => {
    const root = scratch()
    const [claude, shared] = [join(root, '.claude'), join(root, 'shared')]
    const codexLog = 'rollout-2026-11-15T09-58-46-01a1dea5-22e0-77f2-b9d7-977ec2c1c576.jsonl'
    const piLog = join(shared, 'sessions', 'p', '2026-11-15T10-00-00-000Z_aaaa.jsonl')
    const lines = readFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), 'utf8').trimEnd().split('\n')
    const log = join(claude, 'projects', '-srv', '22222222-2222-4222-8222-222222222222.jsonl')
    for (const path of [log, piLog]) mkdirSync(dirname(path), { recursive: true })
    writeFileSync(log, `${lines.slice(0, 20).join('\n')}\n`)
    copyFileSync(join(FIXTURES, 'codex', '0.166.0', codexLog), join(shared, 'sessions', codexLog))
    writeFileSync(
      piLog,
      '{"type":"session","version":3,"id":"aaaa","timestamp":"2026-11-15T10:00:00.000Z","cwd":"/srv"}\n',
    )
    writeFileSync(join(root, 'config.toml'), `[logs]\ncodex = ["${shared}"]\npi = ["${shared}"]\n`)
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    const stop = new AbortController()
    const reports: { logs: number; bytes: number }[] = []
    const watching = home.history.watch({ signal: stop.signal, onReport: (report) => reports.push(report) })
    const until = async (done: () => boolean): Promise<void> => {
      for (let tries = 0; !done() && tries < 500; tries += 1) await new Promise((resolve) => setTimeout(resolve, 20))
      expect(done()).toBe(true)
    }
    await until(() => reports.length === 1)
    writeFileSync(join(claude, '.credentials.json'), '{"token":"none of our business"}\n')
    writeFileSync(join(claude, 'history.jsonl'), `${lines[20]}\n`)
    await new Promise((resolve) => setTimeout(resolve, 200))
    appendFileSync(log, `${lines[20]}\n`)
    await until(() => reports.length === 2)
    expect(reports[1]).toMatchObject({ logs: 1, bytes: Buffer.byteLength(lines[20] ?? '') + 1 })
    const said = { role: 'user', content: [{ type: 'text', text: 'hello' }], timestamp: 1 }
    const prompt = { type: 'message', id: 'b', parentId: null, timestamp: '2026-11-15T10:00:01.000Z', message: said }
    appendFileSync(piLog, `${JSON.stringify(prompt)}\n`)
    await until(() => reports.length === 3)
    expect((await home.history.turns('aaaa')).turns).toMatchObject([{ prompt: 'hello' }])
    expect(await home.history.counts('aaaa')).toMatchObject({ turns: 1, unknown_records: 0 })
    stop.abort()
    await watching
    await home[Symbol.asyncDispose]()
  })

  it('steps know the turns they cover', async () => {
    const root = scratch()
    const id = '22222222-2222-4222-8222-222222222222'
    const log = join(root, '.claude', 'projects', '-srv', `${id}.jsonl`)
    mkdirSync(dirname(log), { recursive: true })
    copyFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), log)
    const { home, clock } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await home.sessions.start({ id })
    await home.history.ingest()
    const { turns } = await home.history.turns(id)
    clock.ms = Date.parse(turns[1]?.started_at ?? '')
    await home.sessions.step(id, { step_ref: 'middle', state: 'started' })
    clock.ms = Date.parse(turns[3]?.started_at ?? '')
    await home.sessions.step(id, { step_ref: 'middle', state: 'completed' })
    const [step] = (await home.history.turns(id)).steps
    expect(step).toMatchObject({ step_ref: 'middle', turns: expect.arrayContaining([2, 3, 4]) })
    expect(step?.turns).not.toContain(7)
    await home[Symbol.asyncDispose]()
  })
})

describe('counts that no call can have', () => {
  it.each([
    [{ input_tokens: 1e15, output_tokens: 5 }, 0, 5],
    [{ input_tokens: 7, output_tokens: 2 ** 53 }, 7, 0],
    [{ input_tokens: 1e300, output_tokens: 5 }, 0, 5],
    [{ input_tokens: 1.5, output_tokens: 5.9 }, 1, 5],
    [{ input_tokens: -1, output_tokens: '5' }, 0, 0],
    [['input_tokens'], undefined, undefined],
    ['input_tokens', undefined, undefined],
  ])('spoil no sum, and are read the same with and without the index: %j', async (usage, input, output) => {
    const root = scratch()
    const project = join(root, '.claude', 'projects', '-srv')
    const id = '11111111-1111-4111-8111-111111111111'
    mkdirSync(project, { recursive: true })
    const reply = (name: string, counts: unknown) => ({
      type: 'assistant',
      uuid: name,
      parentUuid: null,
      sessionId: id,
      timestamp: '2026-01-01T00:00:00.000Z',
      requestId: `req_${name}`,
      message: { id: name, role: 'assistant', model: 'claude-opus-4-8', content: [], usage: counts },
    })
    const lines = [...Array(9).keys()].map((at) => JSON.stringify(reply(`odd-${at}`, usage)))
    const sane = JSON.stringify(reply('sane', { input_tokens: 100, output_tokens: 10 }))
    writeFileSync(join(project, `${id}.jsonl`), `${[...lines, sane].join('\n')}\n`)
    const { home } = await openTestHome(root)
    const cold = await home.history.cost({ noIndex: true })
    await home.history.ingest()
    expect(await home.history.cost()).toEqual(cold)
    expect(cold.total).toMatchObject({
      calls: input === undefined ? 1 : 10,
      input_tokens: 100 + 9 * (input ?? 0),
      output_tokens: 10 + 9 * (output ?? 0),
    })
    await home[Symbol.asyncDispose]()
  })
})

describe('cost by chain', () => {
  it('takes a session for a chain of its own when nothing else is known of it', async () => {
    const root = scratch()
    const project = join(root, '.claude', 'projects', '-srv')
    const id = '11111111-1111-4111-8111-111111111111'
    mkdirSync(project, { recursive: true })
    copyFileSync(join(CLAUDE, 'print-1turn-tools.jsonl'), join(project, `${id}.jsonl`))
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    for (const noIndex of [true, false])
      expect((await home.history.cost({ by: 'chain', noIndex })).rows).toMatchObject([{ key: id, calls: 3 }])
    await home[Symbol.asyncDispose]()
  })
})

describe('a log that was moved', () => {
  /** As Codex does with those the user puts away, and users with directories. */
  async function moved(): Promise<Home> {
    const root = scratch()
    const [from, to] = ['-srv', '-opt'].map((name) => join(root, '.claude', 'projects', name)) as [string, string]
    mkdirSync(from, { recursive: true })
    copyFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), join(from, `${MOVED}.jsonl`))
    cpSync(join(CLAUDE, 'interactive-7turns-tools-subagent'), join(from, MOVED), { recursive: true })
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await home.history.ingest()
    renameSync(from, to)
    await home.history.ingest()
    return home
  }
  const MOVED = '22222222-2222-4222-8222-222222222222'

  it('is told from where it is now', async () => {
    await using home = await moved()
    const told = await home.history.turns(MOVED)
    expect(told).toMatchObject({ told_from: 'log', from_log: true })
    expect(told.turns).toHaveLength(7)
    expect(told.turns.flatMap((turn) => turn.tool_calls)).toHaveLength(8)
  })
})

describe('what a log does not say itself', () => {
  it('is taken from beside it: where Gemini ran, what OpenClaw calls a conversation', async () => {
    const root = scratch()
    const put = (path: string, ...lines: object[]): void => {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    }
    const hash = createHash('sha256').update('/srv/old').digest('hex')
    const prompt = { id: '1', timestamp: '2026-01-01T00:00:01.000Z', type: 'user', content: 'hello' }
    put('.gemini/projects.json', { projects: { '/srv/old': 'old' } })
    put(`.gemini/tmp/${hash}/chats/session-2026-01-01T00-00-aaaaaaaa.json`, {
      sessionId: 'aaaaaaaa-0000-4000-8000-000000000001',
      startTime: '2026-01-01T00:00:00.000Z',
      messages: [prompt],
    })
    put('.openclaw/agents/main/sessions/sessions.json', {
      'agent:main:main': { sessionId: 'claw', displayName: 'Home' },
    })
    const said = { role: 'user', content: 'hello' }
    put(
      '.openclaw/agents/main/sessions/claw.jsonl',
      { type: 'session', version: 3, id: 'claw', timestamp: '2026-01-01T00:00:00.000Z', cwd: '/srv' },
      { type: 'message', id: 'b', parentId: null, timestamp: '2026-01-01T00:00:01.000Z', message: said },
    )
    const { home } = await openTestHome(root)
    await home.history.ingest()
    expect(await home.sessions.get('aaaaaaaa-0000-4000-8000-000000000001')).toMatchObject({ cwd: '/srv/old' })
    expect(await home.sessions.get('claw')).toMatchObject({ title: 'Home', cwd: '/srv' })
    await home[Symbol.asyncDispose]()
  })

  it('usage of a plain document is in the totals with and without the index', async () => {
    const root = scratch()
    const project = join(root, '.claude', 'projects', 'x', '.claude', 'conversations')
    mkdirSync(project, { recursive: true })
    const messages = [{ role: 'user', content: 'hello', timestamp: '2026-01-01T00:00:00.000Z' }]
    const usage = { input_tokens: 5, output_tokens: 7 }
    writeFileSync(join(project, 'c.json'), JSON.stringify({ id: 'plain', messages, usage }))
    const { home, clock } = await openTestHome(root)
    await home.history.ingest()
    const counted = await home.history.cost()
    expect(counted.total).toMatchObject({ calls: 1, input_tokens: 5, output_tokens: 7, unpriced_calls: 1 })
    expect(await home.history.cost({ noIndex: true })).toEqual(counted)
    clock.ms += 60_000
    expect(await home.history.cost()).toEqual(counted)
    await home[Symbol.asyncDispose]()
  })
})

describe('a database of opencode that cannot be read', () => {
  it.each(['locked by another program', 'not a database that Skein supports'])(
    'is named, and keeps nothing else from being counted: %s',
    async (reason) => {
      const root = scratch()
      const data = join(root, '.local', 'share', 'opencode')
      const project = join(root, '.claude', 'projects', '-srv')
      const path = join(data, 'opencode.db')
      for (const directory of [data, project]) mkdirSync(directory, { recursive: true })
      copyFileSync(join(CLAUDE, 'print-1turn-tools.jsonl'), join(project, '11111111-1111-4111-8111-111111111111.jsonl'))
      copyFileSync(join(FIXTURES, 'opencode', '1.18.33', 'opencode.db'), path)
      if (reason.startsWith('not')) writeFileSync(path, 'no database at all')
      const other = openDatabase(path)
      if (reason.startsWith('locked')) other.exec('pragma journal_mode = delete; begin exclusive')
      const { home, warnings } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
      expect(await home.history.ingest()).toMatchObject({ sessions_found: 1, unreadable: [{ path, reason }] })
      expect((await home.history.cost({ noIndex: true })).total.calls).toBe(3)
      expect(warnings).toEqual([`Could not read ${path} (${reason}): the totals do not include it`])
      other.close()
      if (reason.startsWith('locked'))
        expect(await home.history.ingest()).toMatchObject({ sessions_found: 6, unreadable: [] })
      await home[Symbol.asyncDispose]()
    },
    30_000,
  )
})

describe('settings about logs', () => {
  const project = join('.claude', 'projects', '-srv')
  const log = join(project, '22222222-2222-4222-8222-222222222222.jsonl')

  it('name more directories, also below the home directory', async () => {
    const root = scratch()
    mkdirSync(join(root, 'more', 'projects', '-srv'), { recursive: true })
    copyFileSync(
      join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'),
      join(root, 'more', 'projects', '-srv', '22222222-2222-4222-8222-222222222222.jsonl'),
    )
    writeFileSync(join(root, 'config.toml'), '[logs]\nclaude = ["~/more"]\n')
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    expect(await home.history.ingest()).toMatchObject({ logs: 1, read: 1, sessions_found: 1 })
    expect((await home.history.cost({ noIndex: true })).total.calls).toBeGreaterThan(0)
    await home[Symbol.asyncDispose]()
  })

  it('about prices hold for lists and cards at once, and when they are taken back', async () => {
    const root = scratch()
    const id = '22222222-2222-4222-8222-222222222222'
    mkdirSync(join(root, project), { recursive: true })
    copyFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), join(root, log))
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await home.history.ingest()
    const spent = async (): Promise<number | undefined> => (await home.history.spent([id])).get(id)?.micro_usd
    const listed = await spent()
    writeFileSync(join(root, 'config.toml'), '[prices."claude*"]\ninput = 1000\noutput = 1000\n')
    const dear = await spent()
    expect(dear).toBeGreaterThan((listed ?? 0) * 10)
    expect((await home.history.cost()).total.micro_usd).toBe(dear)
    writeFileSync(join(root, 'config.toml'), '[prices."claude*"]\ninput = "much"\noutput = 1000\n')
    expect(await spent()).toBe(dear) // settings that cannot be read are told by the commands that need them
    rmSync(join(root, 'config.toml'))
    expect(await spent()).toBe(listed)
    await home[Symbol.asyncDispose]()
  })

  it.each([
    ['[logs]\nclaud = ["/srv"]', 'logs.claud'],
    ['[logs]\nclaude = ["more"]', 'logs.claude'],
    ['[logs]\nclaude = "/srv"', 'logs.claude'],
    ['[prices."gpt*"]\ninput = inf\noutput = 1', 'prices.gpt*.input'],
    ['[prices."gpt*"]\ninput = 1', 'prices.gpt*'],
  ])('that mean nothing are refused: %j', async (settings, named) => {
    const root = scratch()
    mkdirSync(join(root, project), { recursive: true })
    copyFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), join(root, log))
    writeFileSync(join(root, 'config.toml'), `${settings}\n`)
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await expect(home.history.cost({ noIndex: true })).rejects.toMatchObject({
      code: 'bad-config',
      message: expect.stringContaining(`${named} in `),
    })
    await home[Symbol.asyncDispose]()
  })
})
