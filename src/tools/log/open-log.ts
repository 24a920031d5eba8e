import { closeSync, fstatSync, readSync, type Stats } from 'node:fs'
import { openGuarded, UnsuitableFile } from '../../disk/index.js'

/** Smaller files are read in a moment whatever they hold. */
const LARGE_BYTES = 64 * 1024 * 1024
/** No file system compresses a log to less than this part of its size. */
const LEAST_STORED = 1 / 100
const PROBES = 64
const PROBE_BYTES = 4096

/** Opens a log that is a file. One that consists of holes is refused: it says nothing, and may be longer than any disk. */
export function openLog(path: string): number {
  const file = openGuarded(path)
  try {
    const stat = fstatSync(file)
    if (isHollow(file, stat))
      throw new UnsuitableFile(path, `a sparse file: it has almost no data in ${gigabytes(stat)}`)
    return file
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/** Asked before a file is read that only adds to what a log says: one that cannot be read must not keep the log from being read. */
export function isReadableLog(path: string): boolean {
  try {
    closeSync(openLog(path))
    return true
  } catch {
    return false
  }
}

/** By what the file system says: almost nothing of it is stored. */
export const isSparse = ({ size, blocks }: Pick<Stats, 'size' | 'blocks'>): boolean =>
  size >= LARGE_BYTES && blocks * 512 < size * LEAST_STORED

/** Some file systems do not say how much they store, so the content is looked at in a few places before a file is refused. */
function isHollow(file: number, stat: Stats): boolean {
  if (!isSparse(stat)) return false
  const { size } = stat
  const piece = Buffer.alloc(PROBE_BYTES)
  const nothing = Buffer.alloc(PROBE_BYTES)
  let empty = 0
  for (let probe = 0; probe < PROBES; probe += 1) {
    const at = Math.floor(((size - PROBE_BYTES) * probe) / (PROBES - 1))
    const got = readSync(file, piece, 0, PROBE_BYTES, at)
    if (piece.subarray(0, got).equals(nothing.subarray(0, got))) empty += 1
  }
  return empty >= PROBES * 0.9
}

const gigabytes = ({ size }: Stats): string => `${(size / 1e9).toFixed(1)} GB`
