import { existsSync, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Holds nothing: never open it, because closing it would release locks, and a daemon or an agent holds its own for as long as it runs.
 * The last is a table of page numbers.
 */
const NO_CONTENT = /(?:^|[/.-])lock$|\.evictions$|-shm$/
export const holdsContent = (path: string): boolean => !NO_CONTENT.test(path)

/** Every plain file, links not followed, and every directory that cannot be listed: whoever reads it says so. */
export function* filesUnder(directory: string): Generator<string> {
  let names: string[]
  try {
    names = readdirSync(directory)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') yield directory
    else if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    return
  }
  for (const name of names.sort()) {
    const path = join(directory, name)
    const stat = lstatSync(path, { throwIfNoEntry: false })
    if (stat?.isDirectory()) yield* filesUnder(path)
    else if (stat?.isFile()) yield path
  }
}

/** Plain files of a directory, without those of directories below. */
export function filesIn(directory: string): string[] {
  if (!existsSync(directory)) return []
  const entries = readdirSync(directory, { withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(directory, entry.name))
}

export const isUnder = (path: string, directory: string): boolean => path.startsWith(`${directory}/`)
