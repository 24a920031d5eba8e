import type { Statements } from '../../disk/index.js'
import type { LogRef } from '../../tools/index.js'

/** Where a log is of which something is stored. */
export interface StoredPlace {
  path: string
  part: string
  tool: string
  stamp: string
}

/** The stamp of each log in a table, by path and part. As one text: a value at a time out of SQLite takes several times as long. */
export function stampsIn(db: Statements, table: 'history_logs' | 'text_logs'): Map<string, string> {
  const { stamps } = db.get(`select json_group_array(json_array(path, part, stamp)) as stamps from ${table}`) as {
    stamps: string
  }
  const rows = JSON.parse(stamps) as [path: string, part: string, stamp: string][]
  return new Map(rows.map(([path, part, stamp]) => [`${path}\0${part}`, stamp]))
}

/** What tells apart the logs under one path: the session, where a database holds many. */
export const partOf = (log: LogRef): string => log.session ?? ''
