import { spawn } from 'node:child_process'
import { createReadStream } from 'node:fs'
import { relative } from 'node:path'
import type { Readable } from 'node:stream'
import { statOf } from '../disk/index.js'
import {
  type Erasable,
  holdsContent,
  type PurgedPlace,
  plainMeaning,
  type RawSearch,
  type SoughtWords,
} from '../erasure/index.js'
import { isReadableLog } from '../tools/index.js'

/** What a second way through every byte of the home has found. */
export interface Proof {
  files: number
  bytes: number
  left: PurgedPlace[]
  /** Files that could not be looked into, relative to the home. */
  unreadable: string[]
}

const CHUNK_BYTES = 4 * 1024 * 1024
interface Seeking extends SoughtWords {
  /** Files that are not looked at. */
  except: ReadonlySet<string>
  /** Those who know the formats of files that are not plain. */
  stores: readonly Erasable[]
}

/** Looks for what was purged in every one of these files, as bytes and as what the bytes mean. Nothing is changed. */
export async function proveGone(root: string, files: Iterable<string>, seeking: Seeking): Promise<Proof> {
  const proof: Proof = { files: 0, bytes: 0, left: [], unreadable: [] }
  for (const path of files) {
    if (!holdsContent(path) || seeking.except.has(path)) continue
    const scan = await scanFile(path, seeking)
    if (!scan) continue // gone since it was listed
    proof.files += 1
    proof.bytes += scan.bytes
    const count = scan.count + seeking.raw.countIn(relative(root, path))
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

async function scanFile(path: string, { stores, ...sought }: Seeking): Promise<Scan | undefined> {
  const { raw } = sought
  const found = statOf(path)
  if (!found) return undefined
  // A database is not opened here: closing it again would release the locks that this process holds on it.
  const isSound = DATABASE_FILE.test(path) || isReadableLog(path)
  if (!isSound) return { bytes: 0, count: 0, isUnreadable: true }
  try {
    const { bytes, count, head } = await scanBytes(path, raw)
    if (found.size > MOST_PARSED_BYTES) return { bytes, count, isUnreadable: true }
    const meaning = firstOf(stores, (store) => store.meaning?.(path, head, sought)) ?? plainMeaning(path, head, sought)
    if (meaning === 'unreadable') return { bytes, count, isUnreadable: true }
    const lowercased =
      count > 0 && meaning.count === 0 ? firstOf(stores, (store) => store.lowercased?.(path)) : undefined
    const inBytes = lowercased ? (await scanBytes(path, raw.withoutWordsOf(lowercased))).count : count
    return { bytes: bytes + meaning.bytes, count: Math.max(inBytes, meaning.count), isUnreadable: false }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function firstOf<T>(stores: readonly Erasable[], ask: (store: Erasable) => T | undefined): T | undefined {
  for (const store of stores) {
    const answer = ask(store)
    if (answer !== undefined) return answer
  }
  return undefined
}

/** The raw bytes, in overlapping pieces. */
export async function scanBytes(path: string, raw: RawSearch): Promise<{ bytes: number; count: number; head: Buffer }> {
  let [bytes, count] = [0, 0]
  let head: Buffer = Buffer.alloc(0)
  let pieces: Buffer[] = []
  let size = 0
  const look = (isLast: boolean): void => {
    const piece = Buffer.concat(pieces)
    const overlap = isLast ? Buffer.alloc(0) : piece.subarray(Math.max(0, piece.length - raw.reach))
    // What is entirely within the overlap is seen again with the next piece.
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
