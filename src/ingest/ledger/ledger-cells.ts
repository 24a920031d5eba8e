import type { SqlValue } from '../../disk/index.js'
import { DAY_MS } from '../../model/index.js'
import { type CostCell, type CostQuery, type CostReport, CostTable, reportCalls } from './cost-report.js'
import type { Call } from './ledger.js'
import { SUM_COLUMNS } from './ledger-schema.js'
import type { LedgerStore } from './ledger-store.js'
import { LocalCalendar } from './local-calendar.js'
import type { PriceBook } from './price-book.js'
import { Sum } from './totals.js'

/** Longer than any local day. */
const EDGE_MS = 2 * DAY_MS

const INSERT_CELL = `insert into ledger_cells (day, tool, session, model, ${SUM_COLUMNS.join(', ')})
  values (?, ?, ?, ?, ${SUM_COLUMNS.map(() => '?').join(', ')})`

/** Brings the sums up to date with the calls, for one time zone and one state of the prices. Costs what has changed. */
export function settleLedger(store: LedgerStore, prices: PriceBook, zone: string): void {
  if (isSettled(store, prices, zone)) return
  store.inTransaction(() => {
    if (store.fact('zone') !== zone || store.fact('prices') !== prices.version) {
      store.run('delete from ledger_cells')
      store.run('insert or ignore into ledger_unsettled select distinct session from ledger_calls')
      store.setFact('zone', zone)
      store.setFact('prices', prices.version)
    }
    const calendar = new LocalCalendar(zone)
    for (const row of store.all('select session from ledger_unsettled')) {
      const { session } = row as { session: string }
      store.run('delete from ledger_cells where session = ?', session)
      writeCells(store, session, prices, calendar)
    }
    store.run('delete from ledger_unsettled')
  })
}

/** What was spent. Quick when settled for these prices and this zone; as right, and slower, when not. */
export function reportLedger(store: LedgerStore, prices: PriceBook, query: CostQuery): CostReport {
  return store.inTransaction(() => {
    const sinceMs = query.sinceMs ?? 0
    const untilMs = query.untilMs ?? Number.MAX_SAFE_INTEGER
    const isShort = untilMs - sinceMs <= 2 * EDGE_MS
    if (isShort || !isSettled(store, prices, query.zone)) {
      return reportCalls(callsBetween(store, sinceMs, untilMs), prices, query)
    }
    const table = new CostTable(query)
    const firstDay = query.sinceMs === undefined ? undefined : table.calendar.dayNumber(sinceMs)
    const lastDay = query.untilMs === undefined ? undefined : table.calendar.dayNumber(untilMs)
    for (const cell of cellsBetween(store, query, firstDay, lastDay)) table.addCell(cell)
    // The first and the last day are not whole: their calls are counted one by one.
    const addDay = (day: number, calls: Iterable<Call>): void => {
      for (const call of calls) if (table.calendar.dayNumber(call.at_ms) === day) table.addCall(call, prices)
    }
    if (firstDay !== undefined) addDay(firstDay, callsBetween(store, sinceMs, sinceMs + EDGE_MS))
    if (lastDay !== undefined) addDay(lastDay, callsBetween(store, untilMs - EDGE_MS, untilMs))
    return table.report(query.unreadCounts)
  }, 'deferred')
}

function callsBetween(store: LedgerStore, fromMs: number, untilMs: number): Iterable<Call> {
  return store.calls('at_ms >= ? and at_ms < ?', Math.ceil(fromMs), Math.ceil(untilMs))
}

function isSettled(store: LedgerStore, prices: PriceBook, zone: string): boolean {
  const isCurrent = store.fact('zone') === zone && store.fact('prices') === prices.version
  return isCurrent && store.get('select 1 from ledger_unsettled') === undefined
}

/** Grouped as far as the query allows; the model is told where it matters to the query, or has no price. */
function cellsBetween(
  store: LedgerStore,
  { by }: CostQuery,
  firstDay: number | undefined,
  lastDay: number | undefined,
): CostCell[] {
  const isByTime = by === 'day' || by === 'week' || by === 'month'
  const model = by === 'model' ? 'model' : `case when unpriced_calls > 0 then model else '' end`
  const columns = [
    isByTime ? 'day' : '0 as day',
    by === 'tool' ? 'tool' : `'' as tool`,
    isByTime || by === 'model' || by === 'tool' ? `'' as session` : 'session',
    `${model} as model`,
  ]
  const sums = SUM_COLUMNS.map((name) => `sum(${name}) as ${name}`)
  const sql = `select ${[...columns, ...sums].join(', ')} from ledger_cells where day > ? and day < ? group by 1, 2, 3, 4`
  const params: SqlValue[] = [firstDay ?? Number.MIN_SAFE_INTEGER, lastDay ?? Number.MAX_SAFE_INTEGER]
  return store.all(sql, ...params) as CostCell[]
}

function writeCells(store: LedgerStore, session: string, prices: PriceBook, calendar: LocalCalendar): void {
  const cells = new Map<string, { call: Pick<Call, 'tool' | 'model'>; day: number; sum: Sum }>()
  for (const call of store.callsOf(session)) {
    const day = calendar.dayNumber(call.at_ms)
    const key = `${day} ${call.tool} ${call.model}`
    let cell = cells.get(key)
    if (!cell) {
      cell = { call, day, sum: new Sum() }
      cells.set(key, cell)
    }
    cell.sum.addCall(call, prices.priceOf(call, call.at_ms))
  }
  for (const { call, day, sum } of cells.values()) {
    store.run(INSERT_CELL, day, call.tool, session, call.model, ...SUM_COLUMNS.map((name) => sum[name]))
  }
}
