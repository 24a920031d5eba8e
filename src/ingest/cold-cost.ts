import type { Environment } from '../tools/index.js'
import { type CostQuery, type CostReport, reportCalls } from './cost-report.js'
import { Ledger } from './ledger.js'
import type { PriceBook } from './price-book.js'
import { usageReaders, usageSources } from './tool-usage.js'
import { type ScanReport, scanUsage } from './usage-scan.js'

/**
 * What was spent, from the logs alone: every log of every tool is read from its start, and nothing is stored.
 *
 * A program that does only this should turn V8's optimizing compiler off first (`v8.setFlagsFromString('--no-opt')`): the work is
 * done before its code would pay off. Measured: a fifth less CPU time for 100 MB of logs, no difference for 1 GB.
 */
export function coldCost(
  environment: Environment,
  prices: PriceBook,
  query: CostQuery,
): { scan: ScanReport; report: CostReport } {
  const ledger = new Ledger()
  const scan = scanUsage(usageSources(environment), usageReaders(), (telling) => ledger.tell(telling))
  return { scan, report: reportCalls(ledger.calls(), prices, query) }
}
