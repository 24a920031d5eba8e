import { appendFileSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Ledger } from '../../src/ingest/ledger/ledger.js'
import { LedgerStore } from '../../src/ingest/ledger/ledger-store.js'
import { refreshLedger } from '../../src/ingest/ledger/refresh-ledger.js'
import { ToolUsage, usageReaders } from '../../src/ingest/ledger/tool-usage.js'
import { instantOf, parseSessionId } from '../../src/model/index.js'
import {
  type CutPoint,
  foldSession,
  type LoggedTurn,
  type LogRef,
  type LogTool,
  placeCut,
  type UsageSource,
} from '../../src/tools/index.js'
import { LogFile, scratchDirectory, toolNamed } from '../tools/log-file.js'

const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), '..', 'fixtures')
const NOW = Date.parse('2026-11-19T12:00:00.000Z')
const DAY = 86_400_000

const sourceOf = ({ tool, path, session }: LogRef): UsageSource => ({ tool, path, session, stamp: 'now' })
const turnsOf = (tool: LogTool, log: LogRef): LoggedTurn[] => foldSession([tool.read(log)]).turns

/** A copy of the recorded logs of a tool. */
function recordings(name: string): { tool: LogTool; logs: LogRef[] } {
  const tool = toolNamed(name)
  const root = scratchDirectory()
  cpSync(join(FIXTURES, name), root, { recursive: true })
  const files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(?:jsonl|db)$/.test(entry.name))
    .filter((entry) => !/\/(?:hooks|panes|subagents|registry|statusline)(?:\/|$)/.test(`${entry.parentPath}/`))
    .map((entry) => join(entry.parentPath, entry.name))
  const found = files.flatMap((path) => (tool.logsIn && path.endsWith('.db') ? tool.logsIn(path) : [tool.logAt(path)]))
  const logs = found.filter((log) => log !== undefined && !tool.lacksHistory?.(log)) as LogRef[]
  return { tool, logs }
}

/** Some of them that are no forks, and have calls in two turns or more. */
function originals({ tool, logs }: ReturnType<typeof recordings>): LogRef[] {
  const isOriginal = (log: LogRef): boolean => {
    const turns = turnsOf(tool, log)
    return !turns.some(({ copied }) => copied) && turns.filter(({ usage }) => usage.length > 0).length > 1
  }
  return logs.filter(isOriginal).slice(0, 5)
}

let made = 0
/** A fork as `skein fork` writes it. */
async function forkOf(tool: LogTool, log: LogRef, at: CutPoint): Promise<LogRef> {
  made += 1
  const session = parseSessionId(`c0ffee00-1111-4222-8333-${String(made).padStart(12, '0')}`)
  const home = scratchDirectory()
  const now = instantOf(NOW + made * DAY)
  const cut = await tool.cut?.(log, at, { session, cwd: '/srv/tree', environment: { home, env: {} }, now })
  if (!cut) throw new Error(`${tool.name} cannot be cut`)
  if (cut.import) cut.files = cut.files.map((file) => ({ ...file, path: join(home, `${made}.json`) }))
  const [path = ''] = placeCut(tool, log, at, cut)
  return tool.logAt(path) as LogRef
}

type Owners = [call: string, session: string][]

function scanned(logs: readonly LogRef[]): Owners {
  const ledger = new Ledger()
  const readers = usageReaders()
  for (const log of logs) readers[log.tool]?.read(sourceOf(log), (telling) => ledger.tell(telling))
  return sorted(ledger.calls())
}

/** One after the other, as logs are found. */
function stored(logs: readonly LogRef[]): Owners {
  const store = LedgerStore.open(join(scratchDirectory(), 'ledger.db'))
  onTestFinished(() => store[Symbol.dispose]())
  for (const log of logs) refreshLedger(store, [sourceOf(log)], usageReaders())
  return sorted(store.calls())
}

const sorted = (calls: Iterable<{ call: string; session: string }>): Owners =>
  [...calls].map(({ call, session }): [string, string] => [call, session]).sort()

describe.each(['claude', 'codex', 'gemini', 'opencode', 'pi'])('forks of %s', (name) => {
  it('cost nothing, at any turn, also forks of forks, whichever log is read first', { timeout: 60_000 }, async () => {
    const recorded = recordings(name)
    const { tool } = recorded
    const logs = originals(recorded)
    expect(logs.length).toBeGreaterThan(0)
    for (const log of logs) {
      const turns = turnsOf(tool, log).filter(({ live, reply, outcome }) => live && reply && outcome === 'completed')
      const [first, last] = [turns[0]?.number ?? 1, turns.at(-1)?.number ?? 1]
      const fork = await forkOf(tool, log, { turn: last, edge: 'after' })
      const other = await forkOf(tool, log, { turn: first, edge: 'after' })
      const grandchild = await forkOf(tool, fork, { turn: turnsOf(tool, fork).at(-1)?.number ?? 1, edge: 'after' })
      const alone = scanned([log])
      expect(alone.length).toBeGreaterThan(1)
      const family = [log, fork, other, grandchild]
      fc.assert(
        fc.property(fc.shuffledSubarray(family, { minLength: 4 }), (order) => {
          expect(scanned(order), log.path).toEqual(alone)
          expect(stored(order), log.path).toEqual(alone)
        }),
        { numRuns: 6 },
      )
      for (const copy of [fork, other, grandchild])
        expect(
          turnsOf(tool, copy).every(({ copied }) => copied),
          copy.path,
        ).toBe(true)
    }
  })

  it('leave what was spent counted once when the log of the origin was never read', async () => {
    const recorded = recordings(name)
    const { tool } = recorded
    const [log] = originals(recorded) as [LogRef]
    const last = turnsOf(tool, log).findLast(({ live, reply }) => live && reply)?.number ?? 1
    const forks = [
      await forkOf(tool, log, { turn: last, edge: 'after' }),
      await forkOf(tool, log, { turn: last, edge: 'after' }),
    ]
    const [one] = forks as [LogRef]
    const calls = scanned([one]).map(([call]) => call)
    expect(calls.length).toBeGreaterThan(0)
    for (const order of [forks, forks.toReversed()]) {
      expect(scanned(order).map(([call]) => call)).toEqual(calls)
      expect(stored(order)).toEqual(scanned(order))
    }
  })
})

it.each(['codex', 'opencode'])('a fork that %s made itself has paid for its own turns alone', (name) => {
  const { tool, logs } = recordings(name)
  const owners = new Map(scanned(logs))
  let forks = 0
  for (const log of logs) {
    const turns = turnsOf(tool, log)
    const calls = turns.flatMap(({ usage, copied }) =>
      usage.map(({ message_id, session }) => ({ message_id, session, copied })),
    )
    if (!calls.some(({ copied }) => copied) || calls.every(({ copied }) => copied)) continue
    forks += 1
    for (const { message_id, session, copied } of calls) expect(owners.get(message_id) === session).toBe(!copied)
  }
  expect(forks).toBeGreaterThan(0)
})

it('a fork of an old log of Codex, whose calls have no names, is not paid for twice', async () => {
  const session = '0d15ea5e-1111-4222-8333-444455556666'
  const at = (second: number): string => `2025-08-16T11:00:${String(second).padStart(2, '0')}.000Z`
  const event = (second: number, payload: object) => ({ timestamp: at(second), type: 'event_msg', payload })
  const turn = (n: number): object[] => {
    const last_token_usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
    const info = { last_token_usage, total_token_usage: { total_tokens: 15 * n } }
    return [
      event(n, { type: 'user_message', message: `prompt ${n}` }),
      event(n, { type: 'token_count', info }),
      {
        timestamp: at(n),
        type: 'response_item',
        payload: { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: `reply ${n}` }] },
      },
    ]
  }
  const head = { timestamp: at(0), type: 'session_meta', payload: { id: session, timestamp: at(0), cwd: '/w' } }
  const tool = toolNamed('codex')
  const { log } = new LogFile(tool, `rollout-2025-08-16T11-00-00-${session}.jsonl`, [head, ...turn(1), ...turn(2)])
  const fork = await forkOf(tool, log, { turn: 1, edge: 'after' })
  expect(scanned([log])).toHaveLength(2)
  expect(scanned([fork, log])).toEqual(scanned([log]))
})

it('a fork into whose own file Codex copied the turns of its origin has not paid for them, whatever became of its own turn', () => {
  const tool = toolNamed('codex')
  // The id of a task says when it was made; the lines of a copy have the time of the copy.
  const [origin, fork] = ['132a0a51-3c0e-4dc1-be3e-95c989927a8f', '01a1ef1f-bec8-77e0-aab0-35a54c867ded']
  const turn = (at: string, turn_id: string, message: string, total?: number): object[] => {
    const last_token_usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 }
    const info = { last_token_usage, total_token_usage: { total_tokens: total } }
    return [
      { type: 'task_started', turn_id },
      { type: 'user_message', message },
      ...(total === undefined ? [] : [{ type: 'token_count', info }]),
      { type: 'task_complete', turn_id },
    ].map((payload) => ({ timestamp: at, type: 'event_msg', payload }))
  }
  const header = (id: string, at: string, facts = {}): object => ({
    timestamp: at,
    type: 'session_meta',
    payload: { id, timestamp: at, cwd: '/w', history_mode: 'legacy', ...facts },
  })
  const [then, now] = ['2026-11-18T14:27:30.025Z', '2026-11-18T14:46:37.572Z']
  const first = (at: string): object[] => turn(at, '01a1ef0e-4a1f-7c51-ba10-998bebf10c52', 'hello', 15)
  const { log } = new LogFile(tool, `rollout-2026-11-18T14-27-30-${origin}.jsonl`, [
    header(origin, then),
    ...first(then),
  ])
  const { log: copy } = new LogFile(tool, `rollout-2026-11-18T14-46-37-${fork}.jsonl`, [
    header(fork, now, { forked_from_id: origin }),
    header(origin, now),
    ...first(now),
    ...turn('2026-11-18T14:46:38.424Z', '01a1ef1f-c250-73e1-8016-54722b4d7d81', 'it fails'),
  ])
  expect(turnsOf(tool, copy).map(({ copied = false, prompt }) => [prompt, copied])).toEqual([
    ['hello', true],
    ['it fails', false],
  ])
  const owned = [['01a1ef0e-4a1f-7c51-ba10-998bebf10c52/15', origin]]
  for (const order of [[log, copy], [copy, log], [copy]]) {
    expect(scanned(order)).toEqual(owned)
    expect(stored(order)).toEqual(owned)
  }
})

describe('a copy that --fork-session of Claude Code made, which marks no line as copied', () => {
  const tool = toolNamed('claude')
  const LATER = 'msg_after_the_fork'

  /** A recorded session and its copy; the session went on after the copy was made. */
  function family(): { origin: LogRef; fork: LogRef; goOn: () => void } {
    const root = scratchDirectory()
    const [origin = '', fork = ''] = ['print-5turns-resumed', 'fork-of-print-5turns'].map((name) => {
      const path = join(root, `${name}.jsonl`)
      cpSync(join(FIXTURES, 'claude', '2.1.325', `${name}.jsonl`), path)
      return path
    })
    const goOn = (): void => {
      const lines = readFileSync(origin, 'utf8').trim().split('\n')
      const last = (type: string): string => lines.findLast((line) => JSON.parse(line).type === type) ?? ''
      const at = '2026-11-15T10:30:00.000Z'
      const request = { ...JSON.parse(last('api-request')), timestamp: at }
      const reply = JSON.parse(last('assistant'))
      const later = { ...reply, uuid: 'later', timestamp: at, message: { ...reply.message, id: LATER } }
      appendFileSync(origin, `${JSON.stringify(request)}\n${JSON.stringify(later)}\n`)
    }
    return { origin: tool.logAt(origin) as LogRef, fork: tool.logAt(fork) as LogRef, goOn }
  }

  /** As the quick scan reads them, and as the reader of turns does. */
  const READERS = { scan: usageReaders(), turns: { claude: new ToolUsage(tool) } }

  it.each([
    ['scan', ''],
    ['turns', ''],
    ['scan', ', its request written before what was copied'],
    ['turns', ', its request written before what was copied'],
  ] as const)('has paid for its own turn alone, in any order (%s%s)', (name, how) => {
    const readers = READERS[name]
    const { origin, fork, goOn } = family()
    if (how !== '') {
      // Both are written at the first prompt, by whatever is quicker.
      const isRequest = (line: string): boolean => line.includes('"type":"api-request"')
      const lines = readFileSync(fork.path, 'utf8').split('\n')
      writeFileSync(fork.path, [...lines.filter(isRequest), ...lines.filter((line) => !isRequest(line))].join('\n'))
    }
    const told = (logs: readonly LogRef[]): Owners => {
      const ledger = new Ledger()
      for (const log of logs) readers.claude?.read(sourceOf(log), (telling) => ledger.tell(telling))
      return sorted(ledger.calls())
    }
    const refreshed = (steps: readonly (LogRef | (() => void))[]): Owners => {
      const store = LedgerStore.open(join(scratchDirectory(), 'ledger.db'))
      onTestFinished(() => store[Symbol.dispose]())
      steps.forEach((step, n) => {
        if (typeof step === 'function') step()
        else refreshLedger(store, [{ ...sourceOf(step), stamp: `${n}` }], readers)
      })
      return sorted(store.calls())
    }
    const alone = told([origin])
    const own = told([fork]).filter(([call]) => !alone.some(([other]) => other === call))
    expect(own).toHaveLength(1)
    const before = [...alone, ...own].sort()
    const after = [...before, [LATER, alone[0]?.[1] ?? '']].sort() as Owners
    expect(told([fork, origin])).toEqual(before)
    // As it happens: the session, its copy, and the session again, read from where the first reading stopped.
    expect(refreshed([origin, fork, goOn, origin])).toEqual(after)
    for (const order of [
      [origin, fork],
      [fork, origin],
      [fork, origin, fork],
    ]) {
      expect(told(order)).toEqual(after)
      expect(refreshed(order)).toEqual(after)
    }
  })
})
