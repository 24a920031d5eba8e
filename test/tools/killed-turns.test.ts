import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { LogFile, toolNamed } from './log-file.js'

const RECORDED = fileURLToPath(new URL('../fixtures/killed', import.meta.url))

/** The turns that all four programs were killed in, each followed by a restart in the same session and a prompt. */
const KILLED = [
  ['hello one', 'completed'],
  ['think it', 'open'], // asked the model, which had said nothing
  ['hello again', 'completed'],
  ['work it', 'open'], // words, a tool call and its result; asked the model again
  ['hello again', 'completed'],
]
/** Killed while a tool ran; then one that its user interrupted while a tool ran. */
const IN_A_TOOL = [
  ['drag it', 'open'],
  ['hello again', 'completed'],
  ['drag again', 'aborted'],
  ['hello last', 'completed'],
]

it.each([
  ['claude', '62e8972f-301f-453b-ab6e-10852f46e600.jsonl', KILLED],
  ['codex', 'rollout-2026-11-16T10-33-01-1f3472d4-e3a9-4aa1-a317-87ec773ec7f5.jsonl', [...KILLED, ...IN_A_TOOL]],
  // It writes down a tool call when the call has ended: killed before that, the words before the call are its last.
  ['gemini', 'session-2026-11-16T10-33-fe031390.jsonl', [...KILLED, ['drag it', 'completed'], ...IN_A_TOOL.slice(1)]],
  ['pi', '2026-11-16T10-36-50-893Z_ce7d1ba4-3ef0-4d9a-a65d-a1e32eaf12aa.jsonl', [...KILLED, ...IN_A_TOOL]],
])('%s: a turn that was killed or interrupted is not completed by the one after it', (tool, name, expected) => {
  const log = new LogFile(toolNamed(tool), name)
  log.appendRaw(readFileSync(join(RECORDED, `${tool}.jsonl`), 'utf8'))
  const { turns } = log.session()
  expect(turns.map(({ prompt, outcome }) => [prompt, outcome])).toEqual(expected)
})

it('codex: a call that its user interrupted did not succeed', () => {
  const log = new LogFile(toolNamed('codex'), 'rollout-2026-11-16T10-33-01-1f3472d4-e3a9-4aa1-a317-87ec773ec7f5.jsonl')
  log.appendRaw(readFileSync(join(RECORDED, 'codex.jsonl'), 'utf8'))
  const calls = log.session().turns.find(({ prompt }) => prompt === 'drag again')?.tool_calls
  expect(calls).toMatchObject([{ result: expect.stringMatching(/aborted by user$/), success: false }])
})
