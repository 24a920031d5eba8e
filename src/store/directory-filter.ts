import { realPath } from '../disk/index.js'

/** A directory as it was given, and with links followed: tools note one or the other. */
export function spellingsOf(directory: string): string[] {
  const given = directory.length > 1 ? directory.replace(/\/+$/, '') : directory
  return [...new Set([given, realPath(given)])]
}

/** Whether a path is one of these directories, or below. */
export const isInside =
  (directories: readonly string[]) =>
  (path: string | null | undefined): boolean =>
    typeof path === 'string' &&
    directories.some((one) => path === one || path.startsWith(one.endsWith('/') ? one : `${one}/`))
