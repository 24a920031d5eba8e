import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { explainDiskError } from './explain.js'
import { FileLock } from './lock.js'
import { makeDirectory } from './make-directory.js'
import { readPlain } from './plain-file.js'
import { ifThere } from './present.js'
import { writeAtomic } from './write-atomic.js'

/** An edit takes milliseconds. */
const WAIT_MS = 30_000

/**
 * Changes a file that several processes may change at once: it is read, decided and replaced under a lock of its own, so that no change
 * is lost. `edit` gets undefined where there is no file; none is made to hold nothing. A link is followed, not replaced.
 */
export async function editFile(
  path: string,
  edit: (content: string | undefined) => string,
  options: { durable: boolean },
): Promise<void> {
  try {
    makeDirectory(dirname(path))
    const target = ifThere(() => realpathSync(path)) ?? path
    using lock = new FileLock(`${target}.lock`)
    await lock.asWriter(() => {
      const before = readPlain(target)?.toString()
      const content = edit(before)
      if (content !== (before ?? '')) writeAtomic(target, content, options)
    }, WAIT_MS)
  } catch (error) {
    throw explainDiskError(error, path)
  }
}
