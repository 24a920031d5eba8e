import { expect, it } from 'vitest'
import { turnRow } from '../../../src/cli/pick/pick-turn.js'
import type { LoggedTurn } from '../../../src/tools/index.js'

const NOW = Date.UTC(2026, 10, 17, 12)
const turn = (more: object): LoggedTurn =>
  ({
    number: 12,
    prompt: 'fix the login\nplease',
    tool_calls: [],
    live: true,
    outcome: 'completed',
    ...more,
  }) as unknown as LoggedTurn

it('a turn to choose has its age, what it changed and its files', () => {
  const changes = ['a/handler.ts', 'b/login.ts', 'c.ts', 'd.ts'].map((path) => ({
    path,
    how: 'changed',
    added: 1,
    removed: 0,
  }))
  const change = { changes, files: 4, added: 4, removed: 1, head_moved: false, is_partial: false } as never
  const { label, preview } = turnRow(turn({ started_at: '2026-11-17T11:58:00.000Z', reply: 'done' }), {
    ...{ nowMs: NOW, isKept: true, change },
  })
  expect(label).toBe('  12  fix the login  (2m ago, +4 -1 a/handler.ts, b/login.ts, c.ts and 1 more)')
  expect(preview).toEqual(['fix the login', 'please', '+1 -0 a/handler.ts', '+1 -0 b/login.ts', '', 'done'])
})

it('says what is wrong with it, and prints no control characters', () => {
  const odd = turn({ prompt: 'a\x1b[31mb', outcome: 'aborted', live: false, tool_calls: [{}] })
  const { label } = turnRow(odd, { nowMs: NOW, isKept: false })
  expect(label).not.toContain('\x1b')
  expect(label).toContain('(1 call, no snapshot, abandoned, aborted)')
})
