import { describe, expect, it } from 'vitest'
import { isCut } from '../../src/archive/index.js'
import { instantOf, parseSessionId } from '../../src/model/index.js'
import type { Fact } from '../../src/tools/index.js'

const SAID: readonly Fact[] = [
  { kind: 'session', id: parseSessionId('s1'), cwd: '/srv' },
  { kind: 'turn', turn: 1, prompt: 'one', by: 'person', follows: 0 },
  { kind: 'said', turn: 1, message: 'm1', part: 'm1/0', text: 'answer' },
  { kind: 'tool-call', turn: 1, call: 'c1', name: 'Bash', arguments: { command: 'ls' } },
  { kind: 'turn', turn: 2, prompt: 'two', by: 'person', follows: 1 },
]

describe('a log', () => {
  it('that says only the beginning of what it said, or nothing, was cut', () => {
    for (let length = 0; length < SAID.length; length += 1) expect(isCut(SAID, SAID.slice(0, length))).toBe(true)
    expect(isCut(SAID, SAID)).toBe(false)
  })

  it.each<[string, Fact]>([
    ['a prompt', { kind: 'turn', turn: 3, prompt: 'three', by: 'person', follows: 2 }],
    ['another prompt in the place of one', { kind: 'turn', turn: 2, prompt: 'other', by: 'person', follows: 1 }],
    ['a reply', { kind: 'said', turn: 1, message: 'm2', part: 'm2/0', text: 'more' }],
    ['a call', { kind: 'tool-call', turn: 1, call: 'c2', name: 'Bash', arguments: {} }],
    ['a result', { kind: 'tool-result', turn: 1, call: 'c1', result: 'a b' }],
    ['how a turn ended', { kind: 'mark', turn: 1, mark: 'completed' }],
    ['a title', { kind: 'session', title: 'A name' }],
    [
      'what a call of the model used',
      {
        kind: 'usage',
        turn: 1,
        usage: {
          ...{ message_id: 'm1', session: parseSessionId('s1'), model: 'x', ts: instantOf(0) },
          ...{ input_tokens: 1, output_tokens: 1, cache_read_tokens: 0, cache_write_5m_tokens: 0 },
          ...{ cache_write_1h_tokens: 0, web_search_requests: 0 },
        },
      },
    ],
  ])('that lacks something, but says %s, was not', (_, more) => {
    expect(isCut(SAID, [...SAID.slice(0, 4), more])).toBe(false)
  })
})
