import { expect, it } from 'vitest'
import { type Fact, foldSession } from '../../../src/tools/index.js'
import { conversationOf } from '../../../src/tools/write/conversation.js'
import { recordOf } from '../../../src/tools/write/dialect.js'
import { ANY_SESSION } from './written-log.js'

const asked = (turn: number, prompt: string, follows = turn - 1): Fact => ({
  kind: 'turn',
  turn,
  follows,
  prompt,
  by: 'person',
})
const spoken = (...facts: Fact[]) => conversationOf(foldSession([facts]), { tool: 'claude', session: ANY_SESSION })

it('lists what a conversation cannot carry: images, sub-agents, summaries, the ends of long results', () => {
  const said = spoken(
    asked(1, 'look\n[image]'),
    { kind: 'tool-call', turn: 1, call: 'c', name: 'Agent', arguments: {} },
    { kind: 'tool-result', turn: 1, call: 'c', result: 'x… (12 more)', agent_started: 'a1' },
    { kind: 'turn', agent: 'a1', turn: 1, follows: 0, prompt: 'sub', by: 'tool' },
    { kind: 'mark', turn: 1, mark: 'compacted' },
  )
  expect(said.left_out).toEqual([
    { what: 'images and files in prompts', count: 1 },
    { what: 'conversations of sub-agents', count: 1 },
    { what: 'summaries of compacted context', count: 1 },
    { what: 'results of tools, shortened', count: 1 },
  ])
  expect(said.turns).toHaveLength(1)
})

it('follows the live branch, and keeps the words before a call that was cut off in their place', () => {
  const head = { turn: 3, abandoned: [2] }
  const said = spoken(
    asked(1, 'one'),
    asked(2, 'taken back'),
    asked(3, 'three', 1),
    { kind: 'said', turn: 3, message: 'm', part: 'm', text: 'I begin.' },
    { kind: 'tool-call', turn: 3, call: 'c', name: 'Bash', arguments: { command: 'sleep 9' } },
    { kind: 'checkpoint', resume: { v: 0, offset: 0, place: null }, counters: {} as never, head },
  )
  expect(said.turns.map(({ number }) => number)).toEqual([1, 3])
  expect(said.turns[1]?.parts.map(({ kind }) => kind)).toEqual(['text', 'call'])
})

it('a call as text says that it is a record, and quotes every line', () => {
  const result = { text: 'a\nb', is_error: true, is_shortened: false }
  expect(recordOf({ kind: 'call', id: 'x', name: 'Read', input: { path: 'a' }, result })).toBe(
    'Record of an earlier tool call (Read), kept as text:\n> {"path":"a"}\nIt failed with:\n> a\n> b',
  )
})
