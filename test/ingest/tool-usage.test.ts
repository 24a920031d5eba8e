import { cpSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import {
  Ledger,
  LedgerStore,
  PriceBook,
  refreshLedger,
  reportCalls,
  reportLedger,
  scanUsage,
  ToolUsage,
  usageReaders,
} from '../../src/ingest/index.js'
import { LOG_TOOLS, type UsageReader, type UsageRecord, type UsageSource } from '../../src/tools/index.js'
import { temporaryDirectory } from './corpus.js'

const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), '..', 'fixtures')

function fixturesOf(tool: string): UsageSource[] {
  const names = readdirSync(join(FIXTURES, tool), { recursive: true, encoding: 'utf8' }).sort()
  const logs = names
    .map((name) => join(FIXTURES, tool, name))
    .filter((path) => statSync(path).isFile() && path.endsWith('.jsonl'))
  return logs.map((path) => ({ tool, path, stamp: '1' }))
}

function callsOf(reader: UsageReader, sources: readonly UsageSource[]): UsageRecord[] {
  const ledger = new Ledger()
  for (const source of sources) reader.read(source, (telling) => ledger.tell(telling))
  return ledger.calls().sort((a, b) => (a.call < b.call ? -1 : 1))
}

const QUICK = LOG_TOOLS.flatMap((tool) => (tool.usageReader ? [{ ...tool, quick: tool.usageReader() }] : []))

it.each(QUICK)('the usage reader of $name finds what its reader of whole logs finds, in every fixture', (tool) => {
  const sources = fixturesOf(tool.name).map((source) => ({ ...source, session: tool.logAt(source.path)?.session }))
  const quick = callsOf(tool.quick, sources)
  expect(quick.length).toBeGreaterThan(20)
  expect(quick).toEqual(callsOf(new ToolUsage(tool), sources))
})

it('the logs of every tool end up in the same totals, scanned or stored', () => {
  const home = temporaryDirectory()
  const put = (from: string, to: string): void => cpSync(join(FIXTURES, from), join(home, to), { recursive: true })
  put('claude/2.1.325', '.claude/projects')
  put('codex/0.166.0', '.codex/sessions/2026/11/15')
  put('opencode/1.18.33', '.local/share/opencode')
  put('pi/0.87.1', '.pi/agent')
  const sources = LOG_TOOLS.filter((tool) => tool.can.usage.yes).flatMap((tool) => tool.discover({ home, env: {} }))
  const ledger = new Ledger()
  const readers = usageReaders()
  const scan = scanUsage(sources, readers, (telling) => ledger.tell(telling))
  expect(scan.unreadable).toEqual([])
  const query = { by: 'tool', zone: 'UTC' } as const
  const expected = reportCalls(ledger.calls(), new PriceBook(), query)
  expect(expected.rows.length).toBeGreaterThanOrEqual(2)

  using store = LedgerStore.open(join(temporaryDirectory(), 'ledger.db'))
  refreshLedger(store, sources, readers)
  expect(reportLedger(store, new PriceBook(), query)).toEqual(expected)
  const again = sources.map((source) => ({ ...source, stamp: 'touched' }))
  expect(refreshLedger(store, again, readers).read).toBe(sources.length)
  expect(reportLedger(store, new PriceBook(), query)).toEqual(expected)
})
