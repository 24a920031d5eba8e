import { statSync } from 'node:fs'
import { join } from 'node:path'

/** Where it is written down what was purged. */
export const bookPath = (root: string): string => join(root, 'purged.json')

/** Stands for what that file says. Apart from its reader, which brings the rules along: whoever only asks need not load them. */
export function purgeStamp(root: string): string {
  const stat = statSync(bookPath(root), { bigint: true, throwIfNoEntry: false })
  return stat ? `${stat.ino}:${stat.size}:${stat.mtimeNs}` : ''
}
