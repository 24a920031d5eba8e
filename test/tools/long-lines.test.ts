import { closeSync, openSync, writeSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { LoggedSession } from '../../src/tools/index.js'
import { LogFile, toolNamed } from './log-file.js'

const MB = 1024 * 1024
const claude = toolNamed('claude')
const SESSION = '5a3c1c52-7a0e-4c55-9d0f-0c6f4f6f2a10'
const head = { sessionId: SESSION, timestamp: '2026-01-01T00:00:00.000Z', isSidechain: false }
const usage = { input_tokens: 11, output_tokens: 22, cache_read_input_tokens: 33, cache_creation_input_tokens: 44 }

/** Writes a line that is too long to be made in memory: what stands before the long part, the part, what stands after. */
function appendLong(path: string, before: string, unit: string, times: number, after: string): void {
  const file = openSync(path, 'a')
  const block = Buffer.from(unit.repeat(1024))
  writeSync(file, before)
  for (let done = 0; done < times; done += 1024) writeSync(file, block)
  writeSync(file, `${after}\n`)
  closeSync(file)
}

function measured(log: LogFile): { session: LoggedSession; grownMb: number } {
  const before = process.resourceUsage().maxRSS
  const session = log.session()
  return { session, grownMb: (process.resourceUsage().maxRSS - before) / 1024 }
}

describe('a line of fifty megabytes', () => {
  it('is read with its usage before or after the text, and never held', () => {
    const log = new LogFile(claude, `${SESSION}.jsonl`, [
      { ...head, type: 'user', uuid: 'u1', parentUuid: null, message: { role: 'user', content: 'write a lot' } },
    ])
    const assistant = (uuid: string, after: string): string =>
      JSON.stringify({ ...head, type: 'assistant', uuid, parentUuid: after }).slice(0, -1)
    const words = 'Lorem ipsum \\"quoted\\" \\ud83d\\ude80 é\\n'
    const times = Math.ceil((50 * MB) / Buffer.byteLength(words))
    const message = '"role":"assistant","model":"claude-opus-5-5","stop_reason":"end_turn"'
    appendLong(
      log.path,
      `${assistant('a1', 'u1')},"message":{"id":"msg_1",${message},"usage":${JSON.stringify(usage)},"content":[{"type":"text","text":"`,
      words,
      times,
      '"}]}}',
    )
    appendLong(
      log.path,
      `${assistant('a2', 'a1')},"message":{"id":"msg_2",${message},"content":[{"type":"text","text":"`,
      words,
      times,
      `"}],"usage":${JSON.stringify(usage)}}}`,
    )
    log.append({ ...head, type: 'user', uuid: 'u2', parentUuid: 'a2', message: { role: 'user', content: 'thanks' } })
    const { session, grownMb } = measured(log)
    expect(session.turns).toMatchObject([
      {
        prompt: 'write a lot',
        outcome: 'completed',
        usage: [
          { message_id: 'msg_1', output_tokens: 22 },
          { message_id: 'msg_2', output_tokens: 22 },
        ],
      },
      { prompt: 'thanks', follows: 1 },
    ])
    expect(session.turns[0]?.reply).toMatch(/^Lorem ipsum "quoted" 🚀 é\n/)
    expect(session.counters).toMatchObject([{ records: 4, long_lines: 2, bad_lines: 0 }])
    expect(grownMb).toBeLessThan(100)
  })

  it('of very many short texts is read too, with less of each', () => {
    const log = new LogFile(claude, `${SESSION}.jsonl`)
    const line = JSON.stringify({ ...head, type: 'user', uuid: 'u1', parentUuid: null }).slice(0, -1)
    const item = JSON.stringify('a line of a patch that goes on for quite a while '.repeat(8))
    appendLong(
      log.path,
      `${line},"message":{"role":"user","content":"patch it"},"lines":[""`,
      `,${item}`,
      Math.ceil((50 * MB) / (item.length + 1)),
      ']}',
    )
    const { session, grownMb } = measured(log)
    expect(session.turns).toMatchObject([{ prompt: 'patch it' }])
    expect(session.counters).toMatchObject([{ long_lines: 1, dropped_lines: 0 }])
    expect(grownMb).toBeLessThan(150)
  })

  it('of numbers without end keeps its usage, which stands after them', () => {
    const log = new LogFile(claude, `${SESSION}.jsonl`)
    const line = JSON.stringify({ ...head, type: 'assistant', uuid: 'a1', parentUuid: null }).slice(0, -1)
    const after = `]}}],"usage":${JSON.stringify(usage)}}}`
    const before = `${line},"message":{"id":"msg_1","model":"m","content":[{"type":"tool_use","id":"t1","name":"Plot","input":{"points":[0`
    appendLong(log.path, before, ',12345', 9_000_000, after)
    log.append({
      ...head,
      type: 'user',
      uuid: 'u1',
      parentUuid: null,
      message: { role: 'user', content: 'still here' },
    })
    const { session, grownMb } = measured(log)
    expect(session.before).toMatchObject({
      usage: [{ message_id: 'msg_1', output_tokens: 22 }],
      tool_calls: [{ name: 'Plot' }],
    })
    expect(session.turns).toMatchObject([{ prompt: 'still here' }])
    expect(session.counters).toMatchObject([{ long_lines: 1, dropped_lines: 0, records: 2 }])
    expect(grownMb).toBeLessThan(150)
  })
})
