import { readFileSync } from 'node:fs'
import { type Database, openDatabase } from '../disk/index.js'
import { tablesOf, textsIn } from './database-text.js'
import type { Meaning, SoughtWords } from './erasable.js'
import { forgetInFile, parsed } from './file-text.js'
import { isDatabase, isPacked, unpacked } from './sweep.js'

/** What the bytes of a file stand for: packed text, rows, JSON. 'unreadable' when that cannot be told. */
export function plainMeaning(path: string, head: Buffer, sought: SoughtWords): Meaning | 'unreadable' {
  if (/-wal$|-journal$/.test(path)) return { bytes: 0, count: 0 }
  if (isDatabase(head)) return meaningOfRows(path, sought)
  const { forgetter, raw } = sought
  if (!isPacked(head)) return { bytes: 0, count: forgetInFile(readFileSync(path, 'utf8'), forgetter).count }
  const content = unpacked(readFileSync(path))
  if (!content) return 'unreadable'
  const text = content.toString()
  return { bytes: content.length, count: Math.max(forgetInFile(text, forgetter).count, raw.countIn(text)) }
}

/** Every text of every table; `more` looks into what else the database holds. */
export function meaningOfRows(
  path: string,
  { forgetter }: SoughtWords,
  more: (database: Database) => Meaning = () => ({ bytes: 0, count: 0 }),
): Meaning | 'unreadable' {
  let database: Database | undefined
  try {
    database = openDatabase(path)
    database.exec('pragma busy_timeout = 30000')
    let count = 0
    for (const table of tablesOf(database)) {
      for (const { column, text } of textsIn(database, table))
        count += forgetter.json(parsed(text)?.value ?? text, column).count
    }
    const beyond = more(database)
    return { bytes: beyond.bytes, count: count + beyond.count }
  } catch {
    return 'unreadable' // damaged, or no database of ours
  } finally {
    database?.close()
  }
}
