import { closeSync, lstatSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { SkeinError } from '../model/index.js'
import { kindOf, openGuarded } from './guarded-file.js'
import { refuseDead } from './mounts.js'
import { UnsuitableFile } from './unsuitable-file.js'

/** What the system says of what is there, links followed; undefined when nothing is, or a link leads nowhere. */
export function statIfThere(path: string): Stats | undefined {
  refuseDead(path)
  try {
    return statSync(path)
  } catch (error) {
    if (isNothing(error)) return undefined
    throw error
  }
}

/** The same for a path that anybody may have named: undefined whatever keeps the system from answering. */
export function statOf(path: string): Stats | undefined {
  try {
    refuseDead(path)
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined // below a file, a loop of links, too long a name, a directory that we may not enter
  }
}

/** Differs whenever a file was replaced or changed, and when that was; undefined when there is none, or it cannot be looked at. */
export function stampOf(path: string): { stamp: string; changedMs: number } | undefined {
  try {
    refuseDead(path)
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (!stat) return undefined
    const { dev, ino, size, mtimeNs, ctimeNs, ctimeMs } = stat
    return { stamp: `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs}`, changedMs: Number(ctimeMs) }
  } catch {
    return undefined
  }
}

/** Whether something is at a path that anybody may have named, links followed. */
export const isThere = (path: string): boolean => statOf(path) !== undefined

/** Whether a file that was there is there no more. One that cannot be looked at may be. */
export function isGone(path: string): boolean {
  try {
    return statIfThere(path) === undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOTDIR'
  }
}

/** Without links, as the system names it. */
export function followed(path: string): string {
  refuseDead(path)
  return realpathSync(path)
}

/** The same; what is gone, or cannot be looked at, is left as it was written. */
export function realPath(path: string): string {
  try {
    return followed(path)
  } catch {
    return path
  }
}

/** Opened for reading; undefined when there is no file. Anything else by that name is none. */
export function openPlain(path: string): number | undefined {
  try {
    return openGuarded(path)
  } catch (error) {
    if (isNothing(error) || error instanceof UnsuitableFile) return undefined
    throw error
  }
}

/** All of a file; undefined when there is none. */
export function readPlain(path: string): Buffer | undefined {
  const file = openPlain(path)
  if (file === undefined) return undefined
  try {
    return readFileSync(file)
  } finally {
    closeSync(file)
  }
}

/** In words, what is in the place of a file; undefined when that is a file, or nothing. */
export function foreignAt(path: string): string | undefined {
  const stat = statIfThere(path)
  if (stat) return stat.isFile() ? undefined : kindOf(stat)
  return lstatSync(path, { throwIfNoEntry: false }) ? 'a dangling link' : undefined
}

/** Says so when something else is in the place of a file of ours. A link that leads to nothing may become one when it is opened. */
export function refuseForeign(path: string, { mayLink = true } = {}): void {
  const what = mayLink && !statIfThere(path) ? undefined : foreignAt(path)
  if (what !== undefined)
    throw new SkeinError('home-unreadable', `${path} is ${what}, not a file`, 'Move it away, then try again')
}

const isNothing = (error: unknown): boolean => ['ENOENT', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')
