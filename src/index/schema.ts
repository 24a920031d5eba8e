import { WORK_INDEXES, WORK_TABLES } from './work-rows.js'

/** Raised with every change below: an index of another version is rebuilt, never migrated. */
export const SCHEMA_VERSION = 3

/** Enough to load rows one by one; the rest is cheaper to make when all rows are there. */
export const TABLES = `
create table meta (key text primary key, value text not null) without rowid;
create table sessions (
  n integer primary key,
  id text not null unique,
  agent text,
  agent_id text,
  role text,
  tool text,
  work_unit text,
  chain_id text not null,
  forked_from text,
  outcome text not null,            -- 'active' while there is none
  started_at text not null,
  title text,
  through text not null,            -- the last event folded into it
  saved text,                       -- the same for its record on disk; null when there is none
  record text not null              -- the session, as JSON
);
create table session_groups (path text not null, started_at text not null, id text not null,
  primary key (path, started_at, id)) without rowid;
create table agents (id text primary key, address text not null unique, record text not null) without rowid;
create table groups (path text primary key, record text not null) without rowid;
${WORK_TABLES}`

/** One index per question, each ending in the order of the answer, so that no list is ever sorted. */
export const INDEXES = `
create index sessions_by_start on sessions (started_at, id);
create index sessions_by_agent on sessions (agent, started_at, id) where agent is not null;
create index sessions_by_agent_id on sessions (agent_id, started_at, id) where agent_id is not null;
create index sessions_by_agent_names on sessions (agent_id, agent) where agent_id is not null;
create index sessions_by_role on sessions (role, started_at, id) where role is not null;
create index sessions_by_tool on sessions (tool, started_at, id) where tool is not null;
create index sessions_by_work on sessions (work_unit, started_at, id) where work_unit is not null;
create index sessions_by_chain on sessions (chain_id, started_at, id);
create index sessions_by_outcome on sessions (outcome, started_at, id);
create index sessions_by_origin on sessions (forked_from) where forked_from is not null;
create index sessions_unsaved on sessions (id) where saved is null or saved < through;
create virtual table titles using fts5 (title, content = '', contentless_delete = 1, tokenize = 'trigram', detail = 'full');
${WORK_INDEXES}`
