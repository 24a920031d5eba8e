import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { foldSession } from '../../src/tools/index.js'
import { LogFile, prompts, scratchDirectory, toolNamed } from './log-file.js'

const codex = toolNamed('codex')
const A = '0199aaaa-0000-7000-8000-00000000000a'
const B = '0199aaaa-0000-7000-8000-00000000000b'
const name = (id: string): string => `sessions/2026/01/01/rollout-2026-01-01T00-00-00-${id}.jsonl`
let second = 0

function line(type: string, payload: Record<string, unknown>): object {
  second += 1
  return { timestamp: new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString(), type, payload }
}
const event = (type: string, fields: Record<string, unknown> = {}): object => line('event_msg', { type, ...fields })
const message = (role: string, text: string): object =>
  line('response_item', { type: 'message', role, content: [{ type: 'text', text }] })
const meta = (id: string, more: Record<string, unknown> = {}): object =>
  line('session_meta', { id, cwd: '/p', cli_version: '0.42.0', ...more })
const counted = (input: number, total: number): object => {
  const last = {
    input_tokens: input,
    cached_input_tokens: 10,
    output_tokens: 5,
    reasoning_output_tokens: 2,
    total_tokens: input + 5,
  }
  return event('token_count', { info: { last_token_usage: last, total_token_usage: { total_tokens: total } } })
}

describe('Codex rollouts', () => {
  it('old ones, with running totals only, count each call once however often a total is repeated', () => {
    const log = new LogFile(codex, name(A), [
      meta(A),
      line('turn_context', { model: 'gpt-5' }),
      event('user_message', { message: 'hello' }),
      message('user', 'hello'),
      message('assistant', 'hi'),
      counted(100, 105),
      counted(100, 105),
      counted(200, 310),
      event('token_count', { info: null }),
    ])
    const session = log.session()
    expect(prompts(session)).toEqual(['hello'])
    expect(session.turns[0]?.usage).toMatchObject([
      { model: 'gpt-5', input_tokens: 90, cache_read_tokens: 10, output_tokens: 5 },
      { input_tokens: 190, cache_read_tokens: 10, output_tokens: 5 },
    ])
  })

  it('those of the first years, without an envelope around each line', () => {
    const bare = (role: string, text: string) => ({ type: 'message', role, content: [{ type: 'input_text', text }] })
    const log = new LogFile(codex, name(A), [
      { id: A, timestamp: '2025-08-18T01:16:13.522Z', instructions: null, git: { branch: 'main' } },
      { record_type: 'state' },
      bare('user', '<environment_context>\n<cwd>/old/project</cwd>\n</environment_context>'),
      bare('user', 'hello'),
      { type: 'function_call', name: 'shell', arguments: '{"command":["ls"]}', call_id: 'c1' },
      {
        type: 'function_call_output',
        call_id: 'c1',
        output: '{"output":"x","metadata":{"exit_code":1,"duration_seconds":0.25}}',
      },
      bare('assistant', 'hi'),
    ])
    const session = log.session()
    expect(session.news).toMatchObject({
      id: A,
      cwd: '/old/project',
      branch: 'main',
      started_at: '2025-08-18T01:16:13.522Z',
    })
    expect(session.turns).toMatchObject([
      { prompt: 'hello', reply: 'hi', tool_calls: [{ name: 'shell', result: 'x', success: false, duration_ms: 250 }] },
    ])
    expect(session.counters).toMatchObject([{ unknown_types: {} }])
  })

  it('what is typed while a task runs belongs to its turn', () => {
    const log = new LogFile(codex, name(A), [
      meta(A),
      event('task_started', { turn_id: 't1' }),
      message('user', 'build it'),
      message('assistant', 'starting'),
      message('user', 'and test it'),
      message('assistant', 'both done'),
      event('task_complete', { turn_id: 't1', duration_ms: 5 }),
    ])
    expect(log.session().turns).toMatchObject([{ prompt: 'build it\nand test it', reply: 'both done', duration_ms: 5 }])
  })

  it('a web search is a tool call, and is counted with the call that asked for it', () => {
    const log = new LogFile(codex, name(A), [
      meta(A),
      message('user', 'look it up'),
      line('response_item', { type: 'web_search_call', id: 'ws1', action: { type: 'search', query: 'skein' } }),
      counted(100, 105),
    ])
    const turn = log.session().turns[0]
    expect(turn?.tool_calls).toMatchObject([{ name: 'web_search', arguments: { query: 'skein' } }])
    expect(turn?.usage).toMatchObject([{ web_search_requests: 1 }])
  })

  it('a fork of a fork has the history of both, and a circle of forks ends', () => {
    const first = new LogFile(codex, name(A), [meta(A), message('user', 'one'), message('assistant', '1')])
    const base = { thread_id: A, end_byte_offset: 1e9 }
    const fork = new LogFile(codex, name(B), [
      meta(B, { forked_from_id: A, history_base: base }),
      message('user', 'two'),
    ])
    const find = (id: string) => (id === A ? first.log : fork.log)
    const read = () => [...codex.read(fork.log, { find })]
    expect(read().filter((fact) => fact.kind === 'turn')).toMatchObject([
      { turn: 1, prompt: 'one', copied: true },
      { turn: 2, prompt: 'two', follows: 1 },
    ])
    const circle = new LogFile(codex, name(A), [meta(A, { history_base: { thread_id: A } }), message('user', 'one')])
    expect(circle.session()).toMatchObject({ turns: [{ prompt: 'one' }], counters: [{ missing_origins: 1 }] })
  })

  it('a fork that was put away still finds the history it grew from', () => {
    const root = scratchDirectory()
    const at = (path: string, ...lines: object[]): string => {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), lines.map((one) => `${JSON.stringify(one)}\n`).join(''))
      return join(root, path)
    }
    const base = { thread_id: A, end_byte_offset: 1e9 }
    at(name(A), meta(A), message('user', 'one'))
    const fork = at(
      `archived_sessions/${basename(name(B))}`,
      meta(B, { forked_from_id: A, history_base: base }),
      message('user', 'two'),
    )
    const [found] = codex.discover({ home: '/nowhere', env: { CODEX_HOME: root } }).filter((log) => log.session === B)
    expect(found?.path).toBe(fork)
    for (const log of [found, codex.logAt(fork)])
      expect(foldSession([log ? codex.read(log) : []]).turns.map((turn) => turn.prompt)).toEqual(['one', 'two'])
  })

  it('turns that were rolled back are not live, and the next one follows those before them', () => {
    const turns = [message('user', 'one'), message('user', 'two'), message('user', 'three')]
    const log = new LogFile(codex, name(A), [
      meta(A),
      ...turns,
      event('thread_rolled_back', { num_turns: 2 }),
      message('user', 'two again'),
    ])
    expect(log.session().turns.map(({ follows, live }) => [follows, live])).toEqual([
      [0, true],
      [1, false],
      [2, false],
      [1, true],
    ])
  })

  it('a sub-agent names the session that started it', () => {
    const source = { subagent: { thread_spawn: { parent_thread_id: A, depth: 1 } } }
    expect(new LogFile(codex, name(B), [meta(B, { source })]).session().news.spawner).toEqual({ session: A, agent: B })
  })
})
