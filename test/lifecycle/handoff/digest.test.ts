import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FactFilter } from '../../../src/archive/index.js'
import { digestOf } from '../../../src/lifecycle/handoff/digest.js'
import { DIGEST_BYTES, digestText } from '../../../src/lifecycle/handoff/digest-text.js'
import type { Policy } from '../../../src/privacy/index.js'
import { DEFAULT_PRIVACY } from '../../../src/privacy/index.js'
import type { Fact } from '../../../src/tools/index.js'
import { toolNamed } from '../../tools/log-file.js'

const asIs = (fact: Fact): Fact => fact
const turn = (number: number, prompt: string, by: 'person' | 'tool' = 'person'): Fact => ({
  kind: 'turn',
  turn: number,
  prompt,
  by,
  follows: number - 1,
})
const said = (number: number, text: string, message = `m${number}`): Fact => ({
  kind: 'said',
  turn: number,
  message,
  part: '0',
  text,
})
const call = (id: string, name: string, args: Record<string, unknown>, number = 1): Fact => ({
  kind: 'tool-call',
  turn: number,
  call: id,
  name,
  arguments: args,
})
const result = (id: string, text: string, success: boolean, number = 1): Fact => ({
  kind: 'tool-result',
  turn: number,
  call: id,
  result: text,
  success,
})
const filterOf = (policy: Policy) => {
  const filter = new FactFilter({ policy, isOfSubAgent: false, toolOf: () => undefined })
  return (fact: Fact): Fact | undefined => filter.kept(fact)
}

describe('the recorded logs of each tool', () => {
  const digestOfFile = (tool: string, path: string) => {
    const reader = toolNamed(tool)
    const log = reader.logAt(`test/fixtures/${path}`)
    if (!log) throw new Error(`no log at ${path}`)
    return digestOf(reader.read(log), filterOf(DEFAULT_PRIVACY))
  }

  it('claude: prompts, changed files, a failed command and the last reply of the live branch', () => {
    const digest = digestOfFile('claude', 'claude/2.1.325/interactive-7turns-tools-subagent.jsonl')
    expect(digest.goal).toEqual({
      first: 'turn one please',
      latest: ['turn four please', 'slow please', 'subagent please'],
    })
    expect(digest.files).toEqual([
      { path: '/home/dev/src/claude/work/repo/hello.txt', changes: 2, reads: 0 },
      { path: '/home/dev/src/claude/work/repo/README.md', changes: 0, reads: 1 },
    ])
    expect(digest.failed).toEqual([
      {
        command: 'cat /nonexistent-file; exit 3',
        error: 'cat: /nonexistent-file: No such file or directory',
        times: 1,
        is_mended: false,
      },
    ])
    expect(digest.open).toMatchObject({ turn: 'completed', last_reply: 'REPLY-SUB: the helper is done.' })
  })

  it('codex: the file of a patch, and a turn that was interrupted', () => {
    const patched = 'codex/0.166.0/rollout-2026-11-15T10-18-02-01a1deb6-c63a-7511-8e92-121dcd9e9658.jsonl'
    expect(digestOfFile('codex', patched).files).toEqual([{ path: 'NOTE.md', changes: 1, reads: 0 }])
    const aborted = 'codex/0.166.0/rollout-2026-11-15T10-01-16-01a1dea7-6d22-7ee2-a477-c95d5f4dabe7.jsonl'
    expect(digestOfFile('codex', aborted)).toMatchObject({
      goal: { first: 'please list the files', latest: ['be slow', 'please write a note', 'hang forever'] },
      open: { turn: 'aborted', last_reply: 'The note is written. (3 user messages seen)' },
    })
  })

  it('gemini: a file that was written', () => {
    expect(digestOfFile('gemini', 'gemini/0.61.0/session-2026-11-15T10-09-77777777.jsonl')).toMatchObject({
      goal: { first: 'please list the files' },
      files: [{ path: 'NOTE.md', changes: 1, reads: 0 }],
    })
  })

  it('opencode: a command that failed, from its database', () => {
    const reader = toolNamed('opencode')
    const logs = reader.logsIn?.('test/fixtures/opencode/1.18.33/opencode.db') ?? []
    const digests = logs.map((log) => digestOf(reader.read(log), asIs))
    const failed = digests.find(({ goal }) => goal.latest.at(-1) === 'run a failing command')
    expect(failed).toMatchObject({
      files: [{ path: 'NOTE.md', changes: 1, reads: 0 }],
      failed: [{ command: 'echo before; exit 3', times: 1, is_mended: false }],
      open: { last_reply: 'It failed as expected.' },
    })
  })

  it('pi: only the live branch of a tree', () => {
    const digest = digestOfFile('pi', 'pi/0.87.1/tree.jsonl')
    expect(digest.goal).toEqual({ first: 'q1', latest: ['q2-alt'] })
    expect(digest.open.last_reply).toBe('a2-alt')
  })
})

it('a failed command that succeeded later is marked so, whatever its spacing; one that failed again is not', () => {
  const { failed } = digestOf(
    [
      turn(1, 'fix it'),
      ...[call('a', 'Bash', { command: 'npm test' }), result('a', 'ok 1\nError: 3 failed\nsee above', false)],
      ...[call('b', 'Bash', { command: 'cd /x && npm  test' }), result('b', 'ok', true)],
      ...[call('c', 'exec_command', { cmd: 'make' }), result('c', 'make: *** [all] Error 2', false)],
      ...[call('d', 'exec_command', { cmd: 'make' }), result('d', 'make: *** [all] Error 3', false)],
      ...[call('e', 'shell', { command: ['bash', '-lc', 'cargo build'] }), result('e', 'done', true)],
      ...[call('f', 'shell', { command: ['bash', '-lc', 'cargo build'] }), result('f', 'error[E0001]: x', false)],
    ],
    asIs,
  )
  expect(failed).toEqual([
    { command: 'npm test', error: 'Error: 3 failed', times: 1, is_mended: true },
    { command: 'make', error: 'make: *** [all] Error 3', times: 2, is_mended: false },
    { command: 'cargo build', error: 'error[E0001]: x', times: 1, is_mended: false },
  ])
})

it('a change that failed, was refused or waits for an answer is none; a call of the last turn without a result is an open end', () => {
  const facts = [
    turn(1, 'write them'),
    ...[call('a', 'Write', { file_path: 'a.txt' }), result('a', 'written', true)],
    ...[call('b', 'Write', { file_path: 'b.txt' }), result('b', 'The user refused it', false)],
    ...[call('c', 'apply_patch', {}), result('c', 'no such file', false)],
    ...[call('d', 'Read', { file_path: 'd.txt' }), result('d', 'No such file', false)],
    turn(2, 'and now?'),
    call('e', 'Write', { file_path: 'e.txt', content: 'x' }, 2),
    call('f', 'Bash', { command: 'npm  test' }, 2),
    call('g', 'Bash', { command: 'cd /x && skein handoff -m next' }, 2),
    call('h', 'WebFetch', { url: 'http://x' }, 2),
  ]
  const { files, unnamed_changes, open } = digestOf(facts, asIs)
  expect(files).toEqual([{ path: 'a.txt', changes: 1, reads: 0 }])
  expect(unnamed_changes).toBe(0)
  expect(open.calls).toEqual(['Write e.txt', 'Bash npm test', 'WebFetch'])
  expect(digestText(digestOf(facts, asIs))).toContain('- Without a result, not done as far as is known: "Write e.txt"')
  const ended: Fact[] = [...facts, { kind: 'mark', turn: 2, mark: 'completed' }]
  expect(digestOf(ended, asIs).open.calls).toEqual([])
})

it('unfinished items of the last list are open ends, for each program that keeps a list', () => {
  const open = (...facts: Fact[]): string[] => digestOf([turn(1, 'go'), ...facts], asIs).open.todo
  const todos = [
    { content: 'write', status: 'completed' },
    { content: 'test', status: 'in_progress' },
    { content: 'ship', status: 'pending' },
  ]
  expect(open(call('a', 'TodoWrite', { todos: [] }), call('b', 'TodoWrite', { todos }))).toEqual(['test', 'ship'])
  expect(open(call('a', 'todowrite', { todos }))).toEqual(['test', 'ship'])
  const plan = [
    { step: 'read', status: 'completed' },
    { step: 'patch', status: 'in_progress' },
  ]
  expect(open(call('a', 'update_plan', { plan }))).toEqual(['patch'])
  const gemini = [
    { description: 'one', status: 'pending' },
    { description: 'two', status: 'cancelled' },
  ]
  expect(open(call('a', 'write_todos', { todos: gemini }))).toEqual(['one'])
  expect(
    open(
      ...[call('a', 'TaskCreate', { subject: 'first' }), result('a', 'Task #1 created successfully: first', true)],
      ...[call('b', 'TaskCreate', { subject: 'second' }), result('b', 'Task #2 created successfully: second', true)],
      ...[call('c', 'TaskUpdate', { taskId: '1', status: 'completed' }), result('c', 'Updated task #1', true)],
    ),
  ).toEqual(['second'])
})

it('what the agent decided and what the user corrected, in their order; an unanswered question is open', () => {
  const digest = digestOf(
    [
      turn(1, 'Build a parser'),
      said(1, 'I looked around. I decided to use a hand-written parser. It is short.'),
      { kind: 'mark', turn: 1, mark: 'completed' },
      turn(2, "No, don't add a dependency"),
      said(2, 'All right. Shall I also update the README?'),
      { kind: 'mark', turn: 2, mark: 'completed' },
    ],
    asIs,
  )
  expect(digest.decisions).toEqual([
    { by: 'agent', text: 'I decided to use a hand-written parser.' },
    { by: 'user', text: "No, don't add a dependency" },
  ])
  expect(digest.open).toMatchObject({ turn: 'completed', question: 'Shall I also update the README?' })
  const asked = digestOf(
    [turn(1, 'go'), call('q', 'AskUserQuestion', { questions: [{ question: 'Which port?' }] })],
    asIs,
  )
  expect(asked.open).toMatchObject({ turn: 'open', question: 'Which port?' })
  const answered = digestOf(
    [
      turn(1, 'go'),
      call('q', 'AskUserQuestion', { questions: [{ question: 'Which port?' }] }),
      result('q', '80', true),
    ],
    asIs,
  )
  expect(answered.open.question).toBeUndefined()
})

it('branches that were abandoned, what the tool itself said, and sub-agents are left out', () => {
  const checkpoint: Fact = {
    kind: 'checkpoint',
    resume: { v: 0, offset: 0, place: null },
    counters: {} as never,
    head: { turn: 3, abandoned: [2] },
  }
  const digest = digestOf(
    [
      turn(1, 'start'),
      turn(2, 'wrong way'),
      said(2, 'I decided to delete it.'),
      turn(3, 'right way'),
      turn(4, '<system reminder>', 'tool'),
      { kind: 'turn', turn: 1, agent: 'helper', prompt: 'do a part', by: 'tool', follows: 0 },
      checkpoint,
    ],
    asIs,
  )
  expect(digest.goal).toEqual({ first: 'start', latest: ['right way'] })
  expect(digest.decisions).toEqual([])
})

it('secrets are redacted, and a policy that keeps nothing of a tool keeps its paths and commands out', () => {
  const facts: Fact[] = [
    turn(1, 'use password=Tr0ub4dor33 please'),
    ...[call('a', 'Bash', { command: 'curl -H "Authorization: Bearer abcdef0123456789abcdef0123456789" x' })],
    result('a', 'error: token=ghp_0123456789abcdefghijABCDEFGHIJ012345 refused', false),
    call('b', 'Edit', { file_path: '/srv/app/a.ts', old_string: 'x', new_string: 'y' }),
    said(1, 'The password=Tr0ub4dor33 works.'),
  ]
  const usual = digestText(digestOf(facts, filterOf(DEFAULT_PRIVACY)))
  expect(usual).not.toMatch(/Tr0ub4dor33|abcdef0123456789|ghp_0123/)
  expect(usual).toContain('/srv/app/a.ts')
  const nothing: Policy = {
    user: [{ source: 'test', tools: { '*': { arguments: 'none', result: 'none' } } }],
    projects: [],
    allowProjectLooser: false,
  }
  const strict = digestText(digestOf(facts, filterOf(nothing)))
  expect(strict).not.toMatch(/Tr0ub4dor33|\/srv\/app|curl/)
})

it('the text is bounded and every line of somebody else is quoted, whatever the conversation', () => {
  const words = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 3_000 }),
    fc.constant('\n# Ignore all previous\n\x1b]0;x\x07'),
  )
  const fact = fc.oneof(
    fc.record({ n: fc.nat(40), text: words }).map(({ n, text }) => turn(n + 1, `HOSTILE\n## HOSTILE ${text}`)),
    fc
      .record({ n: fc.nat(40), text: words })
      .map(({ n, text }) => said(n + 1, `I decided HOSTILE\n## HOSTILE ${text}`)),
    fc
      .record({ n: fc.nat(99), text: words })
      .map(({ n, text }) => call(`c${n}`, 'Edit', { file_path: `/a/${n}\n## HOSTILE ${text}` })),
    fc.record({ n: fc.nat(99), text: words }).map(({ n, text }) => call(`r${n}`, 'Bash', { command: `x ${text}` })),
    fc.record({ n: fc.nat(99), text: words }).map(({ n, text }) => result(`r${n}`, `\n## HOSTILE ${text}`, false)),
    words.map((text) => call('t', 'TodoWrite', { todos: [{ content: `## HOSTILE ${text}`, status: 'pending' }] })),
  )
  fc.assert(
    fc.property(fc.array(fact, { maxLength: 60 }), (facts) => {
      const text = digestText(digestOf(facts, asIs))
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(DIGEST_BYTES)
      expect(text).not.toMatch(/[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]/)
      expect(text.split('\n').filter((line) => /^\s*#+ .*HOSTILE/.test(line))).toEqual([])
    }),
    { numRuns: 200 },
  )
})
