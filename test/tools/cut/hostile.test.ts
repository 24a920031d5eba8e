import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { instantOf, parseSessionId } from '../../../src/model/index.js'
import { cutLog, placeCut } from '../../../src/tools/index.js'
import { scratchDirectory, toolNamed } from '../log-file.js'

const SESSION = parseSessionId('c0ffee00-1111-4222-8333-444455556666')
const OLD = '0d15ea5e-1111-4222-8333-444455556666'
const at = '2026-11-16T11:00:00.000Z'

interface Form {
  path: string
  head: object[]
  /** The records of a turn; `more` goes into that of its prompt. */
  turn(n: number, more?: object): object[]
  /** The records as a log; lines by default. */
  written?: (records: readonly string[]) => string
}

const FORMS: Readonly<Record<string, Form>> = {
  claude: {
    path: `projects/-w/${OLD}.jsonl`,
    head: [],
    turn: (n, more) => {
      const common = { sessionId: OLD, timestamp: at, cwd: '/w', version: '2.1.325' }
      const content = [{ type: 'text', text: `reply ${n}` }]
      const reply = { id: `m${n}`, role: 'assistant', model: 'claude', content, stop_reason: 'end_turn' }
      const prompt = { role: 'user', content: `prompt ${n}` }
      const parentUuid = n === 1 ? null : `a${n - 1}`
      return [
        { type: 'user', uuid: `u${n}`, parentUuid, ...common, message: prompt, ...more },
        { type: 'assistant', uuid: `a${n}`, parentUuid: `u${n}`, ...common, message: reply },
      ]
    },
  },
  codex: {
    path: `rollout-2026-11-16T11-00-00-${OLD}.jsonl`,
    head: [{ timestamp: at, type: 'session_meta', payload: { id: OLD, timestamp: at, cwd: '/w' } }],
    turn: (n, more) => {
      const event = (payload: object) => ({ timestamp: at, type: 'event_msg', payload })
      const content = [{ type: 'input_text', text: `prompt ${n}` }]
      return [
        event({ type: 'task_started' }),
        { timestamp: at, type: 'response_item', payload: { type: 'message', role: 'user', content, ...more } },
        event({ type: 'user_message', message: `prompt ${n}` }),
        event({ type: 'agent_message', message: `reply ${n}` }),
        event({ type: 'task_complete', last_agent_message: `reply ${n}` }),
      ]
    },
  },
  gemini: {
    path: `chats/session-2026-11-16T11-00-${OLD.slice(0, 8)}.jsonl`,
    head: [{ sessionId: OLD, projectHash: 'x', startTime: at, lastUpdated: at, kind: 'main' }],
    turn: (n, more) => [
      { id: `u${n}`, timestamp: at, type: 'user', content: [{ text: `prompt ${n}` }], ...more },
      { id: `g${n}`, timestamp: at, type: 'gemini', content: `reply ${n}`, model: 'x' },
    ],
  },
  opencode: {
    path: 'export.json',
    head: [],
    turn: (n, more) => {
      const time = { created: Date.parse(at) + n * 10 }
      const sessionID = 'ses_1'
      const id = (kind: string, of: string): string => `${kind}_${String(n).padStart(12, '0')}${of}`
      const text = (of: string, messageID: string, words: string) => [
        { id: id('prt', of), sessionID, messageID, type: 'text', text: words },
      ]
      const reply = { role: 'assistant', parentID: id('msg', 'u'), modelID: 'm', providerID: 'p', finish: 'stop' }
      return [
        {
          info: { id: id('msg', 'u'), sessionID, role: 'user', time, timestamp: at, ...more },
          parts: text('u', id('msg', 'u'), `prompt ${n}`),
        },
        {
          info: { id: id('msg', 'v'), sessionID, time: { created: time.created + 1 }, ...reply },
          parts: text('v', id('msg', 'v'), `reply ${n}`),
        },
      ]
    },
    written: (records) => `{"info":{"id":"ses_1","title":"t"},"messages":[${records.join(',')}]}`,
  },
  pi: {
    path: `2026-11-16T11-00-00-000Z_${OLD}.jsonl`,
    head: [{ type: 'session', version: 3, id: OLD, timestamp: at, cwd: '/w' }],
    turn: (n, more) => {
      const said = (role: string, text: string) => ({ role, content: [{ type: 'text', text }], timestamp: 1 })
      const parentId = n === 1 ? null : `a${n - 1}`
      const reply = { ...said('assistant', `reply ${n}`), provider: 'x', model: 'y', stopReason: 'stop' }
      return [
        { type: 'message', id: `u${n}`, parentId, timestamp: at, message: said('user', `prompt ${n}`), ...more },
        { type: 'message', id: `a${n}`, parentId: `u${n}`, timestamp: at, message: reply },
      ]
    },
  },
}

/** What a cut of this log comes to, and what is left of it. */
async function cutOf(
  name: string,
  records: readonly object[],
  turn: number,
  edge: 'before' | 'after',
  change: (text: string) => string = String,
) {
  const { path: file, head, written = (all) => all.map((one) => `${one}\n`).join('') } = FORMS[name] as Form
  const tool = toolNamed(name)
  const path = join(scratchDirectory(), file)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, change(written([...head, ...records].map((record) => JSON.stringify(record)))))
  const home = scratchDirectory()
  const log = tool.logAt(path)
  if (!log) throw new Error(`${path} is no log`)
  const target = { session: SESSION, cwd: '/srv/tree', environment: { home, env: {} }, now: instantOf(Date.parse(at)) }
  try {
    const cut = await cutLog(tool, log, { turn, edge }, target)
    if (cut?.import) cut.files = cut.files.map((made) => ({ ...made, path: join(home, 'import.json') }))
    if (cut) placeCut(tool, log, { turn, edge }, cut)
    return { turns: cut?.turns }
  } catch (error) {
    const { code, message } = error as Error & { code?: string }
    const left = readdirSync(home, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    return { code, message, left: left.length }
  }
}

describe.each(Object.keys(FORMS))('a log of %s', (name) => {
  const { turn } = FORMS[name] as Form
  const turns = (count: number): object[] => Array.from({ length: count }, (_, n) => turn(n + 1)).flat()

  it('with a record that is nested too deeply is refused in one line, and nothing is left', async () => {
    const deep = (text: string): string => text.replace('"DEEP"', `${'['.repeat(100_000)}${']'.repeat(100_000)}`)
    const records = [...turn(1, { extra: 'DEEP' }), ...turn(2)]
    const found = await cutOf(name, records, 1, 'after', deep)
    expect(found).toMatchObject({ code: 'bad-input', message: expect.stringMatching(/nested too deeply/), left: 0 })
  })

  it('of twenty thousand turns is cut behind the last', { timeout: 120_000 }, async () => {
    expect(await cutOf(name, turns(20_000), 20_000, 'after')).toEqual({ turns: 20_000 })
  })

  it.each([
    ['itself', 'u1'],
    ['a later one', 'a2'],
  ])('whose first record says that it follows %s ends', async (_, parent) => {
    const records = [...turn(1, { parentUuid: parent, parentId: parent, parentID: parent }), ...turn(2)]
    for (const edge of ['before', 'after'] as const) {
      const found = await cutOf(name, records, 2, edge)
      expect(found.code === undefined || ['cut-differs', 'bad-input'].includes(found.code), JSON.stringify(found)).toBe(
        true,
      )
    }
  })

  it('with halves of characters, numbers without end and one id many times is cut, or refused with nothing left', async () => {
    const odd = (text: string): string =>
      text
        .replace('prompt 1', 'prompt \\ud800 \\udc00 \\u0000 1')
        .replace('"timestamp":', '"far":1e999,"long":123456789012345678901234567890,"timestamp":')
    expect(await cutOf(name, turns(2), 1, 'after', odd)).toEqual({ turns: 1 })
    const twice = await cutOf(name, [...turn(1), ...turn(1), ...turn(2)], 2, 'after')
    expect(twice.code === undefined || (twice.code === 'cut-differs' && twice.left === 0), JSON.stringify(twice)).toBe(
      true,
    )
  })
})

it('a line of Claude Code beside a prompt that says that it follows itself ends the way to it', async () => {
  const { turn } = FORMS.claude as Form
  const [prompt] = turn(2) as [object]
  const beside = { ...prompt, uuid: 'c', parentUuid: 'c', turnCompanion: true, isMeta: true }
  const records = [...turn(1), beside, ...turn(2, { parentUuid: 'c' })]
  expect(await cutOf('claude', records, 2, 'before')).toEqual({ turns: 1 })
})
