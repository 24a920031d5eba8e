import { readdirSync, readFileSync } from 'node:fs'

/** The names in a directory; none when it is not there. */
export const namesIn = (directory: string): string[] => ifThere(() => readdirSync(directory)) ?? []

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
