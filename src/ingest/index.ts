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
export { FactForgetter } from './forget-facts.js'
export { type FoundSession, type HistoryCounts, HistoryStore } from './history-store.js'
export { type Call, Ledger } from './ledger.js'
export { reportLedger, settleLedger } from './ledger-cells.js'
export { createLedgerTables } from './ledger-schema.js'
export { LedgerStore, type LogNews, type LogState } from './ledger-store.js'
export { LocalCalendar } from './local-calendar.js'
export { type LogSource, type Stores, wasCut } from './log-readings.js'
export { type CountedRows, countFacts, type ToolCallRow, type TurnRow } from './log-rows.js'
export { isPart } from './part-stamp.js'
export { ANSWER, type PassageKind, PURGED_CALL_TEXT } from './passage.js'
export { type Price, type Priceable, PriceBook } from './price-book.js'
export { type HistoryReading, readHistory } from './read-history.js'
export { forgetRedactions, type PendingRedactions, pendingRedactions } from './redaction-tally.js'
export { refilteredFacts } from './refilter-facts.js'
export {
  type FilteredLog,
  type FilteredPlace,
  filteredLogs,
  filteredPlaces,
  readAgain,
  refilterLog,
} from './refilter-text.js'
export { type RefreshOptions, type RefreshReport, refreshLedger } from './refresh-ledger.js'
export { type Rewriting, rewriteLog, type StoredPassage, scrubText } from './rewrite-text.js'
export { searchText, type TextAnswer, type TextHit, type TextQuery } from './search-text.js'
export { refilterPlaces } from './storable-place.js'
export { type Telling, tellingOf } from './telling.js'
export { TextStore } from './text-store.js'
export { ToolUsage, usageReaders, usageSources } from './tool-usage.js'
export { Sum, type Totals } from './totals.js'
export type { LogReading, Resume, UsageReader, UsageSource } from './usage-reader.js'
export { type ScanReport, scanUsage } from './usage-scan.js'
