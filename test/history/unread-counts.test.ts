import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { openTestHome, scratch } from '../home/scratch.js'

const FIXTURES = join(import.meta.dirname, '..', 'fixtures')
const CODEX = 'rollout-2026-11-15T09-58-46-01a1dea5-22e0-77f2-b9d7-977ec2c1c576.jsonl'
/** A log of each tool, where it belongs, and a count in it that is made unreadable. */
const LOGS: Readonly<Record<string, { from: string; to: string; count: RegExp }>> = {
  claude: {
    from: 'claude/2.1.325/print-5turns-resumed.jsonl',
    to: '.claude/projects/-srv/22222222-2222-4222-8222-222222222222.jsonl',
    count: /"output_tokens":\d+/,
  },
  codex: {
    from: `codex/0.166.0/${CODEX}`,
    to: `.codex/sessions/2026/11/15/${CODEX}`,
    count: /"output_tokens":\d+/,
  },
  pi: {
    from: 'pi/0.87.1/2026-11-15T10-04-36-893Z_my-session.01.jsonl',
    to: '.pi/agent/sessions/--srv--/2026-11-15T10-04-36-893Z_my-session.01.jsonl',
    count: /"output":\d+/,
  },
}

/** A home beside a log in which the first count says `value`. */
function withLog(tool: string, value?: string): { root: string; log: string } {
  const { from = '', to = '', count = /never/ } = LOGS[tool] ?? {}
  const root = scratch()
  const log = join(root, to)
  mkdirSync(dirname(log), { recursive: true })
  const text = readFileSync(join(FIXTURES, from), 'utf8')
  expect(text).toMatch(count)
  writeFileSync(log, value === undefined ? text : text.replace(count, (found) => `${found.split(':')[0]}:${value}`))
  return { root, log }
}

it.each(Object.keys(LOGS).flatMap((tool) => ['"12"', '-5', '1e99', '[7]'].map((value) => [tool, value] as const)))(
  'a count in a log of %s that is %s is flagged, by each way to the sum',
  async (tool, value) => {
    const { root } = withLog(tool, value)
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 20) })
    const scanned = await home.history.cost({ noIndex: true })
    expect(scanned.unread_counts).toBeGreaterThan(0)
    expect(await home.history.cost({})).toMatchObject({ unread_counts: scanned.unread_counts })
    await home.history.ingest()
    expect(await home.history.cost({})).toMatchObject({ unread_counts: scanned.unread_counts })
    await home[Symbol.asyncDispose]()
  },
)

it.each(Object.keys(LOGS))(
  'a log of %s in which all counts are numbers has none, nor has one that was put right',
  async (tool) => {
    const { root, log } = withLog(tool, '"12"')
    const { home, clock } = await openTestHome(root, { ms: Date.UTC(2026, 10, 20) })
    expect((await home.history.cost({})).unread_counts).toBeGreaterThan(0)
    writeFileSync(log, readFileSync(withLog(tool).log))
    clock.ms += 60_000
    expect((await home.history.cost({})).unread_counts).toBe(0)
    expect((await home.history.cost({ noIndex: true })).unread_counts).toBe(0)
    await home[Symbol.asyncDispose]()
  },
)
