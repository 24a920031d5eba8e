import { guardedText, statOf } from '../disk/index.js'
import { forgetInFile, isDatabase, type PurgedPlace, type RawSearch } from '../erasure/index.js'
import { SkeinError } from '../model/index.js'
import type { Forgetter } from '../privacy/index.js'
import { isReadableLog, isSparse } from '../tools/index.js'
import { scanBytes } from './proof.js'

/** Larger ones are looked at as bytes only. */
const MOST_PARSED_BYTES = 256 * 1024 * 1024

/** Which logs of the tools hold what was purged. They are not ours to change. */
export async function nativeLogsWith(
  paths: Iterable<string>,
  { forgetter, raw, isParsed }: { forgetter: Forgetter; raw: RawSearch; isParsed: boolean },
): Promise<PurgedPlace[]> {
  const places: PurgedPlace[] = []
  for (const path of new Set(paths)) {
    // Not there, not a file or forbidden: then nothing can be read from it, by us or by an ingest.
    if (!isReadable(path)) continue
    try {
      const { count, head } = await scanBytes(path, raw)
      const isText = isParsed && !isDatabase(head) && (statOf(path)?.size ?? 0) <= MOST_PARSED_BYTES
      const meant = isText ? forgetInFile(guardedText(path, MOST_PARSED_BYTES) ?? '', forgetter).count : 0
      if (count + meant > 0) places.push({ file: path, count: Math.max(count, meant) })
    } catch (error) {
      if (error instanceof SkeinError || (error as NodeJS.ErrnoException).code === undefined) throw error
      // Gone meanwhile.
    }
  }
  return places
}

/** A database is not opened here: closing it again would release the locks that this process holds on it. */
function isReadable(path: string): boolean {
  if (!path.endsWith('.db')) return isReadableLog(path)
  const stat = statOf(path)
  return stat?.isFile() === true && !isSparse(stat)
}

/** In how many paths of logs it stands. Records of a log are found by its path, so that it stays there. */
export const pathsWith = (paths: Iterable<string>, forgetter: Forgetter): number =>
  [...new Set(paths)].filter((path) => forgetter.spansIn(path).length > 0).length

/** A file may be called by a secret, which is not to be shown again. */
export const withoutSecret =
  (forgetter: Forgetter) =>
  ({ file, count }: PurgedPlace): PurgedPlace => ({ file: forgetter.text(file).value, count })
