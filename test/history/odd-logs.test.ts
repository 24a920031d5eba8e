import { copyFileSync, cpSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Home } from '../../src/home/index.js'
import { openTestHome, scratch } from '../home/scratch.js'

const FIXTURES = join(import.meta.dirname, '..', 'fixtures')
const CLAUDE = join(FIXTURES, 'claude', '2.1.325')
const ID = '22222222-2222-4222-8222-222222222222'

function put(root: string, path: string, ...lines: (object | string)[]): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  const texts = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line)))
  writeFileSync(join(root, path), texts.map((line) => `${line}\n`).join(''))
}

describe('a log that was moved (codex archives, a renamed project directory)', () => {
  async function moved(): Promise<Home> {
    const root = scratch()
    const [from, to] = ['-srv', '-opt'].map((name) => join(root, '.claude', 'projects', name)) as [string, string]
    mkdirSync(from, { recursive: true })
    copyFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), join(from, `${ID}.jsonl`))
    cpSync(join(CLAUDE, 'interactive-7turns-tools-subagent'), join(from, ID), { recursive: true })
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await home.history.ingest()
    renameSync(from, to)
    await home.history.ingest()
    return home
  }

  it('is counted once', async () => {
    await using home = await moved()
    expect(await home.history.counts(ID)).toMatchObject({ turns: 7, tool_calls: 9 })
  })

  it('is found once', async () => {
    await using home = await moved()
    expect((await home.history.search({ text: '"slow please"' })).hits).toHaveLength(1)
  })
})

describe('ingest of one session', () => {
  it('reads a log whose name does not tell the session (gemini)', async () => {
    const root = scratch()
    const id = 'aaaaaaaa-0000-4000-8000-000000000001'
    const prompt = { id: '1', timestamp: '2026-01-01T00:00:01.000Z', type: 'user', content: 'hello' }
    const header = { sessionId: id, startTime: '2026-01-01T00:00:00.000Z' }
    put(root, '.gemini/tmp/p/chats/session-2026-01-01T00-00-aaaaaaaa.jsonl', header, prompt)
    const { home } = await openTestHome(root)
    expect(await home.history.ingest({ session: id })).toMatchObject({ logs: 1, read: 1, sessions_found: 1 })
    await home[Symbol.asyncDispose]()
  })
})

describe('with and without the index', () => {
  const reply = (more: object, message: object = {}) => ({
    type: 'assistant',
    uuid: 'a',
    parentUuid: null,
    sessionId: ID,
    timestamp: '2026-01-01T00:00:00.000Z',
    requestId: 'req',
    message: {
      id: 'msg',
      role: 'assistant',
      model: 'claude-opus-4-8',
      content: [],
      usage: { input_tokens: 10, output_tokens: 5 },
      ...message,
    },
    ...more,
  })
  it.each([
    [
      'a reply inside a progress record',
      { type: 'progress', sessionId: ID, timestamp: '2026-01-01T00:00:00.000Z', data: { message: reply({}) } },
    ],
    ['a reply that is marked as an error of the API', reply({ isApiErrorMessage: true })],
    ['a reply without a readable time', reply({ timestamp: 'garbage' })],
    ['two replies on one line', `${JSON.stringify(reply({}))}${JSON.stringify(reply({ uuid: 'b' }, { id: 'msg2' }))}`],
    [
      'half a reply and two whole ones on one line',
      `${JSON.stringify(reply({})).slice(0, 90)}${JSON.stringify(reply({}))}${JSON.stringify(reply({ uuid: 'b' }, { id: 'msg2' }))}`,
    ],
  ])('%s costs the same', async (_, record) => {
    const root = scratch()
    put(
      root,
      `.claude/projects/-p/${ID}.jsonl`,
      reply({ timestamp: '2026-02-02T00:00:00.000Z', uuid: 'z' }, { id: 'other' }),
      record,
    )
    const { home } = await openTestHome(root)
    await home.history.ingest()
    const cost = await home.history.cost()
    expect(cost).toEqual(await home.history.cost({ noIndex: true }))
    expect(cost.total.calls).toBe(JSON.stringify(record).includes('msg2') ? 3 : 2)
    await home[Symbol.asyncDispose]()
  })
})
