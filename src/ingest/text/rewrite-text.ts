import { packed } from '../../archive/index.js'
import { kindOf, type PassageKind, wordsBeside } from './passage.js'
import type { TextStore } from './text-store.js'

/** A passage as it is stored. */
export interface StoredPassage {
  kind: PassageKind
  /** Sub-agents have names; the conversation itself is ''. */
  agent: string
  turn: number
  /** The tool that was called. */
  tool: string | null
  text: string
}

export interface Rewriting {
  changed: number
  dropped: number
}

interface Row {
  id: number
  kind: number
  agent: string
  turn: number
  tool: string | null
  start: number
  length: number
}

/**
 * Puts what `change` makes of each passage of a log in its place; an empty text removes the passage. Inside a transaction. Ids stay,
 * since they are the order of time. The index forgets the words of the old text when `scrubText` has run.
 */
export function rewriteLog(
  store: TextStore,
  log: number,
  change: (passage: StoredPassage) => string,
  { dryRun = false }: { dryRun?: boolean } = {},
): Rewriting {
  const { db } = store
  const program = (db.get('select tool from text_logs where n = ?', log) as { tool: string } | undefined)?.tool ?? ''
  const done: Rewriting = { changed: 0, dropped: 0 }
  const blocks = db.all('select n from text_blocks where log = ? order by n', log) as { n: number }[]
  for (const { n } of blocks) {
    const before = store.block(n)
    const rows = db.all(IN_BLOCK, log, n) as Row[]
    const pieces = rows.map((row) => {
      const bytes = before.subarray(row.start, row.start + row.length)
      const text = bytes.toString()
      const after = change({ kind: kindOf(row.kind), agent: row.agent, turn: row.turn, tool: row.tool, text })
      return { row, bytes: after === text ? bytes : Buffer.from(after), after, isChanged: after !== text }
    })
    const kept = rows.reduce((sum, { length }) => sum + length, 0)
    done.changed += pieces.filter(({ isChanged, after }) => isChanged && after !== '').length
    done.dropped += pieces.filter(({ isChanged, after }) => isChanged && after === '').length
    if (dryRun) continue
    // Passages that were told again left their first telling in the block: it goes with any change, and by itself.
    if (pieces.every(({ isChanged }) => !isChanged) && kept === before.length) continue
    let start = 0
    for (const { row, bytes, after, isChanged } of pieces) {
      if (isChanged) db.run('delete from words where rowid = ?', row.id)
      if (isChanged && after === '') {
        db.run('delete from passages where id = ?', row.id)
        continue
      }
      db.run('update passages set start = ?, length = ? where id = ?', start, bytes.length, row.id)
      start += bytes.length
      if (!isChanged) continue
      const beside = wordsBeside(kindOf(row.kind), program, row.tool ?? undefined)
      db.run('insert into words (rowid, text) values (?, ?)', row.id, after + beside)
    }
    const content = Buffer.concat(pieces.map(({ bytes }) => bytes))
    if (content.length === 0) db.run('delete from text_blocks where n = ?', n)
    else db.run('update text_blocks set size = ?, data = ? where n = ?', content.length, packed(content), n)
  }
  if (done.dropped > 0 && !dryRun)
    db.run("update text_facts set value = cast(value as integer) - ? where name = 'passages'", done.dropped)
  return done
}

/** Pages of the index that one step merges: short enough that no ingest has to wait long. */
const MERGE_PAGES = 500
const MOST_STEPS = 100_000

/**
 * Makes what was removed unreadable: the index of words keeps those of removed passages until its parts are merged, and SQLite keeps
 * removed rows in free pages until the file is written anew.
 */
export function scrubText({ db }: TextStore): void {
  const changes = (): number => (db.get('select total_changes() as n') as { n: number }).n
  for (let step = 0; step < MOST_STEPS; step += 1) {
    const before = changes()
    db.run("insert into words (words, rank) values ('merge', ?)", step === 0 ? -MERGE_PAGES : MERGE_PAGES)
    if (changes() - before < 2) break
  }
  db.database.exec('vacuum; pragma wal_checkpoint(truncate)')
}

const IN_BLOCK =
  'select id, kind, agent, turn, tool, start, length from passages where log = ? and block = ? order by start'
