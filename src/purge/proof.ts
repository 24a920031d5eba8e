import { spawn } from 'node:child_process'
import { createReadStream, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Readable } from 'node:stream'
import { archivedTexts, unpackedBlock } from '../archive/index.js'
import { type Database, openDatabase, statOf } from '../disk/index.js'
import type { Forgetter } from '../privacy/index.js'
import { isReadableLog } from '../tools/index.js'
import { tablesOf, textsIn } from './database-text.js'
import { forgetInFile, parsed } from './file-text.js'
import type { RawSearch } from './raw-search.js'
import { isDatabase, isPacked, type PurgedPlace, unpacked } from './sweep.js'

/** What a second way through every byte of the home has found. */
export interface Proof {
  files: number
  bytes: number
  left: PurgedPlace[]
  /** Files that could not be looked into, relative to the home. */
  unreadable: string[]
}

const CHUNK_BYTES = 4 * 1024 * 1024
/**
 * Holds nothing: never open it, because closing it would release locks, and a daemon or an agent holds its own for as long as it runs.
 * The last is a table of page numbers.
 */
export const NO_CONTENT = /(?:^|[/.-])lock$|\.evictions$|-shm$/

/** Looks for what was purged in every one of these files, as bytes and as what the bytes mean. Nothing is changed. */
export async function proveGone(
  root: string,
  files: Iterable<string>,
  { forgetter, raw, except }: { forgetter: Forgetter; raw: RawSearch; except: ReadonlySet<string> },
): Promise<Proof> {
  const proof: Proof = { files: 0, bytes: 0, left: [], unreadable: [] }
  for (const path of files) {
    if (NO_CONTENT.test(path) || except.has(path)) continue
    const scan = await scanFile(path, forgetter, raw)
    if (!scan) continue // gone since it was listed
    proof.files += 1
    proof.bytes += scan.bytes
    const count = scan.count + raw.countIn(relative(root, path))
    if (count > 0) proof.left.push({ file: relative(root, path), count })
    if (scan.isUnreadable) proof.unreadable.push(relative(root, path))
  }
  return proof
}

const DATABASE_FILE = /\.db(?:-wal|-journal)?$/
/** Larger ones cannot be held as one piece. */
const MOST_PARSED_BYTES = 2 ** 31 - 1

interface Scan {
  bytes: number
  count: number
  isUnreadable: boolean
}

async function scanFile(path: string, forgetter: Forgetter, raw: RawSearch): Promise<Scan | undefined> {
  const found = statOf(path)
  if (!found) return undefined
  // A database is not opened here: closing it again would release the locks that this process holds on it.
  const isSound = DATABASE_FILE.test(path) || isReadableLog(path)
  if (!isSound) return { bytes: 0, count: 0, isUnreadable: true }
  try {
    const { bytes, count, head } = await scanBytes(path, raw)
    const meant = found.size > MOST_PARSED_BYTES ? undefined : meaningOf(path, head, forgetter, raw)
    const isInBytesOnly = count > 0 && meant?.count === 0 && isWordIndex(path)
    const lying = isInBytesOnly ? (await scanBytes(path, raw.withoutWordsOf(storedTexts(path)))).count : count
    return {
      bytes: bytes + (meant?.bytes ?? 0),
      count: Math.max(lying, meant?.count ?? 0),
      isUnreadable: meant === undefined,
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** As they lie there, in pieces that overlap. */
export async function scanBytes(path: string, raw: RawSearch): Promise<{ bytes: number; count: number; head: Buffer }> {
  let [bytes, count] = [0, 0]
  let head: Buffer = Buffer.alloc(0)
  let pieces: Buffer[] = []
  let size = 0
  const look = (isLast: boolean): void => {
    const piece = Buffer.concat(pieces)
    const overlap = isLast ? Buffer.alloc(0) : piece.subarray(Math.max(0, piece.length - raw.reach))
    // What lies in the overlap as a whole is seen again with the next piece.
    if (!raw.isEmpty) count += raw.countIn(piece.toString()) - (isLast ? 0 : raw.countIn(overlap.toString()))
    pieces = [overlap]
    size = overlap.length
  }
  for await (const chunk of readable(path) as AsyncIterable<Buffer>) {
    if (head.length < 16) head = Buffer.concat([head, chunk.subarray(0, 16)])
    bytes += chunk.length
    size += chunk.length
    pieces.push(chunk)
    if (size >= CHUNK_BYTES + raw.reach) look(false)
  }
  look(true)
  return { bytes, count, head }
}

/**
 * Databases are read by a process of its own: closing a file releases the locks that this process holds on it, and SQLite may still
 * have it open.
 */
function readable(path: string): Readable {
  if (!DATABASE_FILE.test(path)) return createReadStream(path, { highWaterMark: CHUNK_BYTES })
  return spawn('cat', ['--', path], { stdio: ['ignore', 'pipe', 'ignore'] }).stdout
}

/** What the bytes stand for: packed text, rows, JSON. Undefined when that cannot be told. */
function meaningOf(path: string, head: Buffer, forgetter: Forgetter, raw: RawSearch): Meaning | undefined {
  if (/-wal$|-journal$/.test(path)) return { bytes: 0, count: 0 }
  if (isDatabase(head)) return meaningOfRows(path, forgetter, raw)
  if (/\.(?:sealed|pack)$/.test(path)) return meaningOfSealed(path, forgetter, raw)
  if (!isPacked(head)) return { bytes: 0, count: forgetInFile(readFileSync(path, 'utf8'), forgetter).count }
  const content = unpacked(readFileSync(path))
  if (!content) return undefined
  const text = content.toString()
  return { bytes: content.length, count: Math.max(forgetInFile(text, forgetter).count, raw.countIn(text)) }
}

/** Pieces of the archive: a line, then facts that are packed, again and again. */
function meaningOfSealed(path: string, forgetter: Forgetter, raw: RawSearch): Meaning | undefined {
  const unpacked = archivedTexts(readFileSync(path))
  if (!unpacked) return undefined
  const { stretches, texts } = unpacked
  const meant = texts.reduce((sum, text) => sum + forgetInFile(text, forgetter).count, 0)
  const lying = stretches.reduce((sum, text) => sum + raw.countIn(text), 0)
  return {
    bytes: stretches.reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    count: Math.max(meant, lying),
  }
}

const WORDS = /text(?:-[\w-]+)?\.db(?=(?:-wal|-journal)?$)/
const isWordIndex = (path: string): boolean => WORDS.test(path)

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

interface Meaning {
  bytes: number
  count: number
}

function meaningOfRows(path: string, forgetter: Forgetter, raw: RawSearch): Meaning | undefined {
  let database: Database | undefined
  try {
    database = openDatabase(path)
    database.exec('pragma busy_timeout = 30000')
    const meant = { bytes: 0, count: 0 }
    for (const table of tablesOf(database)) {
      for (const { column, text } of textsIn(database, table)) {
        meant.count += forgetter.json(parsed(text)?.value ?? text, column).count
      }
      if (table.name !== 'text_blocks') continue
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
    }
    return meant
  } catch {
    return undefined // damaged, or no database of ours
  } finally {
    database?.close()
  }
}

/** A block passage by passage, with what lies between them: two that lie side by side are no text together. */
function passagesIn(database: Database, block: number, bytes: Buffer): string[] {
  const rows = database.prepare('select start, length from passages where block = ?').all(block) as {
    start: number
    length: number
  }[]
  const cuts = new Set([0, bytes.length, ...rows.flatMap(({ start, length }) => [start, start + length])])
  const sorted = [...cuts].sort((a, b) => a - b)
  return sorted.slice(1).map((end, at) => bytes.toString('utf8', sorted[at], end))
}

/** Every plain file, links not followed, and every directory that cannot be listed: whoever reads it says so. */
export function* filesUnder(directory: string): Generator<string> {
  let names: string[]
  try {
    names = readdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') yield directory
    else if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return
  }
  for (const name of names.sort()) {
    const path = join(directory, name)
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat?.isDirectory()) yield* filesUnder(path)
    else if (stat?.isFile()) yield path
  }
}
