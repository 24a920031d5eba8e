export {
  COST_GROUPS,
  type CostGroup,
  type CostReport,
  type CostRow,
  reportCalls,
  type SessionPlace,
} from './ledger/cost-report.js'
export { type Call, Ledger } from './ledger/ledger.js'
export { reportLedger, settleLedger } from './ledger/ledger-cells.js'
export { LedgerStore } from './ledger/ledger-store.js'
export { LocalCalendar } from './ledger/local-calendar.js'
export { type Priceable, PriceBook } from './ledger/price-book.js'
export { type RefreshReport, refreshLedger } from './ledger/refresh-ledger.js'
export { ToolUsage, usageReaders } from './ledger/tool-usage.js'
export { Sum, type Totals } from './ledger/totals.js'
export { usageRecordOf } from './ledger/usage-record.js'
export { type ScanReport, scanUsage } from './ledger/usage-scan.js'
export { forgetRedactions, pendingRedactions } from './text/redaction-tally.js'
export {
  type FilteredLog,
  type FilteredPlace,
  filteredLogs,
  filteredPlaces,
  readAgain,
  refilterLog,
} from './text/refilter-text.js'
export { scrubText } from './text/rewrite-text.js'
export { searchText, type TextAnswer, type TextHit } from './text/search-text.js'
export { TextErasure } from './text/text-erasure.js'
export { TextStore } from './text/text-store.js'
export { HistoryErasure } from './turns/history-erasure.js'
export { type FoundSession, type HistoryCounts, HistoryStore } from './turns/history-store.js'
export { type LogSource, type Stores, wasCut } from './turns/log-readings.js'
export { type CountedRows, countFacts } from './turns/log-rows.js'
export { isPart } from './turns/part-stamp.js'
export { type HistoryReading, readHistory } from './turns/read-history.js'
export { refilteredFacts } from './turns/refilter-facts.js'
export { refilterPlaces } from './turns/refilter-places.js'
