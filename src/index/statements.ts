/* The statements that write sessions and agents, and the rows that a check compares. */

export const UPDATE_RECORD = 'update sessions set record = ?, through = ? where id = ?'
export const UPDATE_OUTCOME = 'update sessions set record = ?, through = ?, outcome = ? where id = ?'
export const UPSERT = `insert into sessions (id, agent, agent_id, role, tool, work_unit, chain_id, forked_from, outcome, started_at, title, through, record)
  values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  on conflict (id) do update set agent = excluded.agent, agent_id = excluded.agent_id, role = excluded.role, tool = excluded.tool,
    work_unit = excluded.work_unit, chain_id = excluded.chain_id, forked_from = excluded.forked_from, outcome = excluded.outcome,
    started_at = excluded.started_at, title = excluded.title, through = excluded.through, record = excluded.record
  returning n`
export const UPSERT_AGENT =
  'insert into agents (id, address, record) values (?, ?, ?) on conflict (id) do update set address = excluded.address, record = excluded.record'
export const UPSERT_GROUP =
  'insert into groups (path, record) values (?, ?) on conflict (path) do update set record = excluded.record'

/** Everything but the cursor and the notes about files, which say how the rows came about, not what they are. */
export const COMPARED: readonly (readonly [string, string])[] = [
  ['sessions', 'select id as key, through || record as value from sessions order by id'],
  [
    'sessions columns',
    `select id as key, json_array(agent, agent_id, role, tool, work_unit, chain_id, forked_from, outcome, started_at, title) as value from sessions order by id`,
  ],
  [
    'session_groups',
    "select path || ' ' || started_at || ' ' || id as key, '' as value from session_groups order by path, started_at, id",
  ],
  ['agents', 'select id as key, record as value from agents order by id'],
  ['groups', 'select path as key, record as value from groups order by path'],
  ['titles', "select s.id as key, '' as value from titles t join sessions s on s.n = t.rowid order by s.id"],
  ['work_items', "select kind || ' ' || id as key, through || record as value from work_items order by kind, id"],
  [
    'work_items columns',
    `select kind || ' ' || id as key, json_array(agent_id, address, group_path, status, is_hooked, is_settled, priority, at) as value
      from work_items order by kind, id`,
  ],
]
