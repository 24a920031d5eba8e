import { type Dirent, lstatSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { openDatabase } from '../../src/disk/index.js'

/** Where in a home a text was found. */
export interface Found {
  needle: string
  /** The file, and what of it: `text.db text_blocks`. */
  where: string
}

/**
 * Looks for texts in everything under a directory: every file as it is (databases with their free pages, logs of databases,
 * temporary files), every compressed piece unpacked, every cell and every indexed word of every database. Nothing is skipped
 * because it cannot be read: that throws. Words are looked for in any case, as the index of words has them in small letters.
 */
export function scanHome(directory: string, needles: readonly string[]): Found[] {
  const found: Found[] = []
  const lower = needles.map((needle) => needle.toLowerCase())
  const look = (where: string, text: string): void => {
    const small = text.toLowerCase()
    lower.forEach((needle, at) => {
      if (small.includes(needle)) found.push({ needle: needles[at] ?? '', where })
    })
  }
  for (const path of filesUnder(directory)) {
    const bytes = readFileSync(path)
    look(path, bytes.toString('latin1'))
    look(path, bytes.toString('utf8'))
    for (const { what, text } of unpackedParts(path, bytes)) look(`${path} ${what}`, text)
    if (bytes.subarray(0, 15).toString() === 'SQLite format 3') lookIntoDatabase(path, look)
  }
  return found
}

/** Links are followed by name only: what they lead to is a file of its own. */
function filesUnder(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry: Dirent) => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return filesUnder(path)
    return lstatSync(path).isFile() ? [path] : []
  })
}

function* unpackedParts(path: string, bytes: Buffer): Generator<{ what: string; text: string }> {
  if (path.endsWith('.gz')) yield { what: 'unpacked', text: gunzipSync(bytes).toString() }
  if (/\.sealed(\.tmp-\d+)?$/.test(path)) yield { what: 'unpacked', text: unsealed(bytes) }
  if (!path.endsWith('.pack')) return
  const end = bytes.indexOf(0x0a)
  const { entries } = JSON.parse(bytes.toString('utf8', 0, end)) as {
    entries: { name: string; at: number; length: number }[]
  }
  for (const { name, at, length } of entries) {
    yield { what: name, text: unsealed(bytes.subarray(end + 1 + at, end + 1 + at + length)) }
  }
}

function unsealed(bytes: Buffer): string {
  const end = bytes.indexOf(0x0a)
  const head = bytes.toString('utf8', 0, end)
  const { blocks = [] } = JSON.parse(head) as { blocks?: number[] }
  let at = bytes.length - blocks.reduce((sum, length) => sum + length, 0)
  const parts = [bytes.subarray(end + 1, at)]
  for (const length of blocks) {
    parts.push(bytes.subarray(at, at + length))
    at += length
  }
  return [head, ...parts.map((part) => brotliDecompressSync(part).toString())].join('\n')
}

function lookIntoDatabase(path: string, look: (where: string, text: string) => void): void {
  const database = openDatabase(path)
  try {
    const tables = database
      .prepare(
        "select name from sqlite_master where type = 'table' and name not like 'words_%' and name not like 'titles_%'",
      )
      .all() as { name: string }[]
    for (const { name } of tables) {
      for (const row of database.prepare(`select * from "${name}"`).iterate()) {
        for (const [column, value] of Object.entries(row as Record<string, unknown>)) {
          if (typeof value === 'string') look(`${path} ${name}.${column}`, value)
          if (value instanceof Uint8Array) look(`${path} ${name}.${column}`, blobText(value))
        }
      }
    }
    const hasWords = database.prepare("select 1 from sqlite_master where name = 'words_vocabulary'").get() !== undefined
    if (!hasWords) return
    const words = database.prepare('select term from words_vocabulary').all() as { term: string }[]
    look(`${path} words`, words.map(({ term }) => term).join('\n'))
  } finally {
    database.close()
  }
}

function blobText(value: Uint8Array): string {
  try {
    return brotliDecompressSync(value).toString()
  } catch {
    return Buffer.from(value).toString('latin1') // not one of ours that is compressed
  }
}
