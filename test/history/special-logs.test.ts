import { createHash } from 'node:crypto'
import { copyFileSync, cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/disk/index.js'
import type { Home } from '../../src/home/index.js'
import { openTestHome, scratch } from '../home/scratch.js'
import { CLAUDE, FIXTURES } from './logs.js'

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
