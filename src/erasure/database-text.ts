import type { Database, SqlValue } from '../disk/index.js'
import type { Forgetter } from '../privacy/index.js'
import { parsed } from './file-text.js'

/** Columns by which rows are found again, and which no person ever wrote. */
const KEYS = new Set([
  'path',
  'part',
  'stamp',
  'session',
  'call',
  'key',
  'id',
  'fingerprint',
  'revision',
  'kind',
  'place',
])
/** `isKey`: further columns of a store that no person ever wrote. */
interface DatabaseErasure {
  dryRun: boolean
  isKey?: (table: string, column: string) => boolean
}

interface Table {
  name: string
  /** What identifies a row. */
  keys: string[]
  texts: string[]
}

/** Tables that hold rows of ours: no search index, nor what SQLite keeps for one. */
export function tablesOf(database: Database): Table[] {
  const all = database.prepare("select name, sql from sqlite_master where type = 'table'").all() as {
    name: string
    sql: string | null
  }[]
  const virtual = all.filter(({ sql }) => /^create virtual/i.test(sql ?? '')).map(({ name }) => name)
  const isOurs = (name: string): boolean =>
    !name.startsWith('sqlite_') && !virtual.some((one) => name === one || name.startsWith(`${one}_`))
  return all
    .filter(({ name }) => isOurs(name))
    .map(({ name, sql }) => {
      const columns = database.prepare(`pragma table_info(${quoted(name)})`).all() as {
        name: string
        type: string
        pk: number
      }[]
      const primary = columns.filter(({ pk }) => pk > 0).map((column) => column.name)
      const hasRowid = !/without rowid\s*;?\s*$/i.test(sql ?? '')
      return {
        name,
        keys: hasRowid ? ['rowid'] : primary,
        texts: columns.filter(({ type }) => /text|^$/i.test(type)).map((column) => column.name),
      }
    })
}

/** Takes what must go out of every text of a database. Inside a transaction unless it is only counted. */
export function forgetInDatabase(
  database: Database,
  forgetter: Forgetter,
  { dryRun, isKey = () => false }: DatabaseErasure,
): number {
  let count = 0
  for (const table of tablesOf(database)) {
    const texts = table.texts.filter((name) => !KEYS.has(name) && !isKey(table.name, name))
    if (texts.length === 0) continue
    for (const { row, column, text } of textsIn(database, { ...table, texts })) {
      const document = parsed(text)
      const { value, count: found } = document ? forgetter.json(document.value, column) : forgetter.json(text, column)
      count += found
      if (found === 0 || dryRun) continue
      const changed = typeof value === 'string' ? value : JSON.stringify(value)
      const where = table.keys.map((key) => `${quoted(key)} is ?`).join(' and ')
      database
        .prepare(`update or replace ${quoted(table.name)} set ${quoted(column)} = ? where ${where}`)
        .run(changed, ...row)
    }
  }
  return count
}

/** Rows are collected by page, so that they may be changed meanwhile. */
const PAGE = 2_000

export function* textsIn(
  database: Database,
  { name, keys, texts }: Table,
): Generator<{ row: SqlValue[]; column: string; text: string }> {
  // Renamed: SQLite returns a row's number under the name of the column that aliases it.
  const names = [...keys.map((key, at) => `${quoted(key)} as "key ${at}"`), ...texts.map(quoted)].join(', ')
  const order = keys.map(quoted).join(', ')
  const marks = keys.map(() => '?').join(', ')
  let after: SqlValue[] | undefined
  for (;;) {
    const where = after ? `where (${order}) > (${marks})` : ''
    const sql = `select ${names} from ${quoted(name)} ${where} order by ${order} limit ${PAGE}`
    const rows = database.prepare(sql).all(...(after ?? [])) as Record<string, SqlValue>[]
    for (const row of rows) {
      const key = keys.map((_, at) => row[`key ${at}`] ?? null)
      for (const column of texts) {
        const text = row[column]
        if (typeof text === 'string' && text !== '') yield { row: key, column, text }
      }
      after = key
    }
    if (rows.length < PAGE) return
  }
}

/** Rewrites the file, so that nothing is left in unused pages or in the log. */
export function scrubDatabase(database: Database): void {
  database.exec('vacuum; pragma wal_checkpoint(truncate)')
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
