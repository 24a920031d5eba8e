export { ClaudeUsage } from './claude-usage.js'
export {
  COST_GROUPS,
  type CostGroup,
  type CostQuery,
  type CostReport,
  type CostRow,
  reportCalls,
  type SessionPlace,
} from './cost-report.js'
export { type FoundSession, type HistoryCounts, HistoryStore } from './history-store.js'
export { type Call, Ledger } from './ledger.js'
export { reportLedger, settleLedger } from './ledger-cells.js'
export { createLedgerTables } from './ledger-schema.js'
export { LedgerStore, type LogNews, type LogState } from './ledger-store.js'
export { type CountedRows, countFacts, type ToolCallRow, type TurnRow } from './log-rows.js'
export type { PassageKind } from './passage.js'
export { type Price, type Priceable, PriceBook, type PriceOverride, type PriceOverrides } from './price-book.js'
export { type HistoryReading, type LogSource, readHistory, type Stores } from './read-history.js'
export { type RefreshOptions, type RefreshReport, refreshLedger } from './refresh-ledger.js'
export { searchText, type TextAnswer, type TextHit, type TextQuery } from './search-text.js'
export { type Telling, tellingOf } from './telling.js'
export { TextStore } from './text-store.js'
export { ToolUsage, usageReaders, usageSources } from './tool-usage.js'
export type { Totals } from './totals.js'
export type { LogReading, Resume, UsageReader, UsageSource } from './usage-reader.js'
export { type ScanReport, scanUsage } from './usage-scan.js'
