// Over 400 lines: every SQL statement of the index is here, so that nothing else knows SQL.
import { pathToFileURL } from 'node:url'
import { type Database, openDatabase, Statements } from '../disk/index.js'
import {
  type Agent,
  type AgentAddress,
  type Event,
  type EventId,
  type Group,
  type ItemKind,
  type ItemValues,
  Roster,
  type Session,
  type SessionId,
  splitAddress,
} from '../model/index.js'
import type { Cursor, LocalIndex } from './local-index.js'
import { type FoldedSession, groupsOf, isFoundTheSame, isOwnRig, Projection, type RowStore } from './projection.js'
import { INDEXES, SCHEMA_VERSION, TABLES } from './schema.js'
import type { ChargedTo } from './session-index.js'
import type { SessionPage, SessionQuery } from './session-query.js'
import { makeCursor, movedInto, sessionsQuery, type TitleMatch } from './sessions-query.js'
import { COMPARED, UPDATE_OUTCOME, UPDATE_RECORD, UPSERT, UPSERT_AGENT, UPSERT_GROUP } from './statements.js'
import { type ItemQuery, WorkRows } from './work-rows.js'

/** Rows in memory before a bulk load writes them: keeps a rebuild of any size in a few dozen megabytes. */
const BULK_ROWS = 20_000
/** Up to this many title hits are collected and sorted; beyond, walking the list finds a page sooner. */
const FEW_TITLES = 500
const START: Cursor = { position: { segment: 0, offset: 0 }, id: undefined }

/** As short as an id is shown to people. */
const SHORTEST_ID = 8

/** The index in one SQLite file. Derived and disposable: whatever is wrong with it, the answer is to build it again. */
export class SqliteIndex implements LocalIndex, RowStore {
  readonly #db: Statements
  readonly work: WorkRows
  #roster: { roster: Roster; through: EventId | undefined } | undefined
  /** While loading in bulk the search tables are filled at the end. */
  #bulk = false
  /** The highest event that a file read while loading has folded. */
  #highest: EventId | undefined

  private constructor(private readonly database: Database) {
    this.#db = new Statements(database)
    this.work = new WorkRows(this.#db)
  }

  /** Opens an index, or returns undefined when the file is of another version (or empty) and must be rebuilt. */
  static open(path: string, options: { readOnly: boolean } = { readOnly: false }): SqliteIndex | undefined {
    // A directory that cannot be written has no room for the log's shared memory: read the file as it is.
    const database = options.readOnly ? openDatabase(immutable(path), options) : openDatabase(path)
    try {
      // NORMAL: a power cut may cost the last commits of a file that is caught up from the journal anyway.
      // In memory: what a statement would need to be undone alone, which is a page or two and seldom looked at.
      database.exec('pragma busy_timeout = 10000; pragma synchronous = normal; pragma temp_store = memory')
      const { user_version } = database.prepare('pragma user_version').get() as { user_version: number }
      if (user_version === SCHEMA_VERSION) {
        // Set here and not when it is built: a file that is only being built needs no log.
        if (!options.readOnly) database.exec('pragma journal_mode = wal')
        return new SqliteIndex(database)
      }
    } catch (error) {
      database.close()
      throw error
    }
    database.close()
    return undefined
  }

  /** A new index, filled by `load` without a log: should it be interrupted, the file is thrown away. The caller closes it. */
  static build(path: string, load: (index: SqliteIndex) => void): SqliteIndex {
    const database = openDatabase(path)
    try {
      database.exec(`pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -32000; ${TABLES} begin`)
      const index = new SqliteIndex(database)
      index.#bulk = true
      load(index)
      if (index.#highest) index.#setMeta('highest_folded', index.#highest)
      index.#fillSearchTables()
      database.exec(
        `pragma user_version = ${SCHEMA_VERSION}; commit; pragma journal_mode = delete; pragma synchronous = normal`,
      )
      index.#bulk = false
      return index
    } catch (error) {
      database.close()
      throw error
    }
  }

  cursor(): Cursor {
    const stored = this.#meta('cursor')
    return stored ? (JSON.parse(stored) as Cursor) : START
  }

  lastId(): EventId | undefined {
    const read = this.cursor().id
    const folded = this.#meta('highest_folded') as EventId | undefined
    return folded !== undefined && (read === undefined || folded > read) ? folded : read
  }

  setCursor(cursor: Cursor): void {
    this.#setMeta('cursor', JSON.stringify(cursor))
  }

  transaction<T>(body: () => T): T {
    try {
      return this.#db.inTransaction(body)
    } catch (error) {
      this.#roster = undefined // it may hold what was just undone
      throw error
    }
  }

  fold(events: Iterable<Event>): FoldedSession[] {
    const projection = this.projection()
    for (const event of events) projection.apply(event)
    return this.writeProjection(projection)
  }

  projection(): Projection {
    const { roster, through } = this.#currentRoster()
    return new Projection(this, roster, through)
  }

  writeProjection(projection: Projection): FoldedSession[] {
    this.#writeRoster(projection)
    return projection.flush()
  }

  foldAll(batches: Iterable<readonly Event[]>): void {
    const projection = this.projection()
    for (const events of batches) {
      for (const event of events) projection.apply(event)
      if (projection.size >= BULK_ROWS) projection.flush()
    }
    this.writeProjection(projection)
  }

  // --- rows -------------------------------------------------------------------------------------------------------

  read(id: SessionId): FoldedSession | undefined {
    const row = this.#db.prepared('select record, through from sessions where id = ?').get(id) as Row | undefined
    return row && { session: JSON.parse(row.record) as Session, through: row.through as EventId }
  }

  write({ session, through }: FoldedSession, before: Session | undefined): void {
    const record = JSON.stringify(session)
    const outcome = session.outcome ?? 'active'
    if (before && isFoundTheSame(before, session)) {
      const sql = before.outcome === session.outcome ? UPDATE_RECORD : UPDATE_OUTCOME
      const values =
        before.outcome === session.outcome ? [record, through, session.id] : [record, through, outcome, session.id]
      this.#db.prepared(sql).run(...values)
      return
    }
    const { id, agent, agent_id, role, tool, work_unit, chain_id, forked_from, started_at, title } = session
    const { n } = this.#db
      .prepared(UPSERT)
      .get(
        ...[id, agent ?? null, agent_id ?? null, role ?? null, tool ?? null, work_unit ?? null, chain_id],
        ...[forked_from?.session ?? null, outcome, started_at, title ?? null, through, record],
      ) as { n: number }
    if (!this.#bulk) this.#writeSearchRows(n, session, before)
  }

  load(folded: FoldedSession): void {
    const stored = this.read(folded.session.id)
    if (stored && stored.through >= folded.through) return
    this.write(folded, stored?.session)
    this.markSaved(folded)
    this.#noteFolded(folded.through)
  }

  loadRoster(agents: readonly Agent[], groups: readonly Group[], through: EventId | undefined): void {
    this.#roster = { roster: new Roster(agents, groups), through }
    for (const agent of agents) this.#db.prepared(UPSERT_AGENT).run(agent.id, agent.address, JSON.stringify(agent))
    for (const group of groups) this.#db.prepared(UPSERT_GROUP).run(group.path, JSON.stringify(group))
    if (!through) return
    this.#setMeta('roster_through', through)
    this.#noteFolded(through)
  }

  #noteFolded(through: EventId): void {
    if (this.#highest === undefined || through > this.#highest) this.#highest = through
  }

  markSaved({ session, through }: FoldedSession): void {
    this.#db.prepared('update sessions set saved = ? where id = ?').run(through, session.id)
  }

  isSaved(id: SessionId): boolean {
    return (
      this.#db.prepared('select 1 from sessions where id = ? and (saved is null or saved < through)').get(id) ===
      undefined
    )
  }

  unsaved(limit: number): FoldedSession[] {
    const rows = this.#db
      .prepared('select record, through from sessions where saved is null or saved < through limit ?')
      .all(limit) as Row[]
    return rows.map((row) => ({ session: JSON.parse(row.record) as Session, through: row.through as EventId }))
  }

  // --- questions --------------------------------------------------------------------------------------------------

  get(id: SessionId): Session | undefined {
    const session = this.read(id)?.session
    return session && this.#asNow(session)
  }

  /** With the address that its agent has now. What it was called then is in the journal, and lists by that name find it, too. */
  #asNow(session: Session): Session {
    if (session.agent_id === undefined) return session
    const row = this.#db.prepared('select address from agents where id = ?').get(session.agent_id)
    const { address } = (row ?? {}) as { address?: AgentAddress }
    return address === undefined || address === session.agent ? session : { ...session, agent: address }
  }

  idsWithPrefix(prefix: string, limit: number): SessionId[] {
    // '\uffff' sorts behind every character an id may have.
    const rows = this.#db
      .prepared('select id from sessions where id >= ? and id < ? order by id limit ?')
      .all(prefix, `${prefix}\uffff`, limit)
    return (rows as { id: SessionId }[]).map((row) => row.id)
  }

  shortIds(ids: readonly string[]): Map<string, string> {
    return new Map(ids.map((id) => [id, this.#shortId(id)]))
  }

  #shortId(id: string): string {
    const beside = [
      this.#db.prepared('select id from sessions where id < ? order by id desc limit 1').get(id),
      this.#db.prepared('select id from sessions where id > ? order by id limit 1').get(id),
    ] as ({ id: string } | undefined)[]
    let length = SHORTEST_ID
    for (const other of beside) {
      let same = 0
      while (other && same < id.length && id[same] === other.id[same]) same += 1
      length = Math.max(length, same + 1)
    }
    while (id[length - 1] === '-') length += 1 // a dash at the end is easily lost
    return id.slice(0, length)
  }

  list(filter: SessionQuery): SessionPage {
    const at = filter.agent === undefined ? undefined : this.#agentIdAt(filter.agent)
    const movedIn = filter.rig === undefined ? [] : this.#movedInto(filter.rig)
    const { limit, query } = sessionsQuery(
      filter,
      { at, movedIn },
      {
        title: this.#titleMatch(filter.title),
        text: this.#titleMatch(filter.text),
      },
    )
    const rows = this.#db.prepared(query.sql).all(...query.params) as {
      record: string
      started_at: string
      id: string
    }[]
    const sessions = rows.slice(0, limit).map((row) => this.#asNow(JSON.parse(row.record) as Session))
    const last = rows[limit - 1]
    return rows.length > limit && last
      ? { sessions, next_cursor: makeCursor({ startedAt: last.started_at, id: last.id }) }
      : { sessions }
  }

  /** Oldest first. Served by (chain_id, started_at, id). */
  chain(chainId: SessionId): Session[] {
    return this.#records('select record from sessions where chain_id = ? order by started_at, id', chainId)
  }

  /** Oldest first. Served by (forked_from). */
  forksOf(id: SessionId): Session[] {
    return this.#records('select record from sessions where forked_from = ? order by started_at, id', id)
  }

  /** The chains that sessions of a work unit belong to. Served by (work_unit, started_at, id). */
  chainsOfWork(workUnit: string): SessionId[] {
    const rows = this.#db
      .prepared(
        'select chain_id, min(started_at) as first from sessions where work_unit = ? group by chain_id order by first',
      )
      .all(workUnit)
    return (rows as { chain_id: SessionId }[]).map((row) => row.chain_id)
  }

  places(): Map<string, ChargedTo> {
    const sql = `select s.id, coalesce(a.address, s.agent) as agent, s.agent as recorded, s.chain_id as chain, s.work_unit as work,
      json_extract(s.record, '$.cwd') as project, json_extract(s.record, '$.branch') as branch,
      json_extract(s.record, '$.rig') as rig
      from sessions s left join agents a on a.id = s.agent_id`
    const rows = this.#db.prepared(sql).all() as (ChargedTo & {
      id: string
      agent: AgentAddress | null
      recorded: AgentAddress | null
      rig: string | null
    })[]
    return new Map(
      rows.map(({ id, rig, recorded, ...place }) => {
        const named = rig && isOwnRig({ agent: recorded ?? undefined, rig }) ? rig : null
        const group = (place.agent && splitAddress(place.agent).group) ?? named
        return [id, { ...place, group }]
      }),
    )
  }

  roster(): Roster {
    return this.#currentRoster().roster
  }

  rosterThrough(): EventId | undefined {
    return this.#currentRoster().through
  }

  agents(): Agent[] {
    return (this.#db.prepared('select record from agents order by address').all() as { record: string }[]).map(
      (row) => JSON.parse(row.record) as Agent,
    )
  }

  groups(): Group[] {
    return (this.#db.prepared('select record from groups order by path').all() as { record: string }[]).map(
      (row) => JSON.parse(row.record) as Group,
    )
  }

  counts(): { sessions: number; agents: number } {
    return this.#db
      .prepared('select (select count(*) from sessions) as sessions, (select count(*) from agents) as agents')
      .get() as {
      sessions: number
      agents: number
    }
  }

  item<Kind extends ItemKind>(kind: Kind, id: string): ItemValues[Kind] | undefined {
    return this.work.item(kind, id)
  }

  items<Kind extends ItemKind>(query: ItemQuery & { kind: Kind }): ItemValues[Kind][] {
    return this.work.items(query)
  }

  countItems(query: Omit<ItemQuery, 'order' | 'limit'>): number {
    return this.work.countItems(query)
  }

  note(key: string): string | undefined {
    return this.#meta(`note:${key}`)
  }

  setNote(key: string, value: string): void {
    this.#setMeta(`note:${key}`, value)
  }

  *everyRow(): Generator<{ table: string; key: string; value: string }> {
    for (const [table, sql] of COMPARED) {
      for (const row of this.database.prepare(sql).iterate() as IterableIterator<{ key: string; value: string }>) {
        yield { table, key: row.key, value: row.value }
      }
    }
  }

  /** What SQLite itself says about the file. Empty when it is sound. */
  integrityProblems(): string[] {
    const rows = this.database.prepare('pragma integrity_check(20)').all() as { integrity_check: string }[]
    return rows.map((row) => row.integrity_check).filter((line) => line !== 'ok')
  }

  replaceWith(path: string): void {
    this.database.prepare('attach ? as fresh').run(path)
    try {
      this.transaction(() => {
        for (const table of ['meta', 'sessions', 'session_groups', 'agents', 'groups', 'work_items']) {
          this.database.exec(`delete from main.${table}; insert into main.${table} select * from fresh.${table}`)
        }
        this.database.exec(
          "insert into titles (titles) values ('delete-all'); insert into titles (rowid, title) select n, title from sessions where title is not null",
        )
      })
      this.#roster = undefined
    } finally {
      this.database.exec('detach fresh')
    }
  }

  /** Rewrites the file, so that what was removed is not left in unused pages. */
  scrub(): void {
    // The copy that a vacuum makes is as large as the file.
    this.database.exec('pragma temp_store = file; vacuum; pragma wal_checkpoint(truncate); pragma temp_store = memory')
  }

  [Symbol.dispose](): void {
    this.#db.close()
  }

  // --- private ----------------------------------------------------------------------------------------------------

  #currentRoster(): { roster: Roster; through: EventId | undefined } {
    const through = this.#meta('roster_through') as EventId | undefined
    if (!this.#roster || this.#roster.through !== through) {
      this.#roster = { roster: new Roster(this.agents(), this.groups()), through }
    }
    return this.#roster
  }

  #writeRoster(projection: Projection): void {
    const { roster, rosterChange, rosterThrough } = projection
    if (rosterThrough === this.#roster?.through) return
    // Removals first: an address may have passed from one agent to another.
    for (const id of rosterChange.agents) this.#db.prepared('delete from agents where id = ?').run(id)
    for (const id of rosterChange.agents) {
      const agent = roster.agents.get(id as Agent['id'])
      if (agent) this.#db.prepared(UPSERT_AGENT).run(agent.id, agent.address, JSON.stringify(agent))
    }
    for (const path of rosterChange.groups) {
      const group = roster.groups.get(path as Group['path'])
      if (group) this.#db.prepared(UPSERT_GROUP).run(group.path, JSON.stringify(group))
      else this.#db.prepared('delete from groups where path = ?').run(path)
    }
    if (rosterThrough) this.#setMeta('roster_through', rosterThrough)
    this.#roster = { roster, through: rosterThrough }
  }

  #writeSearchRows(n: number, session: Session, before: Session | undefined): void {
    if (before?.title !== session.title) {
      if (before?.title !== undefined) this.#db.prepared('delete from titles where rowid = ?').run(n)
      if (session.title !== undefined)
        this.#db.prepared('insert into titles (rowid, title) values (?, ?)').run(n, session.title)
    }
    if (before) this.#deleteGroups(before)
    for (const path of groupsOf(session)) {
      this.#db
        .prepared('insert or ignore into session_groups (path, started_at, id) values (?, ?, ?)')
        .run(path, session.started_at, session.id)
    }
  }

  #deleteGroups(session: Session): void {
    for (const path of groupsOf(session)) {
      this.#db
        .prepared('delete from session_groups where path = ? and started_at = ? and id = ?')
        .run(path, session.started_at, session.id)
    }
  }

  #fillSearchTables(): void {
    const insert = this.#db.prepared('insert or ignore into session_groups (path, started_at, id) values (?, ?, ?)')
    for (const row of this.database.prepare('select record from sessions').iterate() as IterableIterator<{
      record: string
    }>) {
      const session = JSON.parse(row.record) as Session
      for (const path of groupsOf(session)) insert.run(path, session.started_at, session.id)
    }
    this.database.exec(
      `${INDEXES}; insert into titles (rowid, title) select n, title from sessions where title is not null`,
    )
  }

  #titleMatch(title: string | undefined): TitleMatch | undefined {
    if (title === undefined || [...title].length < 3) return undefined // shorter than a trigram: the list is walked
    const phrase = `"${title.replaceAll('"', '""')}"`
    const rows = this.#db
      .prepared('select rowid as n from titles where titles match ? limit ?')
      .all(phrase, FEW_TITLES + 1) as { n: number }[]
    return rows.length > FEW_TITLES ? { kind: 'many' } : { kind: 'few', rows: rows.map((row) => row.n) }
  }

  #agentIdAt(address: string): string | undefined {
    return (this.#db.prepared('select id from agents where address = ?').get(address) as { id: string } | undefined)?.id
  }

  #movedInto(group: string): string[] {
    const { sql, params } = movedInto(group)
    return (this.#db.prepared(sql).all(...params) as { id: string }[]).map(({ id }) => id)
  }

  #records(sql: string, key: string): Session[] {
    const rows = this.#db.prepared(sql).all(key) as { record: string }[]
    return rows.map((row) => this.#asNow(JSON.parse(row.record) as Session))
  }

  #meta(key: string): string | undefined {
    return (this.#db.prepared('select value from meta where key = ?').get(key) as { value: string } | undefined)?.value
  }

  #setMeta(key: string, value: string): void {
    this.#db
      .prepared('insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value')
      .run(key, value)
  }
}

const immutable = (path: string): string => `${pathToFileURL(path).href}?immutable=1`

interface Row {
  record: string
  through: string
}
