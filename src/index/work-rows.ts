import type { SqlValue, Statements } from '../disk/index.js'
import {
  type Event,
  type EventId,
  factsOfItem,
  type ItemKey,
  type ItemKind,
  type ItemValues,
  itemsOf,
  type WorkItem,
  withAddress,
} from '../model/index.js'

/** Which items to list. Every filter given must hold. */
export interface ItemQuery {
  kind: ItemKind
  /** By its id, wherever it moved; by its address what names no agent that exists. */
  agent?: { id?: string; address: string }
  /** A group path; its sub-groups count too. */
  group?: string
  status?: readonly string[]
  isHooked?: boolean
  isSettled?: boolean
  /** `urgent`: by priority, then oldest first. `newest`: by time alone. */
  order: 'urgent' | 'newest'
  limit: number
}

export const WORK_TABLES = `
create table work_items (
  kind text not null,
  id text not null,
  agent_id text,
  address text,                     -- as it was when this was recorded
  group_path text,
  status text not null,
  is_hooked integer not null,
  is_settled integer not null,
  priority integer not null,
  at text not null,
  through text not null,            -- the event that said so
  record text not null,             -- the item, as JSON
  primary key (kind, id)) without rowid;
`

/** What is settled piles up; the indexes of what is not stay small. */
export const WORK_INDEXES = `
create index work_items_open on work_items (kind, priority, at, id) where is_settled = 0;
create index work_items_settled on work_items (kind, is_settled, at, id);
create index work_items_by_agent on work_items (agent_id, kind, is_settled, priority, at) where agent_id is not null;
create index work_items_by_address on work_items (address, kind, is_settled, priority, at) where address is not null;
`

const UPSERT = `insert into work_items
  (kind, id, agent_id, address, group_path, status, is_hooked, is_settled, priority, at, through, record)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (kind, id) do update set agent_id = excluded.agent_id, address = excluded.address, group_path = excluded.group_path,
    status = excluded.status, is_hooked = excluded.is_hooked, is_settled = excluded.is_settled, priority = excluded.priority,
    at = excluded.at, through = excluded.through, record = excluded.record
  where excluded.through > work_items.through`

const NOW = 'from work_items i left join agents a on a.id = i.agent_id'

/** Units of work, mails and handoff records. An item has the address that its agent has now. */
export class WorkRows {
  constructor(private readonly db: Statements) {}

  /** Written at once: a later decision of the same batch must see it. */
  apply(event: Event): void {
    const { put, gone = [] } = itemsOf(event) ?? {}
    if (put) this.#put(put, event.id)
    for (const { kind, id } of gone) {
      this.db.run('delete from work_items where kind = ? and id = ? and through < ?', kind, id, event.id)
    }
  }

  item<Kind extends ItemKind>(kind: Kind, id: string): ItemValues[Kind] | undefined {
    const row = this.db.get(`select i.kind, i.record, a.address ${NOW} where i.kind = ? and i.id = ?`, kind, id)
    return row === undefined ? undefined : (itemIn(row as Row).value as ItemValues[Kind])
  }

  items<Kind extends ItemKind>(query: ItemQuery & { kind: Kind }): ItemValues[Kind][] {
    const { where, params } = conditionsOf(query)
    const order = query.order === 'urgent' ? 'i.priority, i.at, i.id' : 'i.at desc, i.id desc'
    const sql = `select i.kind, i.record, a.address ${NOW} where ${where.join(' and ')} order by ${order} limit ?`
    const rows = this.db.all(sql, ...params, query.limit) as Row[]
    return rows.map((row) => itemIn(row).value as ItemValues[Kind])
  }

  countItems(query: Omit<ItemQuery, 'order' | 'limit'>): number {
    const { where, params } = conditionsOf(query)
    return (this.db.get(`select count(*) as n ${NOW} where ${where.join(' and ')}`, ...params) as { n: number }).n
  }

  /** The event that an item is known by now. */
  through({ kind, id }: ItemKey): EventId | undefined {
    const row = this.db.get('select through from work_items where kind = ? and id = ?', kind, id)
    return (row as { through: EventId } | undefined)?.through
  }

  /** Settled items whose last event is older than `before`. */
  settledBefore(kind: ItemKind, before: string, limit: number): ItemKey[] {
    const sql = 'select kind, id from work_items where kind = ? and is_settled = 1 and through < ? limit ?'
    return this.db.all(sql, kind, before, limit) as ItemKey[]
  }

  #put(item: WorkItem, through: EventId): void {
    const { agent_id, address, group, status, is_hooked, is_settled, priority, at } = factsOfItem(item)
    this.db.run(
      UPSERT,
      ...[item.kind, item.value.id, agent_id ?? null, address ?? null, group ?? null, status],
      ...[is_hooked ? 1 : 0, is_settled ? 1 : 0, priority, at, through, JSON.stringify(item.value)],
    )
  }
}

interface Row {
  kind: ItemKind
  record: string
  address: string | null
}

const itemIn = ({ kind, record, address }: Row): WorkItem =>
  withAddress({ kind, value: JSON.parse(record) } as WorkItem, address ?? undefined)

function conditionsOf(query: Omit<ItemQuery, 'order' | 'limit'>): { where: string[]; params: SqlValue[] } {
  const { kind, agent, group, status, isHooked, isSettled } = query
  const where = ['i.kind = ?']
  const params: SqlValue[] = [kind]
  const add = (condition: string, ...values: SqlValue[]): void => {
    where.push(condition)
    params.push(...values)
  }
  // As a literal: only then an index of what is not settled can serve it.
  if (isSettled !== undefined) add(`i.is_settled = ${isSettled ? 1 : 0}`)
  if (isHooked !== undefined) add(`i.is_hooked = ${isHooked ? 1 : 0}`)
  if (agent) {
    // Each by its own index, which has to be named: SQLite prefers the primary key and reads all that an agent has had over the years.
    const settled = isSettled === undefined ? '' : ` and x.is_settled = ${isSettled ? 1 : 0}`
    const owned = `select x.id from work_items x indexed by work_items_by_agent where x.agent_id = ? and x.kind = ?${settled}`
    const addressed = `select x.id from work_items x indexed by work_items_by_address left join agents b on b.id = x.agent_id
      where x.address = ? and x.kind = ? and b.id is null${settled}`
    add(`i.id in (${owned} union all ${addressed})`, agent.id ?? '', kind, agent.address, kind)
  }
  // '0' follows '/': everything below the group.
  if (group !== undefined)
    add('(i.group_path = ? or (i.group_path > ? and i.group_path < ?))', group, `${group}/`, `${group}0`)
  if (status) add(`i.status in (${status.map(() => '?').join(', ')})`, ...status)
  return { where, params }
}
