import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseCustomTools, RUNNERS, runnersFor, type ToolRunner } from '../../src/tools/index.js'
import {
  describeToolRunner,
  RUNNER_CASES,
  type RunnerCase,
  type RunnerSkip,
  type RunnerUnderTest,
} from '../contracts/tool-runner.js'
import { fixture, recordedPanes } from './recorded-pane.js'

const CUSTOM = {
  command: 'vibe --quiet',
  busy_patterns: ['executing'],
  prompt_patterns: ['approve?'],
  idle_patterns: ['ready>'],
  resume_flag: '--resume',
  session_id_json_path: '.session_id',
  output_format_flag: '--output-format json',
  dangerous_flag: '--auto-approve',
}

/** What a tool cannot be asked, and why. A skip that names no case, or that its abilities contradict, fails below. */
const SKIPS: readonly RunnerSkip[] = [
  {
    tool: 'codex',
    case: 'loads the MCP servers that are named',
    reason: 'its servers are named in its own configuration only',
  },
  {
    tool: 'opencode',
    case: 'loads the MCP servers that are named',
    reason: 'its servers are named in its own configuration only',
  },
  { tool: 'pi', case: 'loads the MCP servers that are named', reason: 'it has no MCP' },
  { tool: 'pi', case: 'skips its questions only when told to', reason: 'it asks nothing' },
  { tool: 'vibe', case: 'chooses a model', reason: 'a tool of the user takes its model among its own arguments' },
  { tool: 'vibe', case: 'loads the MCP servers that are named', reason: 'nothing is known of its servers' },
  { tool: 'vibe', case: 'is told where to report', reason: 'it has no hooks' },
  { tool: 'vibe', case: 'reads the messages of its program', reason: 'it sends none' },
  { tool: 'vibe', case: 'does not fork what is not there', reason: 'it cannot fork' },
  { tool: 'vibe', case: 'knows its conversations', reason: 'where it keeps them is not known' },
]

function messagesOf(tool: string): unknown[] {
  const directory = join(import.meta.dirname, '..', 'fixtures', tool, 'hooks')
  return readdirSync(directory)
    .filter((name) => name !== 'expected.json' && /\.jsonl?$/.test(name))
    .flatMap((name) => {
      const text = fixture(tool, 'hooks', name)
      const lines = name.endsWith('.json') ? [text] : text.trim().split('\n')
      // Some were recorded with what else the hook was given.
      return lines.map((line) => JSON.parse(line)).map((said) => said.stdin ?? said)
    })
}

const screen = (name: string, ...lines: string[]) => ({ name, screen: { lines, title: '', width: 80 } })
const vibe = runnersFor({
  custom: parseCustomTools(
    { vibe: CUSTOM },
    '/cfg/config.toml',
    RUNNERS.map(({ name }) => name),
  ),
  patterns: [],
}).named('vibe')

const TESTED: readonly RunnerUnderTest[] = [
  ...RUNNERS.map((runner) => ({
    runner,
    process: runner.name,
    messages: messagesOf(runner.name),
    screens: recordedPanes(runner.name),
    mcpHome: { '.claude.json': JSON.stringify({ mcpServers: { 'server-of-mine': { command: 'x' } } }) },
  })),
  {
    runner: vibe,
    process: 'vibe',
    messages: [],
    screens: [
      screen('busy', 'executing'),
      screen('idle', 'ready>'),
      screen('asks', 'approve?'),
      screen('else', 'hello'),
    ],
  },
]

for (const one of TESTED) describeToolRunner(one, SKIPS)

describe('what is skipped', () => {
  it('is a case of a runner, once, for a reason', () => {
    for (const { tool, case: name, reason } of SKIPS) {
      expect(RUNNER_CASES).toContain(name)
      expect(TESTED.some(({ runner }) => runner.name === tool)).toBe(true)
      expect(reason.length).toBeGreaterThan(8)
    }
    expect(new Set(SKIPS.map(({ tool, case: name }) => `${tool} ${name}`)).size).toBe(SKIPS.length)
  })

  it('is what the abilities of the runner say', () => {
    const decided: [RunnerCase, (runner: ToolRunner) => boolean][] = [
      ['chooses a model', ({ can }) => can.choosesModel],
      ['loads the MCP servers that are named', ({ can }) => can.mcp],
      ['is told where to report', ({ can }) => can.tells],
      ['reads the messages of its program', ({ can }) => can.tells],
      ['does not fork what is not there', ({ can }) => can.fork],
      ['skips its questions only when told to', ({ can }) => can.asks],
      ['knows its conversations', ({ hasConversation }) => hasConversation !== undefined],
    ]
    for (const { runner } of TESTED) {
      const skipped = new Set(SKIPS.filter(({ tool }) => tool === runner.name).map((skip) => skip.case))
      for (const [name, can] of decided)
        expect([runner.name, name, !skipped.has(name)]).toEqual([runner.name, name, can(runner)])
      const rest = [...skipped].filter((name) => !decided.some(([one]) => one === name))
      expect(rest).toEqual([])
    }
  })
})
