import { unreachable } from '../../model/index.js'
import type { Call } from './ledger.js'
import { LocalCalendar } from './local-calendar.js'
import type { PriceBook } from './price-book.js'
import { Sum, type SumRow, type Totals } from './totals.js'
import { compare } from './usage-record.js'

export const COST_GROUPS = [
  ...(['day', 'week', 'month', 'model', 'tool', 'agent', 'session', 'chain', 'work'] as const),
  ...(['project', 'branch', 'group'] as const),
] as const
export type CostGroup = (typeof COST_GROUPS)[number]

/** What the calls of a session are charged to besides the session itself. */
export type SessionPlace = { readonly [By in PlaceGroup]?: string | null | undefined }
type PlaceGroup = 'agent' | 'chain' | 'work' | 'project' | 'branch' | 'group'

export interface CostQuery {
  by: CostGroup
  /** Days, weeks and months are those of this time zone (an IANA name). */
  zone: string
  sinceMs?: number | undefined
  /** Exclusive. */
  untilMs?: number | undefined
  /** Needed for what the logs do not tell: `agent`, `chain`, `work`, `project`, `branch` and `group`. */
  placeOf?: ((session: string) => SessionPlace | undefined) | undefined
  /** Records in the logs whose token counts could not be read. */
  unreadCounts?: number | undefined
}

export interface CostRow extends Totals {
  /** Undefined collects what has no such thing: sessions without an agent, for one. */
  key: string | undefined
}

export interface CostReport {
  by: CostGroup
  zone: string
  /** By key; the row without a key comes last. */
  rows: CostRow[]
  total: Totals
  /** Records of logs with a token count that is no number: what it stood for is not in the sums. */
  unread_counts: number
}

/** The calls of one local day, session and model, added up. */
export interface CostCell extends SumRow {
  day: number
  tool: string
  session: string
  model: string
}

/** The cold way: from every call. */
export function reportCalls(calls: Iterable<Call>, prices: PriceBook, query: CostQuery): CostReport {
  const table = new CostTable(query)
  const { sinceMs = Number.NEGATIVE_INFINITY, untilMs = Number.POSITIVE_INFINITY } = query
  for (const call of calls) if (call.at_ms >= sinceMs && call.at_ms < untilMs) table.addCall(call, prices)
  return table.report(query.unreadCounts)
}

/** Adds up calls, and sums of calls, into the rows that a query asks for. */
export class CostTable {
  readonly calendar: LocalCalendar
  readonly #byDay = new Map<number, Sum>()
  readonly #byKey = new Map<string | undefined, Sum>()

  constructor(private readonly query: CostQuery) {
    this.calendar = new LocalCalendar(query.zone)
  }

  addCall(call: Call, prices: PriceBook): void {
    const sum = this.#sumFor(this.calendar.dayNumber(call.at_ms), call)
    sum.addCall(call, prices.priceOf(call, call.at_ms))
  }

  /** The cell's day must be one of the query's zone. */
  addCell(cell: CostCell): void {
    this.#sumFor(cell.day, cell).addRow(cell, [cell.model])
  }

  report(unread_counts = 0): CostReport {
    const rows = [...this.#byKey].map(([key, sum]) => ({ key, ...sum.totals() }))
    rows.sort((a, b) => Number(a.key === undefined) - Number(b.key === undefined) || compare(a.key ?? '', b.key ?? ''))
    const total = new Sum()
    for (const sum of this.#byKey.values()) total.add(sum)
    return { by: this.query.by, zone: this.query.zone, rows, total: total.totals(), unread_counts }
  }

  #sumFor(day: number, item: { tool: string; session: string; model: string }): Sum {
    const { by } = this.query
    switch (by) {
      case 'day':
      case 'week':
      case 'month':
        return sumAt(this.#byDay, day, () => this.#sumOf(this.#labelOf(by, day)))
      case 'model':
        return this.#sumOf(item.model)
      case 'tool':
        return this.#sumOf(item.tool)
      case 'session':
        return this.#sumOf(item.session)
      case 'chain': // a session that was read for its cost alone, and is not known yet, continues none
        return this.#sumOf(this.query.placeOf?.(item.session)?.chain ?? item.session)
      case 'agent':
      case 'work':
      case 'project':
      case 'branch':
      case 'group':
        return this.#sumOf(this.query.placeOf?.(item.session)?.[by] ?? undefined)
      default:
        return unreachable(by)
    }
  }

  #labelOf(by: 'day' | 'week' | 'month', day: number): string {
    if (by === 'week') return this.calendar.weekLabel(day)
    return by === 'month' ? this.calendar.monthLabel(day) : this.calendar.dayLabel(day)
  }

  #sumOf(key: string | undefined): Sum {
    return sumAt(this.#byKey, key, () => new Sum())
  }
}

function sumAt<Key>(sums: Map<Key, Sum>, key: Key, make: () => Sum): Sum {
  let sum = sums.get(key)
  if (!sum) {
    sum = make()
    sums.set(key, sum)
  }
  return sum
}
