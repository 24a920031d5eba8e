import { existsSync, lstatSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { keepNewest, setAside } from './set-aside.js'

/*
 * `index.db` is a link to a generation of the index, and a new index is a new generation with a name of its own. SQLite keeps a log
 * beside the file under the file's name, and removes it when the last user closes, which may be long after we did: Node closes a
 * database when its statements are collected. With one name for two files, an old user would remove the log of the new one.
 * Whoever still has an old generation open may go on: all of them read the same journal.
 */

const SIDE_FILES = ['', '-wal', '-shm'] as const

/** A name that no generation ever had: `mark` must be random. */
export function newGeneration(link: string, mark: string): string {
  const name = (copy: string): string => join(dirname(link), `${stemOf(link)}-${mark.slice(0, 13)}${copy}.db`)
  let path = name('')
  // With fixed randomness, as in a comparison of versions, two processes have the same mark.
  for (let copy = 2; existsSync(path); copy += 1) path = name(`-${copy}`)
  return path
}

/** Which generation `link` leads to: differs from any before it. Undefined when there is none. */
export function generationOf(link: string): string | undefined {
  try {
    return readlinkSync(link)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    return `file ${lstatSync(link, { throwIfNoEntry: false })?.ino}`
  }
}

/** From now on `link` is this generation; older ones are removed. */
export function pointTo(link: string, generation: string): void {
  const next = `${link}.next-${process.pid}`
  rmSync(next, { force: true })
  symlinkSync(basename(generation), next)
  renameSync(next, link)
  const isOlder = (name: string): boolean =>
    name.startsWith(`${stemOf(link)}-`) && /\.db(-wal|-shm)?$/.test(name) && !name.startsWith(basename(generation))
  for (const name of readdirSync(dirname(link)).filter(isOlder)) rmSync(join(dirname(link), name), { force: true })
  // Of a file that stood here before there were generations: no generation has a log of this name.
  for (const side of ['-wal', '-shm']) rmSync(link + side, { force: true })
}

const stemOf = (link: string): string => basename(link, '.db')

/** Removes a link that leads out of its directory: some ways of copying a home leave the copy with the index of the original. */
export function dropForeignLink(link: string): void {
  const target = lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() ? readlinkSync(link) : undefined
  if (target?.includes('/')) rmSync(link)
}

/** Keeps what `link` leads to under a dated name, beside the newest few of those kept before; returns that name. */
export function setAsideGeneration(link: string, nowMs: number, newest = 2): string {
  const kept = setAside(link, 'set-aside', nowMs)
  if (lstatSync(kept).isSymbolicLink()) {
    const generation = join(dirname(link), readlinkSync(kept))
    rmSync(kept)
    if (existsSync(generation)) renameSync(generation, kept)
  }
  keepNewest(link, newest)
  return kept
}

export function removeDatabase(path: string): void {
  for (const side of SIDE_FILES) rmSync(path + side, { force: true })
}
