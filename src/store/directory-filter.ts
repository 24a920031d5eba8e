import { realpathSync } from 'node:fs'

/** A directory as it was given, and with links followed: tools note one or the other. */
export function spellingsOf(directory: string): string[] {
  const given = directory.length > 1 ? directory.replace(/\/+$/, '') : directory
  try {
    return [...new Set([given, realpathSync(given)])]
  } catch {
    return [given] // it is gone; what was done there is still known
  }
}

/** Whether a path is one of these directories, or below. */
export const isInside =
  (directories: readonly string[]) =>
  (path: string | null | undefined): boolean =>
    typeof path === 'string' &&
    directories.some((one) => path === one || path.startsWith(one.endsWith('/') ? one : `${one}/`))
