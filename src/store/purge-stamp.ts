import { statSync } from 'node:fs'
import { join } from 'node:path'

/** Where it is written down what was purged. */
export const bookPath = (root: string): string => join(root, 'purged.json')

/** Identifies the contents of that file. Separate from its reader, so that a mere question does not load the rules. */
export function purgeStamp(root: string): string {
  const stat = statSync(bookPath(root), { bigint: true, throwIfNoEntry: false })
  return stat ? `${stat.ino}:${stat.size}:${stat.mtimeNs}` : ''
}
