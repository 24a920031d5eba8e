import { readdirSync, readFileSync } from 'node:fs'
import { refuseDead } from './mounts.js'

/** The names in a directory; none when it is not there. */
export const namesIn = (directory: string): string[] => ifThere(() => readdirSync(directory)) ?? []

/** The same for a directory that is not ours: none whatever keeps it from being listed. */
export function entriesIn(directory: string): string[] {
  try {
    refuseDead(directory)
    return readdirSync(directory)
  } catch {
    return []
  }
}

/** What a file says; undefined when it is not there. */
export const textIn = (path: string): string | undefined => ifThere(() => readFileSync(path, 'utf8'))

/** What `read` gives, or undefined when the file it reads is not there. */
export function ifThere<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
