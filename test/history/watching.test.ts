import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openTestHome, scratch } from '../home/scratch.js'
import { CLAUDE, FIXTURES } from './logs.js'

describe('watching logs', () => {
  it('sees a line that is appended to a log, and a log that is new', async () => {
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

  it('sees the first log of a tool, whose directory was not there', async () => {
    const root = scratch()
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    const stop = new AbortController()
    const reports: { logs: number }[] = []
    const watching = home.history.watch({
      signal: stop.signal,
      onReport: (report) => reports.push(report),
      lookAgainMs: 600_000, // as in the daemon: far longer than a user waits
    })
    const until = async (done: () => boolean): Promise<void> => {
      for (let tries = 0; !done() && tries < 1_000; tries += 1) await new Promise((resolve) => setTimeout(resolve, 20))
      expect(done()).toBe(true)
    }
    await until(() => reports.length === 1)
    const project = join(root, '.claude', 'projects', '-srv')
    mkdirSync(project, { recursive: true })
    copyFileSync(
      join(CLAUDE, 'interactive-with-ai-title.jsonl'),
      join(project, '77777777-7777-4777-8777-777777777777.jsonl'),
    )
    await until(() => reports.length === 2)
    expect(await home.sessions.get('77777777-7777-4777-8777-777777777777')).toBeDefined()
    stop.abort()
    await watching
    await home[Symbol.asyncDispose]()
  })

  it('sees the first log below the directory of an account that was described meanwhile, once', async () => {
    const root = scratch()
    const log = join(CLAUDE, 'interactive-with-ai-title.jsonl')
    const usual = join(root, '.claude', 'projects', '-srv')
    mkdirSync(usual, { recursive: true })
    copyFileSync(log, join(usual, '77777777-7777-4777-8777-777777777777.jsonl'))
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    const stop = new AbortController()
    const reports: { logs: number; read: number }[] = []
    const watching = home.history.watch({
      signal: stop.signal,
      onReport: (report) => reports.push(report),
      lookAgainMs: 600_000, // as in the daemon
    })
    const until = async (done: () => boolean): Promise<void> => {
      for (let tries = 0; !done() && tries < 1_000; tries += 1) await new Promise((resolve) => setTimeout(resolve, 20))
      expect(done()).toBe(true)
    }
    await until(() => reports.length === 1)
    // The logs of the second are those of the user: nothing new is to be found there, however often it is looked at.
    symlinkSync(join(root, '.claude'), join(root, 'linked'))
    const project = join(root, 'work', 'projects', '-srv')
    mkdirSync(project, { recursive: true })
    copyFileSync(log, join(project, '88888888-8888-4888-8888-888888888888.jsonl'))
    const accounts = ['linked', 'work'].map((name) => `[accounts.${name}]\nconfig_dir = "${join(root, name)}"\n`)
    writeFileSync(join(root, 'config.toml'), accounts.join(''))
    await until(() => reports.length === 2)
    expect(reports[1]).toMatchObject({ logs: 2, read: 1 })
    expect(await home.sessions.get('88888888-8888-4888-8888-888888888888')).toBeDefined()
    stop.abort()
    await watching
    await home[Symbol.asyncDispose]()
  })

  it('one session, reads its log and no other', async () => {
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

  it('goes on with a log that was replaced, and sees directories come and go', async () => {
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

  it('reads nothing but logs, and each as a log of its own tool', async () => {
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
})
