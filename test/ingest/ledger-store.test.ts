import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  copyFileSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import {
  COST_GROUPS,
  type CostGroup,
  type CostReport,
  Ledger,
  LedgerStore,
  PriceBook,
  type RefreshReport,
  refreshLedger,
  reportCalls,
  reportLedger,
  scanUsage,
  settleLedger,
} from '../../src/ingest/index.js'
import { ClaudeUsageReader } from '../../src/tools/claude/claude-usage-reader.js'
import type { UsageSource } from '../../src/tools/index.js'
import { asTruth, type Corpus, logAt, logsUnder, makeCorpus, temporaryDirectory } from './corpus.js'

const WORKER = join(dirname(fileURLToPath(import.meta.url)), '..', 'workers', 'refresh-ledger.mjs')
const prices = new PriceBook()
const readers = { claude: new ClaudeUsageReader() }
const places = (session: string) => ({ agent: session.slice(0, 1), chain: session.slice(0, 2), work: undefined })

function openStore(file = join(temporaryDirectory(), 'ledger.db')): LedgerStore {
  const store = LedgerStore.open(file)
  onTestFinished(() => store[Symbol.dispose]())
  return store
}
const refresh = (store: LedgerStore, logs: readonly UsageSource[]): RefreshReport => refreshLedger(store, logs, readers)

function stored(store: LedgerStore, by: CostGroup = 'model', zone = 'UTC', range = {}): CostReport {
  return reportLedger(store, prices, { by, zone, placeOf: places, ...range })
}
function scanned(logs: readonly UsageSource[], by: CostGroup = 'model', zone = 'UTC', range = {}): CostReport {
  const ledger = new Ledger()
  scanUsage(logs, readers, (telling) => ledger.tell(telling))
  return reportCalls(ledger.calls(), prices, { by, zone, placeOf: places, ...range })
}

it.each([11, 12, 13])('the stored ledger has every token of a tree once, by every grouping (seed %i)', (seed) => {
  const { truth, logs } = makeCorpus(seed)
  const store = openStore()
  refresh(store, logs)
  expect(asTruth(stored(store))).toEqual(truth.byModel)
  for (const zone of ['UTC', 'America/New_York', 'Asia/Kathmandu']) {
    for (const by of COST_GROUPS) {
      const expected = scanned(logs, by, zone)
      expect(stored(store, by, zone)).toEqual(expected) // from the calls
      settleLedger(store, prices, zone)
      expect(stored(store, by, zone)).toEqual(expected) // from the sums
    }
  }
})

it('ten random interleavings, in pieces and repeated, give the same ledger', () => {
  const { logs } = makeCorpus(14, { sessions: 40, mb: 2 })
  const expected = scanned(logs, 'session')
  fc.assert(
    fc.property(
      fc.shuffledSubarray(logs, { minLength: logs.length }),
      fc.integer({ min: 1, max: 9 }),
      (order, piece) => {
        const store = openStore()
        for (let at = 0; at < order.length; at += piece) refresh(store, order.slice(at, at + piece))
        refresh(
          store,
          order.map((log) => ({ ...log, stamp: 'changed' })),
        )
        settleLedger(store, prices, 'UTC')
        expect(stored(store, 'session')).toEqual(expected)
      },
    ),
    { numRuns: 10 },
  )
})

it('a range of time is cut at the moment, not at the day', () => {
  const { logs } = makeCorpus(15)
  const store = openStore()
  refresh(store, logs)
  settleLedger(store, prices, 'Europe/Berlin')
  const instant = fc.integer({ min: Date.parse('2025-08-30'), max: Date.parse('2025-12-05') })
  fc.assert(
    fc.property(fc.option(instant, { nil: undefined }), fc.option(instant, { nil: undefined }), (sinceMs, untilMs) => {
      const range = { sinceMs, untilMs }
      expect(stored(store, 'day', 'Europe/Berlin', range)).toEqual(scanned(logs, 'day', 'Europe/Berlin', range))
    }),
    { numRuns: 25 },
  )
})

it('a second run with nothing new reads no log', () => {
  const { logs } = makeCorpus(16, { sessions: 20, mb: 1 })
  const store = openStore()
  expect(refresh(store, logs).read).toBe(logs.length)
  expect(refresh(store, logs)).toMatchObject({ logs: logs.length, read: 0, bytes: 0 })
})

/** Puts a log of the corpus into another directory up to some byte. */
function largestLog({ logs }: Corpus): string {
  const bySize = [...logs].sort((a, b) => readFileSync(b.path).length - readFileSync(a.path).length)
  return bySize[0]?.path ?? ''
}

it('a log that grows by pieces of any size is read once, and counted once', () => {
  const corpus = makeCorpus(17, { sessions: 10, mb: 1 })
  const bytes = readFileSync(largestLog(corpus))
  const path = join(temporaryDirectory(), 'growing.jsonl')
  fc.assert(
    fc.property(fc.array(fc.nat(bytes.length), { maxLength: 8 }), (cuts) => {
      const store = openStore()
      writeFileSync(path, '')
      let read = 0
      let at = 0
      for (const cut of [...cuts.sort((a, b) => a - b), bytes.length]) {
        appendFileSync(path, bytes.subarray(at, cut))
        at = cut
        read += refresh(store, [logAt(path)]).bytes
      }
      expect(stored(store, 'session')).toEqual(scanned([logAt(path)], 'session'))
      // Only the line that a cut fell into is read again.
      const longest = Math.max(
        ...bytes
          .toString('latin1')
          .split('\n')
          .map((line) => line.length),
      )
      expect(read).toBeLessThanOrEqual(bytes.length + cuts.length * longest)
    }),
    { numRuns: 15 },
  )
})

it('a log that was rewritten, shrunk or replaced is read anew, and what it told before stays told', () => {
  const corpus = makeCorpus(18, { sessions: 6, mb: 1 })
  const [first, second] = corpus.logs.map((log) => readFileSync(log.path))
  const directory = temporaryDirectory()
  const path = join(directory, 'log.jsonl')
  const copy = join(directory, 'copy.jsonl')
  const store = openStore()
  const both = (): CostReport => scanned([logAt(path), logAt(copy)], 'model')

  writeFileSync(path, first ?? '')
  copyFileSync(path, copy)
  refresh(store, [logAt(path)])
  writeFileSync(path, second ?? '') // same inode, other content
  refresh(store, [logAt(path)])
  expect(stored(store)).toEqual(both())

  truncateSync(path, 400)
  refresh(store, [logAt(path)])
  writeFileSync(path, second ?? '')
  expect(stored(store)).toEqual(both())

  writeFileSync(join(directory, 'new'), Buffer.concat([second ?? Buffer.alloc(0), first ?? Buffer.alloc(0)]))
  renameSync(join(directory, 'new'), path) // another inode, the same beginning
  refresh(store, [logAt(path)])
  expect(stored(store)).toEqual(both())

  rmSync(path)
  expect(refresh(store, [{ tool: 'claude', path, stamp: 'gone' }]).unreadable).toEqual([{ path, reason: 'ENOENT' }])
  expect(stored(store).total).toEqual(scanned([logAt(copy), ...corpus.logs.slice(1, 2)]).total)
})

it('a change of prices or of the time zone changes the report at once', () => {
  const { logs } = makeCorpus(19, { sessions: 10, mb: 1 })
  const store = openStore()
  refresh(store, logs)
  settleLedger(store, prices, 'UTC')
  const dear = new PriceBook({ '*': { input: 1_000, output: 1_000 } })
  const expected = reportLedger(store, dear, { by: 'day', zone: 'UTC' })
  expect(expected.total.unpriced_calls).toBe(0)
  expect(expected.total.micro_usd).toBeGreaterThan(stored(store).total.micro_usd)
  settleLedger(store, dear, 'UTC')
  expect(reportLedger(store, dear, { by: 'day', zone: 'UTC' })).toEqual(expected)
})

it('a newer ledger is refused with a way out', () => {
  const file = join(temporaryDirectory(), 'ledger.db')
  const store = LedgerStore.open(file)
  store.setFact('version', '99')
  store[Symbol.dispose]()
  expect(() => LedgerStore.open(file)).toThrow(/newer version/)
})

function startWorker(file: string, directory: string, times: number): ChildProcess {
  return spawn(process.execPath, [WORKER, file, directory, `${times}`], { stdio: ['ignore', 'pipe', 'inherit'] })
}

it('two processes that fill one ledger at once count nothing twice', async () => {
  const { root, truth, logs } = makeCorpus(20)
  const file = join(temporaryDirectory(), 'ledger.db')
  const workers = [1, 2, 3].map(() => startWorker(file, root, 2))
  for (const worker of workers) worker.stdout?.resume()
  const codes = await Promise.all(workers.map(async (worker) => (await once(worker, 'exit'))[0] as number))
  expect(codes).toEqual([0, 0, 0])
  const store = openStore(file)
  expect(asTruth(stored(store))).toEqual(truth.byModel)
  expect(stored(store, 'session')).toEqual(scanned(logs, 'session'))
})

it('a process killed in the middle leaves a ledger that the next one completes', async () => {
  const { root, truth } = makeCorpus(21)
  const file = join(temporaryDirectory(), 'ledger.db')
  let killed = 0
  for (let round = 1; round <= 8; round++) {
    const worker = startWorker(file, root, 1)
    let dots = 0
    worker.stdout?.on('data', (data: Buffer) => {
      dots += data.length
      if (dots >= round) worker.kill('SIGKILL')
    })
    const [, signal] = (await once(worker, 'exit')) as [number | null, string | null]
    if (signal === 'SIGKILL') killed += 1
    for (const log of logsUnder(root).slice(round, round + 3)) utimesSync(log.path, round, round) // looks changed
  }
  expect(killed).toBeGreaterThan(0)
  const store = openStore(file)
  refresh(store, logsUnder(root))
  settleLedger(store, prices, 'UTC')
  expect(asTruth(stored(store))).toEqual(truth.byModel)
  expect(stored(store, 'session')).toEqual(scanned(logsUnder(root), 'session'))
})
