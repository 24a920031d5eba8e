import {
  appendFileSync,
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SessionId } from '../../src/model/index.js'
import {
  type Fact,
  foldSession,
  type LoggedSession,
  type LoggedTurn,
  type LogRef,
  type LogTool,
} from '../../src/tools/index.js'

const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), '..', 'fixtures')

/** A turn as it was read off the raw log, without our reader. */
interface ExpectedTurn {
  prompt: string
  reply?: string
  outcome: string
  /** `Bash ok`, `Glob failed`. */
  tools: string[]
  /** Calls of the model. */
  calls: number
  live?: boolean
  copied?: boolean
  compacted?: number
  by?: string
  error?: string
}

/** `<name>.expect.json`: counted over the raw fixture by other means than the reader under test. */
interface Expectation {
  log: string
  /** Which session, when the log is a database. */
  session?: SessionId
  sub_logs?: string[]
  identity: Record<string, unknown>
  turns: ExpectedTurn[]
  sub_agents?: { under: string; agent: string; turns: ExpectedTurn[] }[]
  usage: Record<string, number>
  /** Those that are not zero. */
  counters: Record<string, number>
}

export interface Fixture {
  name: string
  path: string
  expected: Expectation
}

export function fixturesOf(tool: string): Fixture[] {
  return readdirSync(join(FIXTURES, tool), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.expect.json'))
    .sort()
    .map((name) => {
      const expected = JSON.parse(readFileSync(join(FIXTURES, tool, name), 'utf8')) as Expectation
      const path = join(FIXTURES, tool, dirname(name), expected.log)
      return { name: name.replace('.expect.json', ''), path, expected }
    })
}

/** What every tool's log reader promises, told over every recorded log of that tool. */
export function describeToolLog(tool: LogTool, options: { except?: Record<string, string> } = {}): void {
  const fixtures = fixturesOf(tool.name)
  const excepted = options.except ?? {}
  const promise = (name: string, body: () => void): void => {
    if (excepted[name]) it.skip(`${name} (${excepted[name]})`, body)
    else it(name, body)
  }

  describe(`logs of ${tool.name}`, () => {
    let scratch = ''
    beforeAll(() => {
      scratch = mkdtempSync(join(tmpdir(), 'skein-tool-log-'))
      cpSync(join(FIXTURES, tool.name), scratch, { recursive: true })
    })
    afterAll(() => rmSync(scratch, { recursive: true, force: true }))

    it('gives a reason for everything its logs cannot tell', () => {
      const unexplained = Object.entries(tool.can).filter(([, can]) => !can.yes && can.because.length < 10)
      expect(unexplained).toEqual([])
      expect(fixtures.length).toBeGreaterThan(0)
    })

    it.each(fixtures)('tells of $name what was counted by hand', ({ path, expected }) => {
      const session = foldSession(factsOf(tool, path, expected))
      expect(session.turns.map(summary)).toEqual(expected.turns.map(complete))
      expect(subAgents(session)).toEqual(
        (expected.sub_agents ?? []).map((sub) => ({ ...sub, turns: sub.turns.map(complete) })),
      )
      expect(usageOf(session)).toEqual(expected.usage)
      expect(troubles(session)).toEqual(expected.counters)
    })

    it.each(fixtures)('knows who $name belongs to from its beginning', ({ path, expected }) => {
      const identity = tool.identify(logAt(tool, path, expected))
      expect(definedOf(identity)).toMatchObject(expected.identity)
      const absent = ['cwd', 'branch', 'title', 'origin'].filter((key) => !(key in expected.identity))
      for (const key of absent) expect(identity).not.toHaveProperty(key, expect.anything())
    })

    it.each(fixtures)(
      'ends $name with a checkpoint that is plain data, and has nothing to add to it',
      ({ path, expected }) => {
        const log = logAt(tool, path, expected)
        const end = [...tool.read(log)].at(-1)
        if (end?.kind !== 'checkpoint') throw new Error('no checkpoint at the end')
        expect(JSON.parse(JSON.stringify(end.resume))).toEqual(end.resume)
        expect(JSON.stringify(end.resume).length).toBeLessThan(64 * 1024)
        const again = [...tool.read(log, { from: end.resume })]
        expect(again.filter((fact) => fact.kind === 'restart')).toEqual([])
        expect(again.at(-1)).toMatchObject({ counters: end.counters, head: end.head })
        if (!log.path.endsWith('.db')) expect(again.length).toBe(1)
      },
    )

    promise('tells the same whether a log is read at once or as it grows', () => {
      for (const fixture of fixtures.filter(isLines)) {
        const path = join(scratch, fixture.name.replace(/[^/]*$/, fixture.expected.log))
        const bytes = readFileSync(fixture.path)
        const whole = foldSession([tool.read(logAt(tool, fixture.path, fixture.expected))])
        const facts: Fact[] = []
        let from: Extract<Fact, { kind: 'checkpoint' }>['resume'] | undefined
        truncateSync(path, 0)
        for (const piece of pieces(bytes)) {
          appendFileSync(path, piece)
          for (const fact of tool.read(logAt(tool, path, fixture.expected), from ? { from } : {})) {
            if (fact.kind === 'checkpoint') from = fact.resume
            facts.push(fact)
          }
        }
        writeFileSync(path, bytes)
        expect({ of: fixture.name, ...comparable(foldSession([facts])) }).toEqual({
          of: fixture.name,
          ...comparable(whole),
        })
      }
    })

    promise('reads a log anew when it was rewritten or cut short', () => {
      const fixture = fixtures.find((each) => isLines(each) && each.expected.turns.length > 0)
      if (!fixture) throw new Error('no fixture to rewrite')
      const path = join(scratch, fixture.name.replace(/[^/]*$/, fixture.expected.log))
      const bytes = readFileSync(fixture.path)
      const end = [...tool.read(logAt(tool, path, fixture.expected))].at(-1)
      if (end?.kind !== 'checkpoint') throw new Error('no checkpoint')
      for (const changed of [
        bytes.subarray(0, bytes.length >> 1),
        Buffer.concat([Buffer.from('{"type":"x"}\n'), bytes]),
      ]) {
        writeFileSync(path, changed)
        const facts = [...tool.read(logAt(tool, path, fixture.expected), { from: end.resume })]
        expect(facts[0]?.kind).toBe('restart')
        expect(comparable(foldSession([facts]))).toEqual(
          comparable(foldSession([tool.read(logAt(tool, path, fixture.expected))])),
        )
      }
      writeFileSync(path, bytes)
    })
  })
}

const isLines = (fixture: Fixture): boolean => fixture.path.endsWith('.jsonl')

/** Cut where it hurts: inside lines, at their ends, and a byte at a time around the first newline. */
function pieces(bytes: Buffer): Buffer[] {
  const newline = bytes.indexOf(10)
  const cuts = [newline, newline + 1, newline + 2]
  for (let part = 1; part < 12; part++) cuts.push(Math.floor((bytes.length * part) / 12))
  for (let part = 1; part < 6; part++) cuts.push(bytes.indexOf(10, Math.floor((bytes.length * part) / 6)) + 1)
  const sorted = [...new Set(cuts)].filter((cut) => cut > 0 && cut < bytes.length).sort((a, b) => a - b)
  return [0, ...sorted].map((cut, index) => bytes.subarray(cut, sorted[index] ?? bytes.length))
}

export function logAt(tool: LogTool, path: string, expected: Pick<Expectation, 'session'>): LogRef {
  const log = tool.logAt(path, expected.session)
  if (!log) throw new Error(`no log at ${path}`)
  return log
}

function factsOf(tool: LogTool, path: string, expected: Expectation): Iterable<Fact>[] {
  const others = (expected.sub_logs ?? []).map((name) => join(dirname(path), name))
  return [path, ...others].map((each) => tool.read(logAt(tool, each, expected)))
}

function summary(turn: LoggedTurn): Required<ExpectedTurn> {
  const { prompt, reply = '', outcome, live, copied, compacted, by, error = '' } = turn
  const tools = turn.tool_calls.map(
    ({ name, success }) => `${name} ${success === undefined ? 'open' : success ? 'ok' : 'failed'}`,
  )
  return { prompt, reply, outcome, tools, calls: turn.usage.length, live, copied, compacted, by, error }
}

/** What an expectation leaves out is the ordinary. Who asked is checked where a fixture says it. */
function complete(turn: ExpectedTurn): unknown {
  const usual = { reply: '', live: true, copied: false, compacted: 0, error: '', by: expect.any(String) }
  return { ...usual, ...turn }
}

function subAgents(session: LoggedSession): unknown[] {
  const nested = session.turns.flatMap((turn) =>
    turn.tool_calls.flatMap((call) =>
      call.sub_agent ? [{ under: call.name, agent: call.sub_agent[0]?.agent, turns: call.sub_agent.map(summary) }] : [],
    ),
  )
  return [...nested, ...session.sub_agents.map((turn) => ({ under: '', agent: turn.agent, turns: [summary(turn)] }))]
}

export function allTurns(session: LoggedSession): LoggedTurn[] {
  const nested = session.turns.flatMap((turn) => turn.tool_calls.flatMap((call) => call.sub_agent ?? []))
  return [...(session.before ? [session.before] : []), ...session.turns, ...nested, ...session.sub_agents]
}

function usageOf(session: LoggedSession): Record<string, number> {
  const calls = allTurns(session).flatMap((turn) => turn.usage)
  const sum = (
    field:
      | 'input_tokens'
      | 'output_tokens'
      | 'cache_read_tokens'
      | 'cache_write_5m_tokens'
      | 'cache_write_1h_tokens'
      | 'web_search_requests',
  ) => calls.reduce((total, call) => total + call[field], 0)
  return {
    calls: calls.length,
    input: sum('input_tokens'),
    output: sum('output_tokens'),
    cache_read: sum('cache_read_tokens'),
    cache_write_5m: sum('cache_write_5m_tokens'),
    cache_write_1h: sum('cache_write_1h_tokens'),
    web_search: sum('web_search_requests'),
  }
}

function troubles(session: LoggedSession): Record<string, unknown> {
  const { unknown_types, truncated_last_line, ...counts } = session.counters[0] ?? {
    unknown_types: {},
    truncated_last_line: true,
  }
  expect(unknown_types).toEqual({})
  expect(truncated_last_line).toBe(false)
  return Object.fromEntries(
    Object.entries(counts)
      .filter(([name, count]) => count !== 0 || name === 'records')
      .filter(([, count]) => count !== 0 || session.turns.length === 0),
  )
}

const definedOf = (value: object): unknown => JSON.parse(JSON.stringify(value))

/** Everything but what comes from the file itself: its name, and its time where a record has none. */
function comparable(session: LoggedSession): object {
  const { id: _, ...news } = session.news
  const text = JSON.stringify({ ...session, news }, (key, value) => (key === 'ts' ? '' : value))
  return JSON.parse(text) as object
}
