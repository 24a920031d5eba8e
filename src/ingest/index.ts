export { ClaudeUsage } from './claude-usage.js'
export {
  COST_GROUPS,
  type CostCell,
  type CostGroup,
  type CostQuery,
  type CostReport,
  type CostRow,
  reportCalls,
  reportCells,
  type SessionPlace,
} from './cost-report.js'
export { type Call, Ledger } from './ledger.js'
export { type Price, type Priceable, PriceBook, type PriceOverride, type PriceOverrides } from './price-book.js'
export { type Telling, tellingOf } from './telling.js'
export type { Totals } from './totals.js'
export type { LogReading, ReadFrom, UsageReader, UsageSource } from './usage-reader.js'
export { type ScanReport, scanUsage } from './usage-scan.js'
