import { expect, it } from 'vitest'
import { type Event, RECORD_TYPES, summarize } from '../../src/model/index.js'

const ID = '0f3c9a12-aaaa-4bbb-8ccc-123456789abc'
const event = (type: string, payload: Record<string, unknown> = {}, more: Partial<Event> = {}): Event =>
  ({ type, payload, actor: 'ada', agent: 'web/shop', ...more }) as Event

it.each([
  ['session_start', { title: 'Fix the login' }, 'web/shop began 0f3c9a12-aaaa: Fix the login'],
  [
    'session_update',
    { title: 'Fix it', agent_id: 'x', branch: 'main' },
    '0f3c9a12-aaaa changed: title "Fix it", branch "main"',
  ],
  ['session_end', { outcome: 'crash', reason: 'exited 3' }, '0f3c9a12-aaaa ended crash: exited 3'],
  ['handoff', { child_id: ID, subject: 'Parser' }, '0f3c9a12-aaaa handed off to 0f3c9a12-aaaa: Parser'],
  ['handoff', { kind: 'fresh', subject: 'Parser' }, '0f3c9a12-aaaa handed off to a successor: Parser'],
  ['handoff', { kind: 'auto', subject: 'Handoff: full' }, '0f3c9a12-aaaa saved a handoff: Handoff: full'],
  ['handoff', { kind: 'cycle', subject: 'Handoff' }, '0f3c9a12-aaaa continues in a new process: Handoff'],
  ['done', { status: 'done', work: ['w-1'] }, 'web/shop finished its work'],
  ['done', { status: 'deferred', work: ['w-1'] }, 'web/shop deferred its work'],
  ['done', { status: 'blocked', work: ['w-1'] }, 'web/shop is blocked in its work'],
  ['agent_added', { agent: { tool: 'claude' } }, 'web/shop joined: claude'],
  ['agent_updated', { agent_id: 'x', tool: 'codex' }, 'web/shop changed: tool "codex"'],
  [
    'agent_started',
    { how: 'resume', recipe: { tool: 'claude' } },
    'web/shop was started in 0f3c9a12-aaaa, resumed: claude',
  ],
  [
    'agent_stopped',
    { how: 'stopped', reason: 'stopped: it exited gracefully' },
    'web/shop was stopped: it exited gracefully',
  ],
  ['spawn', { how: 'made', target: 'web/shop', tool: 'claude' }, 'web/shop was made: claude'],
  ['spawn', { how: 'resume', target: 'web/shop', tool: 'claude' }, 'web/shop was spawned: claude'],
  ['hook', { work_unit: 'w-1' }, 'w-1 is on the hook of web/shop'],
  ['unhook', { work_unit: 'w-1' }, 'w-1 is off the hook of web/shop'],
  ['sling', { work_unit: 'w-1', target: 'web/shop' }, 'w-1 was slung to web/shop'],
  ['kill', { target: 'web/shop', reason: 'asked for' }, 'web/shop was killed: asked for'],
  ['tool_called', { call: 't1', tool: 'Bash' }, 'web/shop called Bash'],
  ['agent_start_failed', { step: 'wait', reason: 'exited 3' }, 'web/shop did not start: step wait: exited 3'],
  ['agent_stopped', { how: 'crashed', reason: 'exited 3' }, 'web/shop crashed: exited 3'],
  [
    'agent_status',
    { status: 'waiting', previous: 'running', waiting_for: 'permission', reason: 'Bash: rm -rf build' },
    'web/shop: running → waiting (permission): Bash: rm -rf build',
  ],
  [
    'agent_status',
    { status: 'waiting', previous: 'running', waiting_for: 'finished', reason: 'finished' },
    'web/shop: running → waiting (finished)',
  ],
  ['agent_status', { status: 'idle', previous: 'idle' }, 'web/shop: idle'],
  ['nudge', { reason: 'no heartbeat for 5m' }, 'web/shop was nudged: no heartbeat for 5m'],
  ['budget_set', { budget: 'all, stop at $5.00' }, 'ada set a budget: all, stop at $5.00'],
  ['budget_used_up', { reason: 'too much' }, 'web/shop was stopped: too much'],
  ['agent_stuck', { reason: 'no heartbeat since noon' }, 'web/shop is stuck: no heartbeat since noon'],
  ['agent_sent', { bytes: 12, delivery: 'received' }, 'web/shop was sent 12 bytes: received'],
  ['agent_answered', { decision: 'allow' }, 'web/shop was answered: allow'],
  ['agent_acked', {}, 'web/shop was seen'],
  ['session_resurrected', { tool: 'codex', turns: 3 }, '0f3c9a12-aaaa can be resumed again: codex'],
  ['session_turn_marked', { turn: 2, note: 'good\nvery' }, 'turn 2 of 0f3c9a12-aaaa was noted: good'],
  ['session_turn_marked', { turn: 2, note: '' }, 'turn 2 of 0f3c9a12-aaaa has no note any more'],
  ['session_turn_marked', { turn: 2, pinned: true }, 'turn 2 of 0f3c9a12-aaaa was pinned'],
  ['turn_began', { turn: 3 }, 'web/shop began turn 3'],
  ['turn_prompted', { prompt: 'go\non' }, 'web/shop was given a prompt: go'],
  ['turn_ended', { how: 'finished' }, 'web/shop ended a turn: finished'],
  ['snapshots_warned', { reason: 'half is used' }, 'snapshots take much space: half is used'],
  ['group_updated', { path: 'web', expanded: false }, 'group web changed: expanded false'],
  ['build.failed', { reason: 'no disk' }, 'web/shop build.failed: no disk'],
])('%s says what changed', (type, payload, line) => {
  expect(summarize(event(type, payload, { session: ID as never }))).toBe(line)
})

it('says something of every type, whatever is missing in it, on one line', () => {
  for (const type of [...RECORD_TYPES, 'session_start', 'agent_status', 'group_deleted']) {
    for (const payload of [{}, { status: 7, agent: null, recipe: 'x', reason: ['a'] }]) {
      const line = summarize(event(type, payload))
      expect(line).not.toBe('')
      expect(line).not.toMatch(/undefined|\[object|\n/)
    }
  }
})
