import { expect, it } from 'vitest'
import { type Fact, foldSession, turnParts } from '../../src/tools/index.js'

const said = (message: string, text: string, part = message): Fact => ({ kind: 'said', turn: 1, message, part, text })
const called = (call: string): Fact => ({ kind: 'tool-call', turn: 1, call, name: call, arguments: {} })

it('keeps what an agent says between its calls, in its place, and its last words as the reply', () => {
  const facts: Fact[] = [
    { kind: 'turn', turn: 1, follows: 0, prompt: 'go', by: 'person' },
    said('a', 'I look first.'),
    called('Glob'),
    called('Grep'),
    said('b', 'Found it,', 'b1'),
    said('b', 'now I mend it.', 'b2'),
    called('Edit'),
    said('c', 'Done.'),
  ]
  const [turn] = foldSession([facts]).turns
  expect(turn?.reply).toBe('Done.')
  expect(turn && turnParts(turn).map((part) => (part.kind === 'call' ? part.call.name : part.text))).toEqual([
    'I look first.',
    'Glob',
    'Grep',
    'Found it,\nnow I mend it.',
    'Edit',
  ])
})

it('says of the last words that calls came after them', () => {
  const [turn] = foldSession([[said('a', 'I look.'), called('Glob'), said('b', 'Now this.'), called('Bash')]]).turns
  expect(turn).toMatchObject({ reply: 'Now this.', reply_after_calls: 1 })
})

it('a turn that says one thing has no remarks', () => {
  const [turn] = foldSession([[said('a', 'Done.')]]).turns
  expect(turn).toMatchObject({ reply: 'Done.' })
  expect(turn).not.toHaveProperty('remarks')
})
