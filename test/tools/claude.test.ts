import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Fact, foldSession } from '../../src/tools/index.js'
import { LogFile, prompts, resumeOf, toolNamed } from './log-file.js'

const SESSION = '5a3c1c52-7a0e-4c55-9d0f-0c6f4f6f2a10'
const claude = toolNamed('claude')
const X = 0x78
let count = 0

interface Line {
  uuid: string
  parentUuid: string | null
  [field: string]: unknown
}

function entry(type: string, after: Line | null, fields: Record<string, unknown>): Line {
  count += 1
  const timestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, count)).toISOString()
  return {
    type,
    uuid: `u${count}`,
    parentUuid: after?.uuid ?? null,
    sessionId: SESSION,
    timestamp,
    cwd: '/p',
    ...fields,
  }
}
const says = (after: Line | null, content: unknown, more: Record<string, unknown> = {}): Line =>
  entry('user', after, { message: { role: 'user', content }, ...more })
const replies = (after: Line, content: unknown[], more: Record<string, unknown> = {}): Line => {
  const usage = { input_tokens: 1, output_tokens: 10, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
  const message = {
    id: `msg_${count}`,
    role: 'assistant',
    model: 'claude-opus-5-5',
    content,
    stop_reason: 'end_turn',
    usage,
    ...more,
  }
  return entry('assistant', after, { message })
}
const text = (words: string) => ({ type: 'text', text: words })
const file = (...lines: object[]) => new LogFile(claude, `${SESSION}.jsonl`, lines)

describe('Claude sessions', () => {
  it('a turn whose program was ended, and that was taken up again, is not completed', () => {
    const filler = (after: Line) => replies(after, [text('No response requested.')], { model: '<synthetic>' })
    const first = says(null, 'run it', { promptSource: 'typed' })
    const call = replies(first, [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'sleep 9' } }])
    const cut = '[Tool call interrupted: the session ended before the result came]'
    const result = says(call, [{ type: 'tool_result', tool_use_id: 't1', is_error: true, content: cut }])
    const resumed = filler(result)
    const second = says(resumed, 'think', { promptSource: 'typed' })
    const again = filler(second)
    const third = says(again, 'hello', { promptSource: 'typed' })
    const lines = [first, call, result, resumed, second, again, third, replies(third, [text('Hello.')])]
    const { turns } = file(...lines).session()
    expect(turns.map(({ prompt, outcome }) => [prompt, outcome])).toEqual([
      ['run it', 'aborted'],
      ['think', 'open'],
      ['hello', 'completed'],
    ])
    expect(turns.map(({ reply }) => reply)).toEqual([undefined, undefined, 'Hello.'])
  })

  it('a fork made by the SDK names the session and the turn it came from', () => {
    const forkedFrom = { sessionId: '0e0e0e0e-0000-4000-8000-000000000001', messageUuid: 'x' }
    const first = says(null, 'one', { forkedFrom })
    const reply = { ...replies(first, [text('1')]), forkedFrom }
    const session = file(first, reply, says(reply, 'two')).session()
    expect(session.news.origin).toEqual({ session: forkedFrom.sessionId, turn: 1 })
    expect(session.turns.map((turn) => turn.copied)).toEqual([true, false])
  })

  it('a command that the model answers is a turn, one that the program answers itself is not', () => {
    const local = says(null, '<command-name>/status</command-name>')
    const output = says(local, '<local-command-stdout>fine</local-command-stdout>')
    const asked = says(
      output,
      '<command-message>review</command-message>\n<command-name>/review</command-name>\n<command-args>it all</command-args>',
    )
    const expanded = says(asked, [text('Please review everything.')], { isMeta: true })
    const session = file(local, output, asked, expanded, replies(expanded, [text('looks good')])).session()
    expect(prompts(session)).toEqual(['/review it all'])
    expect(session.turns[0]?.reply).toBe('looks good')
  })

  it('what the editor and the program put beside a prompt is not part of it', () => {
    const noise = [text('<system-reminder>Be brief.</system-reminder>'), text('<ide_selection>x</ide_selection>')]
    const picture = { type: 'image', source: { type: 'base64', data: 'AAAA' } }
    expect(prompts(file(says(null, [...noise, text('look at this'), picture])).session())).toEqual([
      'look at this\n[image]',
    ])
  })

  it('Gas Town defect 10: a message whose content is plain text, and a result that is a list of blocks, are read and not dropped', () => {
    const plain = says(null, 'a plain text')
    const call = replies(plain, [{ type: 'tool_use', id: 't1', name: 'Read', input: { file_path: 'a' } }])
    const blocks = [text('first block'), text('second block')]
    const result = says(call, [{ type: 'tool_result', tool_use_id: 't1', content: blocks }])
    const read = replies(result, [text('Read.')])
    const next = says(read, [text('a list of blocks')])
    const second = replies(next, [{ type: 'tool_use', id: 't2', name: 'Bash', input: { command: 'ls' } }])
    const bare = says(second, [{ type: 'tool_result', tool_use_id: 't2', content: 'a bare result' }])
    const lines = [plain, call, result, read, next, second, bare, replies(bare, [text('Done.')])]
    const { turns } = file(...lines).session()
    expect(turns.map(({ prompt, reply }) => [prompt, reply])).toEqual([
      ['a plain text', 'Read.'],
      ['a list of blocks', 'Done.'],
    ])
    const results = turns.flatMap(({ tool_calls }) => tool_calls.map(({ result: told }) => told))
    expect(results).toEqual([expect.stringMatching(/first block[\s\S]*second block/), 'a bare result'])
  })

  it('a session that begins with /clear says so', () => {
    const clear = says(null, '<command-name>/clear</command-name>')
    expect(file(clear, says(clear, 'hello')).session().news.begun_by).toBe('clear')
  })

  it('the session that replaced another by /clear is found in what was typed', () => {
    const typed = (minute: number, sessionId: string, display: string, project = '/p') => ({
      display,
      project,
      sessionId,
      timestamp: 1.7e12 + minute * 60_000,
    })
    const history = new LogFile(claude, 'history.jsonl', [
      typed(0, 'a', 'hello'),
      typed(0, 'other', 'elsewhere', '/q'),
      typed(1, 'b', 'another window'),
      typed(2, 'a', '/clear'),
      typed(3, 'b', 'still there'),
      typed(4, 'c', 'a fresh start'),
      typed(5, 'b', '/clear'),
      typed(5 + 24 * 60, 'd', 'the day after'),
    ])
    const found = claude.successions?.({ home: '/nowhere', env: { CLAUDE_CONFIG_DIR: dirname(history.path) } })
    expect(found).toMatchObject([{ predecessor: 'a', successor: 'c', link: 'clear' }])
  })

  it('a tool call that the user stopped ends the turn as aborted', () => {
    const asked = says(null, 'go')
    const call = replies(asked, [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'sleep 9' } }], {
      stop_reason: 'tool_use',
    })
    const stopped = says(call, [{ type: 'tool_result', tool_use_id: 't1', content: 'stopped', is_error: true }])
    const session = file(
      asked,
      call,
      stopped,
      says(stopped, [text('[Request interrupted by user for tool use]')]),
    ).session()
    expect(session.turns).toMatchObject([{ outcome: 'aborted', tool_calls: [{ name: 'Bash', success: false }] }])
  })

  it('a turn that goes on after it seemed complete is open until it ends again', () => {
    const asked = says(null, 'go')
    const done = replies(asked, [text('done')])
    const more = replies(done, [{ type: 'tool_use', id: 't1', name: 'Bash', input: {} }], { stop_reason: 'tool_use' })
    expect(file(asked, done, more).session().turns).toMatchObject([{ outcome: 'open' }])
  })

  it('sub-agents of 1.0.x, whose lines stand between the others, hang under the call that started them', () => {
    const asked = says(null, 'delegate')
    const call = replies(asked, [{ type: 'tool_use', id: 't1', name: 'Task', input: { prompt: 'count' } }], {
      stop_reason: 'tool_use',
    })
    const sub = says(null, 'count', { isSidechain: true })
    const answer = { ...replies(sub, [text('three')]), isSidechain: true }
    const result = says(call, [{ type: 'tool_result', tool_use_id: 't1', content: 'three' }])
    const session = file(asked, call, sub, answer, result, replies(result, [text('There are three.')])).session()
    expect(prompts(session)).toEqual(['delegate'])
    expect(session.turns[0]?.tool_calls[0]?.sub_agent).toMatchObject([{ prompt: 'count', reply: 'three' }])
  })

  it('counts a reply once, with the largest usage that was written for it', () => {
    const asked = says(null, 'go')
    const usage = (output_tokens: number) => ({
      id: 'msg_same',
      usage: {
        input_tokens: 3,
        output_tokens,
        cache_creation_input_tokens: 100,
        cache_creation: { ephemeral_1h_input_tokens: 70, ephemeral_5m_input_tokens: 30 },
      },
    })
    const first = replies(asked, [text('a')], usage(1))
    const second = replies(first, [text('b')], usage(42))
    const turn = file(asked, first, second, replies(second, [text('c')], usage(42))).session().turns[0]
    expect(turn?.usage).toMatchObject([
      { message_id: 'msg_same', output_tokens: 42, cache_write_1h_tokens: 70, cache_write_5m_tokens: 30 },
    ])
    expect(turn?.reply).toBe('a\nb\nc')
  })

  it('the branch that was left is told from the one that goes on', () => {
    const asked = says(null, 'one')
    const reply = replies(asked, [text('1')])
    const left = says(reply, 'two, the wrong way')
    const goesOn = says(reply, 'two, the right way')
    const pointer = { type: 'last-prompt', leafUuid: reply.uuid, sessionId: SESSION }
    const live = (lines: object[]) =>
      file(...lines)
        .session()
        .turns.map((turn) => turn.live)
    expect(live([asked, reply, left, replies(left, [text('no')]), goesOn])).toEqual([true, false, true])
    expect(live([asked, reply, left, goesOn, { ...pointer, leafUuid: left.uuid }])).toEqual([true, true, false])
    expect(live([asked, reply, left, goesOn, { ...pointer, leafUuid: 'gone' }])).toEqual([true, false, true])
  })

  it('reads the log again when a line goes back to before what the checkpoint holds', () => {
    const first = says(null, 'one')
    const early = replies(first, [text('1')])
    const lines: Line[] = [first, early]
    for (let last = early; lines.length < 900; last = lines.at(-1) ?? last) lines.push(replies(last, [text('more')]))
    const log = file(...lines)
    const facts = log.facts()
    log.append(says(early, 'back to the start'))
    const grown = log.facts(resumeOf(facts))
    expect(grown[0]).toMatchObject({ kind: 'restart' })
    expect(foldSession([grown])).toEqual(log.session())
    expect(log.session().turns).toMatchObject([{ number: 1 }, { number: 2, follows: 1 }])
  })

  it('counts what it does not know or cannot read, and goes on', () => {
    const asked = says(null, 'go')
    const log = file(
      asked,
      { type: 'hologram', sessionId: SESSION },
      { type: 'hologram' },
      entry('system', asked, { subtype: 'dream' }),
    )
    log.appendRaw('\0\0\0\0\n\n{"type":"user","mess\n')
    log.appendRaw(
      `{"type":"assistant","uuid":"torn","message":{"id":"msg_torn${JSON.stringify(replies(asked, [text('whole')]))}\n`,
    )
    log.appendRaw('{"type":"ai-title","aiTitle":"half of \\ud83d and \\\\ud83d and \\ud83d\\ude80"}\n{"type":"user"')
    const { counters, turns, news } = log.session()
    expect(counters).toMatchObject([
      {
        unknown_types: { hologram: 2, 'system/dream': 1 },
        nul_runs: 1,
        blank_lines: 1,
        bad_lines: 2,
        salvaged_lines: 1,
        lone_surrogates: 1,
        truncated_last_line: true,
      },
    ])
    expect(turns).toMatchObject([{ prompt: 'go', reply: 'whole' }])
    expect(news.title).toContain('half of')
  })

  it('says and counts the same when it grew, wherever the pieces end', () => {
    const asked = says(null, 'go')
    const long = 'x'.repeat(5_000)
    const result = entry('user', asked, {
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: long }] },
      toolUseResult: { file: { path: '/a', lines: [{ n: 1 }, { n: 2 }] }, stdout: 'done' },
    })
    const snapshot = { type: 'file-history-snapshot', snapshot: { files: { a: { v: 1 }, b: { v: 2 } } }, done: {} }
    const whole = file(asked, snapshot, result)
    whole.appendRaw(`${JSON.stringify(asked)}${JSON.stringify(replies(asked, [text('glued')]))}\n`)
    whole.appendRaw('  \n{"half\n\u00e4\u00f6\0\0{}\n')
    const bytes = readFileSync(whole.path)
    const counted = (facts: Fact[]) => facts.findLast((fact) => fact.kind === 'checkpoint')?.counters
    const expected = counted(whole.facts())
    const grown = file()
    for (let cut = 0; cut <= bytes.length; cut += bytes[cut] === X && bytes[cut + 60] === X ? 50 : 1) {
      writeFileSync(grown.path, bytes.subarray(0, cut))
      const first = grown.facts()
      appendFileSync(grown.path, bytes.subarray(cut))
      const rest = grown.facts(resumeOf(first))
      expect(counted(rest), `cut at ${cut}`).toEqual(expected)
      expect(foldSession([[...first, ...rest]]).turns, `cut at ${cut}`).toEqual(whole.session().turns)
    }
  })

  it('a line that was torn when it was read is read once it is whole', () => {
    const asked = says(null, 'go')
    const log = file(asked)
    const line = `${JSON.stringify(replies(asked, [text('done')]))}\n`
    log.appendRaw(line.slice(0, 60))
    const facts = log.facts()
    expect(facts.at(-1)).toMatchObject({ counters: { truncated_last_line: true, bad_lines: 0 } })
    log.appendRaw(line.slice(60))
    const rest = log.facts(resumeOf(facts))
    expect(rest.at(-1)).toMatchObject({ counters: { truncated_last_line: false, bad_lines: 0, records: 2 } })
    expect(foldSession([[...facts, ...rest]]).turns).toMatchObject([{ reply: 'done', outcome: 'completed' }])
  })
})
