import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { withCutOff } from '../../src/history/cut-off-turns.js'
import type { Home } from '../../src/home/index.js'
import { type Instant, instantOf } from '../../src/model/index.js'
import type { LoggedTurn } from '../../src/tools/index.js'
import { openTestHome, scratch } from '../home/scratch.js'

const ID = '33333333-3333-4333-8333-333333333333'
const START_MS = Date.UTC(2026, 10, 16, 8)
const at = (second: number): Instant => instantOf(START_MS + second * 1_000)

/** Records of Claude Code: each follows the one before it. */
function logOf(...records: { second: number; type: 'user' | 'assistant'; content: unknown }[]): string {
  return records
    .map(({ second, type, content }, n) =>
      JSON.stringify({
        type,
        uuid: `u${n}`,
        parentUuid: n === 0 ? null : `u${n - 1}`,
        sessionId: ID,
        cwd: '/srv',
        version: '2.1.325',
        timestamp: at(second),
        message: { id: `m${n}`, role: type, content, ...(type === 'assistant' ? { model: 'm' } : {}) },
      }),
    )
    .map((line) => `${line}\n`)
    .join('')
}

const asks = (second: number) => ({ second, type: 'user' as const, content: `prompt at ${second}` })
const calls = (second: number) => ({
  second,
  type: 'assistant' as const,
  content: [{ type: 'tool_use', id: `call${second}`, name: 'Bash', input: { command: 'sleep 300' } }],
})

async function homeWith(log: string): Promise<{ home: Home; clock: { ms: number } }> {
  const root = scratch()
  const path = join(root, '.claude', 'projects', '-srv', `${ID}.jsonl`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, log)
  return openTestHome(root, { ms: START_MS + 10_000 })
}

const outcomes = async (home: Home): Promise<string[]> =>
  (await home.history.turns(ID)).turns.map(({ outcome }) => outcome)

it('a turn is open while its program runs, and aborted once its session has ended or goes on in another process', async () => {
  const { home, clock } = await homeWith(logOf(asks(1), calls(2)))
  await home.sessions.start({ id: ID, tool: 'claude', started_at: at(0) })
  await home.history.ingest()
  expect(await outcomes(home)).toEqual(['open'])
  await home.sessions.end(ID, { outcome: 'crash', reason: 'killed by signal 9' })
  expect(await outcomes(home)).toEqual(['aborted'])
  clock.ms += 5_000
  await home.sessions.start({ id: ID, resume: true })
  expect(await outcomes(home)).toEqual(['aborted'])
})

it('a turn that began after the session was resumed is under way', async () => {
  const { home } = await homeWith(logOf(asks(1), calls(2), asks(30), calls(31)))
  await home.sessions.start({ id: ID, tool: 'claude', started_at: at(0) })
  await home.history.ingest()
  await home.sessions.end(ID, { outcome: 'crash' })
  await home.sessions.start({ id: ID, resume: true })
  expect(await outcomes(home)).toEqual(['aborted', 'open'])
})

it('a prompt that its user took back before the reply began is aborted, also while nothing follows it', async () => {
  const { home } = await homeWith(logOf(asks(1)))
  const agent = await home.roster.add({ address: 'web/shop', tool: 'claude' })
  await home.sessions.start({ id: ID, tool: 'claude', agent: agent.address, started_at: at(0) })
  await home.history.ingest()
  const status = (agent_id: string, since: Instant, facts: object) =>
    home.events.append({
      type: 'agent_status',
      agent: agent.address,
      payload: { agent_id, since, source: 'registry', evidence: [], ...facts },
    })
  await status(agent.id, at(2), { status: 'running' })
  await status('another', at(3), { status: 'idle', reason: 'interrupted' })
  expect(await outcomes(home)).toEqual(['open'])
  await status(agent.id, at(3), { status: 'idle', reason: 'interrupted' })
  expect(await outcomes(home)).toEqual(['aborted'])
})

it('a turn from before which the conversation goes on is not open', () => {
  const left = turn(2, 2, { live: false })
  expect(told([turn(1, 1, { outcome: 'completed' }), left, turn(3, 3)], {})).toEqual(['completed', 'aborted', 'open'])
})

const turn = (number: number, last: number, more: Partial<LoggedTurn> = {}): LoggedTurn =>
  ({ number, outcome: 'open', live: true, tool_calls: [], ended_at: at(last), ...more }) as unknown as LoggedTurn
const told = (turns: LoggedTurn[], over: Parameters<typeof withCutOff>[1]) =>
  withCutOff(turns, over).map(({ outcome }) => outcome)

it('a tool call that never returned ended with the turn after which another came', () => {
  const hanging = { tool_calls: [{ id: 'c', name: 'Bash', arguments: {} }] }
  const returned = { tool_calls: [{ id: 'c', name: 'Bash', arguments: {}, success: true }] }
  expect(told([turn(1, 1, hanging), turn(2, 2, { outcome: 'completed' })], {})).toEqual(['aborted', 'completed'])
  expect(told([turn(1, 1, returned), turn(2, 2)], {})).toEqual(['open', 'open']) // a person added something to it
  expect(told([turn(1, 1, hanging), turn(2, 2, { live: false })], {})).toEqual(['open', 'open']) // went back to the first
})

it('a session that only its log tells of may go on where it was taken for ended', () => {
  expect(told([turn(1, 5)], { endedAt: at(5) })).toEqual(['aborted'])
  expect(told([turn(1, 6)], { endedAt: at(5) })).toEqual(['open'])
  expect(told([turn(1, 5)], { resumedAt: at(5) })).toEqual(['open']) // found by the record that is its last
  expect(told([turn(1, 4, { outcome: 'failed' })], { endedAt: at(5) })).toEqual(['failed'])
})
