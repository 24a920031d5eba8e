import type { Database } from '../../disk/index.js'

/** Raise it when a table changes its shape or its meaning: the tables are then recreated and the logs read again. */
export const HISTORY_VERSION = '1'

/**
 * What the tools' logs say, without any of their words: those are in a file of their own, see `text-schema.ts`.
 *
 * - `history_logs`: one row per log: how far it was read, whose it is, what could not be read in it.
 * - `turns`, `tool_calls`: one row each, by log. Sub-agents have names; the conversation itself is ''.
 */
const TABLES = `
create table history_logs (
  n integer primary key,
  path text not null,
  part text not null,               -- the session, where its place already tells it
  tool text not null,
  stamp text not null,
  resume text,
  session text,
  agent text,                       -- set for the log of a sub-agent
  news text not null,
  counters text not null,
  head text not null,
  last_at text,
  announced integer not null default 0,
  unique (path, part)
);
create index history_logs_by_session on history_logs (session, agent);
create index history_logs_unannounced on history_logs (n) where announced = 0;
create table turns (
  log integer not null, agent text not null, turn integer not null,
  started_at text, ended_at text, duration_ms integer,
  outcome text not null, asked_by text not null, follows integer not null, copied integer not null,
  compacted integer not null, prompt_chars integer not null, messages integer not null,
  primary key (log, agent, turn)
) without rowid;
create table tool_calls (
  log integer not null, call text not null, agent text not null, turn integer not null, name text not null,
  started_at text, ended_at text, duration_ms integer, success integer, argument_names text not null, result_chars integer,
  primary key (log, call)
) without rowid;
`

/** Finds the sessions that began with the same entry. Files that were made before there was a use for it get it, too. */
const BY_ROOT = `create index if not exists history_logs_by_root on history_logs (json_extract(news, '$.root'))
  where agent is null and json_extract(news, '$.root') is not null`

/** Finds the logs whose history is in another log that was not there when they were read. */
const LACKING = `create index if not exists history_logs_lacking on history_logs (n)
  where json_extract(counters, '$.missing_origins') > 0`

/** Inside a transaction. */
export function makeHistoryTables(database: Database): void {
  database.exec('drop table if exists history_logs; drop table if exists turns; drop table if exists tool_calls')
  database.exec(TABLES)
}

export const makeHistoryIndexes = (database: Database): void => database.exec(`${BY_ROOT}; ${LACKING}`)
