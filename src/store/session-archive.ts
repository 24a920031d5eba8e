import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory, readPlain, writeAtomic } from '../disk/index.js'
import type { FoldedSession } from '../index/index.js'
import { decodeRecord, encodeRecord, type Unread } from './session-records.js'

// Loaded on first use: 1.3 ms that a command which reads no archive need not pay.
const zlib = (): typeof import('node:zlib') => process.getBuiltinModule('node:zlib')

/** After this many days an ended session's record is packed away, unless the settings say otherwise. */
export const ARCHIVE_AFTER_DAYS = 30
/** A bundle is rewritten whole when sessions are added, so it is closed while that is still cheap. */
const BUNDLE_FULL_BYTES = 2 * 1024 * 1024
/** Our own have a few dozen times their packed size. */
const MAX_UNPACKED_BYTES = 256 * 1024 * 1024
const BUNDLE_NAME = /^(\d{4}-\d\d)\.(\d{3})\.jsonl\.gz$/

/** Records of sessions that ended long ago, compressed, a few bundles per month. Nothing here is ever deleted by itself. */
export class SessionArchive {
  constructor(private readonly directory: string) {}

  /** On the disk when this returns; only then may the plain records go. */
  add(sessions: readonly FoldedSession[]): void {
    makeDirectory(this.directory)
    const months = groupByMonth(sessions)
    for (const [month, added] of months) {
      const path = this.#openBundle(month)
      const kept = existsSync(path) ? unpacked(path) : Buffer.alloc(0)
      const lines = added.map((folded) => `${JSON.stringify(encodeRecord(folded))}\n`).join('')
      writeAtomic(path, zlib().gzipSync(Buffer.concat([kept, Buffer.from(lines)])), { durable: true })
    }
  }

  /** Every archived session, older tellings before newer ones, and the bundles of which some or all could not be read. */
  *all(): Generator<FoldedSession | { path: string; why: Unread }> {
    for (const path of this.#bundles()) {
      const text = unpack(path)
      if (text === undefined) {
        yield { path, why: 'damaged' }
        continue
      }
      for (const line of text.split('\n')) {
        if (line === '') continue
        const read = decodeRecord(line)
        yield typeof read === 'object' ? read : { path, why: read }
      }
    }
  }

  #bundles(): string[] {
    if (!existsSync(this.directory)) return []
    const names = readdirSync(this.directory).filter((name) => BUNDLE_NAME.test(name))
    return names.sort().map((name) => join(this.directory, name))
  }

  #openBundle(month: string): string {
    for (let number = 1; ; number += 1) {
      const path = join(this.directory, `${month}.${String(number).padStart(3, '0')}.jsonl.gz`)
      // A bundle that cannot be read is left alone: adding to it would write over what may still be saved.
      if (!existsSync(path) || (statSync(path).size < BUNDLE_FULL_BYTES && unpack(path) !== undefined)) return path
    }
  }
}

const monthOf = ({ session }: FoldedSession): string => session.started_at.slice(0, 7)

function groupByMonth(sessions: readonly FoldedSession[]): Map<string, FoldedSession[]> {
  const months = new Map<string, FoldedSession[]>()
  for (const folded of sessions) {
    const month = monthOf(folded)
    const others = months.get(month)
    if (others) others.push(folded)
    else months.set(month, [folded])
  }
  return months
}

function unpack(path: string): string | undefined {
  try {
    return unpacked(path).toString('utf8')
  } catch {
    return undefined
  }
}

function unpacked(path: string): Buffer {
  const content = readPlain(path)
  if (!content) throw new Error(`${path} is not a file`)
  return zlib().gunzipSync(content, { maxOutputLength: MAX_UNPACKED_BYTES })
}
