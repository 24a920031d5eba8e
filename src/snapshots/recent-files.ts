import { createHash } from 'node:crypto'
import { type BigIntStats, lstatSync } from 'node:fs'
import { readGuarded } from '../disk/index.js'
import { asBytes, shown } from './snapshot.js'
import type { RecentFile } from './worktree-state.js'

/** Git compares times by the second: within one, an edit that keeps size and time of change is invisible to it. */
const RECENT_NS = 3_000_000_000n
/** The clock of file systems moves in ticks of at most this. */
const TICK_NS = 20_000_000n
const MOST_HASHED_BYTES = 4 * 1024 * 1024

/** Remembers files that were changed just before they were read, so that the next scan finds an edit that git would miss. */
export class RecentFiles {
  constructor(
    private readonly root: string,
    private readonly nowMs: number,
  ) {}

  /** What to remember of files that are about to be read. Called before git reads them: a change in between is then found, too. */
  note(paths: Iterable<string>): Record<string, RecentFile> {
    const found: Record<string, RecentFile> = {}
    for (const path of paths) {
      const stat = exactStat(this.root, path)
      if (!stat?.isFile()) continue
      const age = this.#age(stat.ctimeNs)
      if (age > RECENT_NS) continue
      const hash = age < TICK_NS ? this.#hash(path, stat) : undefined
      found[path] = { stamp: stampOf(stat), ...(hash === undefined ? {} : { hash }) }
    }
    return found
  }

  /** Those of before that are still recent: within the same second even a third edit may be invisible. */
  still(recent: Readonly<Record<string, RecentFile>>): Record<string, RecentFile> {
    const isRecent = ({ stamp }: RecentFile): boolean => this.#age(BigInt(stamp.split(' ')[0] ?? 0)) <= RECENT_NS
    return Object.fromEntries(Object.entries(recent).filter(([, file]) => isRecent(file)))
  }

  #age(ctimeNs: bigint): bigint {
    return BigInt(Math.floor(this.nowMs)) * 1_000_000n - ctimeNs
  }

  /** Files that are not what they were, although git may see no difference. */
  changed(recent: Readonly<Record<string, RecentFile>>): string[] {
    return Object.entries(recent).flatMap(([path, { stamp, hash }]) => {
      const stat = exactStat(this.root, path)
      if (!stat?.isFile()) return []
      const isSame = stampOf(stat) === stamp && (hash === undefined || hash === this.#hash(path, stat))
      return isSame ? [] : [path]
    })
  }

  /** A file that cannot be hashed never matches, so it is read again. */
  #hash(path: string, { size }: BigIntStats): string {
    if (size > MOST_HASHED_BYTES) return `not hashed ${this.nowMs}`
    try {
      const bytes = readGuarded(`${this.root}/${shown(path)}`, { mostBytes: MOST_HASHED_BYTES, noFollow: true })
      return createHash('sha1').update(bytes).digest('hex')
    } catch {
      return `not hashed ${this.nowMs}`
    }
  }
}

/** With times in nanoseconds; undefined for what is gone or cannot be looked at: git says what is the matter with it. */
export function exactStat(root: string, path: string): BigIntStats | undefined {
  try {
    return lstatSync(Buffer.concat([Buffer.from(`${root}/`), asBytes(path)]), { bigint: true, throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

const stampOf = ({ ctimeNs, mtimeNs, size, ino }: BigIntStats): string => `${ctimeNs} ${mtimeNs} ${size} ${ino}`
