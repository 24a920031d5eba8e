import { describe, expect, it } from 'vitest'
import { instantOf, parseSessionId } from '../../src/model/index.js'
import { LogFile, prompts, toolNamed } from './log-file.js'

const gemini = toolNamed('gemini')
const user = (id: string, text: string) => ({
  id,
  timestamp: '2026-01-01T00:00:00.000Z',
  type: 'user',
  content: [{ text }],
})
const reply = (id: string, content: string, more: object = {}) => ({
  id,
  timestamp: '2026-01-01T00:00:01.000Z',
  type: 'gemini',
  content,
  ...more,
})
const ID = parseSessionId('c0ffee00-1111-4222-8333-444455556666')
const NOW = instantOf(Date.parse('2026-11-16T12:00:00.000Z'))
/** The messages that Gemini CLI has when it has read a log. */
function sentFrom(
  records: readonly { id?: string; type?: string; $set?: { messages?: { id: string }[] } }[],
): string[] {
  let sent: string[] = []
  for (const { id, $set } of records) {
    if ($set?.messages) sent = $set.messages.map((message) => message.id)
    else if (id !== undefined && !sent.includes(id)) sent.push(id)
  }
  return sent
}
const file = (...lines: object[]) => new LogFile(gemini, 'tmp/p/chats/session-2026-01-01T00-00-12345678.jsonl', lines)

describe('Gemini sessions', () => {
  it('a message that is written again replaces the one before', () => {
    const tokens = { input: 10, output: 2, cached: 0, thoughts: 0, tool: 0, total: 12 }
    const session = file(
      user('u1', 'go'),
      reply('g1', 'half'),
      reply('g1', 'whole', { tokens }),
      reply('g1', 'whole', { tokens }),
    ).session()
    expect(session.turns).toMatchObject([{ reply: 'whole', usage: [{ input_tokens: 10, output_tokens: 2 }] }])
  })

  it('history that came with the log is told as turns, a list that repeats it is not', () => {
    const history = { $set: { messages: [user('u1', 'one'), reply('g1', '1')] } }
    expect(prompts(file(history, user('u2', 'two'), history).session())).toEqual(['one', 'two'])
  })

  it('a compressed context is a mark in the turn it happened in, and takes no turn away', () => {
    const summary = { $set: { messages: [user('s1', 'A summary of it all'), reply('s2', 'Got it.')] } }
    const session = file(user('u1', 'one'), reply('g1', '1'), summary, user('u2', 'two')).session()
    expect(session.turns).toMatchObject([
      { prompt: 'one', compacted: 1 },
      { prompt: 'two', compacted: 0 },
    ])
  })

  it('a list that has the summary again, such as after a cancelled turn, is no second compression', () => {
    const messages = [user('s1', 'A summary of it all'), reply('s2', 'Got it.')]
    const lines = [
      user('u1', 'one'),
      reply('g1', '1'),
      { $set: { messages } },
      user('u2', 'two'),
      { $set: { messages } },
    ]
    expect(
      file(...lines, user('u3', 'three'))
        .session()
        .turns.map(({ compacted }) => compacted),
    ).toEqual([1, 0, 0])
  })

  it('a copy sends what the program itself would send: without a turn that it has taken out', async () => {
    const kept = [user('u1', 'one'), reply('g1', '1')]
    const list = { $set: { messages: kept } }
    const log = file(...kept, user('u2', 'cancel me'), list, user('u3', 'three'), reply('g3', '3'), list)
    const target = { session: ID, cwd: '/srv/tree', environment: { home: '/home/dev', env: {} }, now: NOW }
    const cut = await gemini.cut?.(log.log, { turn: 3, edge: 'after' }, target)
    const lines = String(cut?.files[0]?.content).trim().split('\n')
    expect(sentFrom(lines.map((line) => JSON.parse(line)))).toEqual(['u1', 'g1', 'u3', 'g3'])
    expect(cut?.turns).toBe(3)
  })

  it('the lists that a resume writes take nothing out of a copy', async () => {
    const context = user('c0', '<session_context>\nThis is the Gemini CLI.')
    const kept = [user('u1', 'one'), reply('g1', '1')]
    const header = { sessionId: ID, projectHash: 'p', startTime: NOW, kind: 'main' }
    const lists = [{ $set: { messages: [context] } }, { $set: { messages: [context, ...kept] } }]
    const log = file(header, context, ...kept, header, ...lists, user('u2', 'two'), reply('g2', '2'))
    const target = { session: ID, cwd: '/srv/tree', environment: { home: '/home/dev', env: {} }, now: NOW }
    const cut = await gemini.cut?.(log.log, { turn: 2, edge: 'after' }, target)
    const lines = String(cut?.files[0]?.content).trim().split('\n')
    expect(sentFrom(lines.map((line) => JSON.parse(line)))).toEqual(['c0', 'u1', 'g1', 'u2', 'g2'])
  })

  it('what a hook added is no prompt, alone, in front of one or behind it', () => {
    const context = '<hook_context>You are the agent web/toast.\n\nContinue.</hook_context>'
    const [before, behind] = [user('u1', `${context}\none`), user('u4', `three\n${context}`)]
    const log = file(before, reply('g1', '1'), user('u2', context), user('u3', 'two'), behind)
    expect(prompts(log.session())).toEqual(['one', 'two', 'three'])
  })

  it('a sub-agent lies in the folder of the session that started it', () => {
    const header = { sessionId: 'sub-1', kind: 'subagent', directories: ['/srv/p'] }
    const log = new LogFile(gemini, 'tmp/p/chats/main-session/sub-1.jsonl', [header, user('u1', 'count')])
    expect(log.session().news).toMatchObject({
      id: 'sub-1',
      cwd: '/srv/p',
      spawner: { session: 'main-session', agent: 'sub-1' },
    })
  })

  it('after a rewind the next turn follows the one before the message that was taken out', () => {
    const session = file(
      user('u1', 'one'),
      reply('g1', '1'),
      user('u2', 'two'),
      { $rewindTo: 'u2' },
      user('u3', 'other'),
    ).session()
    expect(session.turns.map(({ follows, live }) => [follows, live])).toEqual([
      [0, true],
      [1, false],
      [1, true],
    ])
  })
})
