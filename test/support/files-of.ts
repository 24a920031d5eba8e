import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'

/** Every file below a directory, with what is in it. SQLite's shared memory is left out: it has no content of its own. */
export function filesOf(directory: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of readdirSync(directory, { recursive: true }).map(String).sort()) {
    const path = join(directory, name)
    const stat = lstatSync(path)
    if (stat.isSymbolicLink()) found[name] = `link to ${readlinkSync(path)}`
    else if (stat.isFile() && !name.endsWith('-shm'))
      found[name] = createHash('sha256').update(readFileSync(path)).digest('hex')
  }
  return found
}
