import { existsSync, realpathSync, rmSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { unpackedBlock } from '../../archive/index.js'
import { type Database, openDatabase } from '../../disk/index.js'
import {
  type Erasable,
  filesIn,
  forgetInDatabase,
  isDatabase,
  type Meaning,
  meaningOfRows,
  type SoughtWords,
  type Sweep,
} from '../../erasure/index.js'
import { PURGED } from '../../privacy/index.js'
import { isProgramName } from '../program-name.js'
import { ANSWER, PURGED_CALL_TEXT } from './passage.js'
import { filteredLogs } from './refilter-text.js'
import { rewriteLog, type StoredPassage, scrubText } from './rewrite-text.js'
import { TextStore } from './text-store.js'

const SIDE_FILES = ['', '-wal', '-shm', '-journal']

/** What was said, for the search: blocks of passages and the index of their words, in `text.db`. */
export class TextErasure implements Erasable {
  readonly name = 'text'

  constructor(private readonly path: string) {}

  /** With its older generations, and those that could not be used. */
  owns(path: string): boolean {
    return dirname(path) === dirname(this.path) && /^text(?:-[\w-]+)?\.db/.test(basename(path))
  }

  async erase(sweep: Sweep): Promise<void> {
    if (existsSync(this.path)) erasePassages(this.path, sweep)
    if (!sweep.dryRun) this.#removeOldGenerations()
  }

  /** A block is looked at passage by passage. */
  meaning(path: string, head: Buffer, sought: SoughtWords): Meaning | 'unreadable' | undefined {
    if (!isDatabase(head) || /-wal$|-journal$/.test(path) || !hasBlocks(path)) return undefined
    return meaningOfRows(path, sought, (database) => meaningOfBlocks(database, sought))
  }

  /** The index of words keeps them in lower case. */
  lowercased(path: string): Iterable<string> | undefined {
    return /text(?:-[\w-]+)?\.db(?=(?:-wal|-journal)?$)/.test(path) ? storedTexts(path) : undefined
  }

  /** Text is derived: older generations, and ones that could not be used, are not worth keeping. */
  #removeOldGenerations(): void {
    const directory = dirname(this.path)
    const current = existsSync(this.path) ? join(directory, basename(realpathSync(this.path))) : this.path
    const kept = [this.path, current].flatMap((path) => SIDE_FILES.map((side) => path + side))
    for (const path of filesIn(directory)) if (this.owns(path) && !kept.includes(path)) rmSync(path, { force: true })
  }
}

function erasePassages(path: string, sweep: Sweep): void {
  using store = TextStore.open(path)
  const { forgetter, dryRun, generation } = sweep
  const { database } = store.db
  let count = 0
  const change = ({ kind, text }: StoredPassage): string => {
    const isOnPath = kind === 'tools' && forgetter.namesPath(text)
    const forgotten = isOnPath ? { value: purgedCall(text), count: 1 } : forgetter.text(text)
    count += forgotten.count
    return forgotten.value
  }
  if (!dryRun) {
    database.exec('pragma secure_delete = on')
    store.db.inTransaction(() => store.admits(generation))
  }
  for (const log of filteredLogs(store)) {
    const { n, session } = log
    const isGone = session !== null && sweep.sessions.has(session)
    if (isGone) {
      count += 1
      if (!dryRun) store.forget(log)
    } else if (dryRun) rewriteLog(store, n, change, { dryRun })
    else store.db.inTransaction(() => rewriteLog(store, n, change))
  }
  const inRows = (): number => forgetInDatabase(database, forgetter, { dryRun, isKey: isProgramName })
  if (dryRun) count += inRows()
  else {
    count += store.db.inTransaction(inRows)
    scrubText(store)
  }
  sweep.found(path, count)
}

/** A call on a path goes with its arguments and its result; that there was one stays. */
function purgedCall(text: string): string {
  const call = `${text.split('\n', 1)[0]?.split(ANSWER, 1)[0] ?? ''}\n${PURGED_CALL_TEXT}`
  return text.includes(ANSWER) ? `${call}${ANSWER}${PURGED}` : call
}

function hasBlocks(path: string): boolean {
  try {
    const database = openDatabase(path)
    try {
      database.exec('pragma busy_timeout = 30000')
      return database.prepare("select 1 from sqlite_master where name = 'text_blocks'").get() !== undefined
    } finally {
      database.close()
    }
  } catch {
    return false // whoever looks at it next says that it cannot be read
  }
}

function meaningOfBlocks(database: Database, { forgetter, raw }: SoughtWords): Meaning {
  const meant = { bytes: 0, count: 0 }
  for (const row of database.prepare('select n, data from text_blocks').iterate()) {
    const { n, data } = row as { n: number; data: Uint8Array }
    const block = unpackedBlock(data)
    const isThere = forgetter.spansIn(block.toString()).length > 0
    const texts = isThere ? passagesIn(database, n, block) : []
    meant.bytes += block.length
    meant.count += Math.max(
      texts.reduce((sum, text) => sum + forgetter.spansIn(text).length, 0),
      raw.countIn(block.toString()),
    )
  }
  return meant
}

/** A block passage by passage, with what is between them: two that are side by side are no text together. */
function passagesIn(database: Database, block: number, bytes: Buffer): string[] {
  const rows = database.prepare('select start, length from passages where block = ?').all(block) as {
    start: number
    length: number
  }[]
  const cuts = new Set([0, bytes.length, ...rows.flatMap(({ start, length }) => [start, start + length])])
  const sorted = [...cuts].sort((a, b) => a - b)
  return sorted.slice(1).map((end, at) => bytes.toString('utf8', sorted[at], end))
}

/** What the index of words was made of. */
function* storedTexts(path: string): Generator<string> {
  const database = openDatabase(path.replace(/-(?:wal|journal)$/, ''))
  try {
    for (const row of database.prepare('select data from text_blocks').iterate())
      yield unpackedBlock((row as { data: Uint8Array }).data).toString()
  } finally {
    database.close()
  }
}
