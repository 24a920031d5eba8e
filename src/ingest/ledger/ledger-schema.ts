import type { Database } from '../../disk/index.js'

/** Raised when a table changes its shape or its meaning. */
export const LEDGER_VERSION = 1

const TOKEN_COLUMNS = [
  'input_tokens',
  'output_tokens',
  'cache_read_tokens',
  'cache_write_5m_tokens',
  'cache_write_1h_tokens',
  'web_search_requests',
] as const

export const CALL_COLUMNS = [
  'tool',
  'call',
  'session',
  'model',
  'at_ms',
  ...TOKEN_COLUMNS,
  'service_tier',
  'speed',
  'logged_nano_usd',
  'copied',
] as const

export const SUM_COLUMNS = [
  'calls',
  ...TOKEN_COLUMNS,
  'tokens_nano_usd',
  'web_search_nano_usd',
  'unpriced_calls',
  'unpriced_tokens',
  'logged_nano_usd',
] as const

const integers = (columns: readonly string[]): string => columns.map((name) => `${name} integer not null`).join(', ')

/**
 * Calls are never removed: tools delete their logs after a while, and what was spent stays spent.
 *
 * - `ledger_calls`: one row per call. `session` is its owner; `copied` is 1 where `ledger_holders` has all that hold it, and 2 where one
 *   session alone has it and its log shows that it made it.
 * - `ledger_logs`: how far each log was read. Written in the same transaction as the calls found there.
 * - `ledger_cells`: the calls of a local day, session and model added up and priced, so that a report reads thousands of rows and not
 *   hundreds of thousands. Those of the sessions in `ledger_unsettled` are out of date.
 */
const SCHEMA = `
create table if not exists ledger_calls (
  tool text not null, call text not null, session text not null, model text not null, at_ms integer not null,
  ${integers(TOKEN_COLUMNS)},
  service_tier text, speed text, logged_nano_usd integer, copied integer not null default 0,
  primary key (tool, call)
) without rowid;
create index if not exists ledger_calls_by_session on ledger_calls (session, copied, at_ms);
create index if not exists ledger_calls_by_time on ledger_calls (at_ms);
create table if not exists ledger_holders (
  session text not null, tool text not null, call text not null,
  primary key (session, tool, call)
) without rowid;
create index if not exists ledger_holders_by_call on ledger_holders (tool, call);
create table if not exists ledger_logs (
  path text not null, session text not null, tool text not null, stamp text not null, carry text,
  damaged_lines integer not null, oversized_lines integer not null,
  primary key (path, session)
) without rowid;
create table if not exists ledger_cells (
  day integer not null, tool text not null, session text not null, model text not null,
  ${integers(SUM_COLUMNS)},
  primary key (session, day, tool, model)
) without rowid;
create table if not exists ledger_unsettled (session text primary key) without rowid;
create table if not exists ledger_facts (name text primary key, value text not null) without rowid;
`

/** Logs with token counts that could not be read. A table of its own, so that files that were made without it can be given it. */
export const UNREAD_TABLE = `create table if not exists ledger_unread (
  path text not null, session text not null, counts integer not null,
  primary key (path, session)
) without rowid`

/** Which sessions have a call as a copy, of which session, and when they began. Also for files that were made without it. */
export const COPIES_TABLE = `create table if not exists ledger_copies (
  tool text not null, call text not null, session text not null, origin text not null,
  into_ms integer not null,
  primary key (tool, call, session, origin, into_ms)
) without rowid`

/** Of the calls that several sessions hold: those whose log shows that they made it. Also for files that were made without it. */
export const MAKERS_TABLE = `create table if not exists ledger_makers (
  tool text not null, call text not null, session text not null,
  primary key (tool, call, session)
) without rowid`

/** Makes what is missing; call it inside a transaction. */
export function createLedgerTables(database: Database): void {
  database.exec(SCHEMA)
  database.exec(`insert or ignore into ledger_facts values ('version', '${LEDGER_VERSION}')`)
}
