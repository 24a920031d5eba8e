import type { Database } from '../../disk/index.js'

/** Raise it when a table changes its shape or its meaning: the tables are then recreated and filled from the logs that exist. */
export const TEXT_VERSION = '2'

/**
 * What was said, filtered, compressed, and the index of its words. In a file of its own: it is many times the size of the rest.
 *
 * - `text_logs`: one row per log: how far its text was read, and whose it is.
 * - `text_blocks`: compressed text. One block holds many passages of one log, because small texts compress badly.
 * - `passages`: a prompt, a reply, a tool call with its result, or a title. Ids are consecutive, since gaps cost space in the index.
 * - `text_spans`: stretches of ids that were stored in the order of time (but for `SPAN_SLACK_MS`), so that the newest matches are
 *   found without looking at the others.
 * - `words`: which words are in which passage. It keeps neither texts nor positions, which makes it a tenth of the text's size;
 *   phrases and snippets are looked up in the blocks.
 */
const TABLES = `
create table text_facts (name text primary key, value text not null) without rowid;
create table text_logs (
  n integer primary key,
  path text not null,
  part text not null,
  tool text not null,
  stamp text not null,
  place text,                       -- a digest of the place up to which it was read
  session text,
  agent text,
  cwd text,
  unique (path, part)
);
create table text_blocks (n integer primary key, log integer not null, size integer not null, data blob not null);
create index text_blocks_by_log on text_blocks (log);
create table passages (
  id integer primary key,
  log integer not null,
  key integer not null,             -- what it is in its log; a later telling with the same key replaces it
  agent text not null,
  turn integer not null,
  kind integer not null,
  tool text,                        -- the tool that was called
  at_ms integer,
  block integer not null, start integer not null, length integer not null
);
create unique index passages_by_key on passages (log, key);
create table text_spans (first integer primary key, last integer not null, min_ms integer not null, max_ms integer not null);
create virtual table words using fts5(text, content='', contentless_delete=1, detail=none, tokenize='unicode61 remove_diacritics 0');
create virtual table words_vocabulary using fts5vocab(words, row);
`

/**
 * Tables that came later; a file without them is as good as one in which they are empty.
 *
 * - `text_policies`: under which policy the text of a log was filtered. No row: nobody knows. `mixed`: under several.
 * - `text_redactions`: what was filtered and the journal was not told yet.
 */
export const LATER_TABLES = `
create table if not exists text_policies (log integer primary key, fingerprint text not null);
create table if not exists text_redactions (
  session text not null, tool text not null, rule text not null, times integer not null,
  primary key (session, tool, rule)
) without rowid;
`

/** Inside a transaction. */
export function makeTextTables(database: Database): void {
  const names = [
    ...['words_vocabulary', 'words', 'text_facts', 'text_logs', 'text_blocks', 'passages', 'text_spans'],
    ...['text_policies', 'text_redactions'],
  ]
  for (const name of names) database.exec(`drop table if exists ${name}`)
  database.exec(TABLES + LATER_TABLES)
  database.exec(`insert into text_facts values ('version', '${TEXT_VERSION}'), ('passages', '0')`)
  // Words are gathered in memory up to this many bytes before they are written: fewer pieces to merge later.
  database.exec("insert into words (words, rank) values ('hashsize', 16777216)")
}
