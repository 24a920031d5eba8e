import { readFileSync } from 'node:fs'
import { ForeignDatabase } from '../src/disk/index.js'
import { type Fact, LOG_TOOLS } from '../src/tools/index.js'
import { isObject, type JsonObject } from '../src/tools/json-value.js'
import type { Scratch } from './scratch.js'

/** The program's own log of a session: its file, or its rows in the program's database. */
export interface SourceLog {
  path: string
  isDatabase: boolean
  content(): Buffer
  facts(): Fact[]
}

export function sourceLog(name: string, { home }: Scratch, session: string): SourceLog {
  const tool = LOG_TOOLS.find((one) => one.name === name)
  const found = () =>
    tool?.discover({ home, env: {} }).find((one) => {
      return one.agent === undefined && (one.session ?? tool.identify(one).id) === session
    })
  const path = found()?.path
  if (!tool || path === undefined) throw new Error(`no log of ${session}`)
  const isDatabase = path.endsWith('.db')
  return {
    path,
    isDatabase,
    content: () => (isDatabase ? rowsOf(path, session) : readFileSync(path)),
    facts: () => {
      const log = found()
      return log ? [...tool.read(log)] : []
    },
  }
}

function rowsOf(path: string, session: string): Buffer {
  using foreign = new ForeignDatabase(path)
  const read = (sql: string, ...values: string[]) => foreign.database.prepare(sql).all(...values) as JsonObject[]
  const columns = read(
    "select m.name as t, p.name as c from sqlite_master m join pragma_table_info(m.name) p where m.type = 'table'",
  )
  const owned = columns.filter(({ t, c }) => c === 'session_id' || (t === 'session' && c === 'id'))
  return Buffer.from(
    owned
      .map(({ t, c }) => {
        const rows = read(`select * from "${t}" where "${c}" = ? order by 1, 2`, session)
        return `${t}\n${JSON.stringify(rows.map(withoutSummary))}`
      })
      .join('\n'),
  )
}

/** opencode works out in the background what a turn changed, and writes it into the rows some time after the turn. */
function withoutSummary(row: JsonObject): JsonObject {
  const kept = Object.entries(row).filter(([name]) => name !== 'time_updated' && !name.startsWith('summary_'))
  return Object.fromEntries(
    kept.map(([name, value]) => {
      const data: unknown = name === 'data' && typeof value === 'string' ? JSON.parse(value) : undefined
      return [name, isObject(data) ? { ...data, summary: data.summary === true } : value]
    }),
  )
}
