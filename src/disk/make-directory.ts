import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { statIfThere } from './plain-file.js'

/**
 * Makes a directory of ours and what is missing above it; nothing happens when it is there.
 * Not `mkdirSync` with `recursive`: that one tries for ever where the system says "no such file" of a directory whose parent exists,
 * as it does under /proc.
 */
export function makeDirectory(path: string): void {
  // Most often it is there, and a refusal by the system costs ten times as much as the question.
  if (statIfThere(path)?.isDirectory() || made(path)) return
  makeDirectory(dirname(path))
  if (!made(path)) throw noDirectoriesIn(path)
}

/** Writes a file of ours. Its directory is made when it is missing: most often it is there, and to ask first costs more than to write. */
export function inDirectory(file: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    makeDirectory(dirname(file))
    write()
  }
}

/** False when the system misses something above it. */
function made(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o700 })
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' && dirname(path) !== path) return false
    if (code === 'EEXIST' && statIfThere(path)?.isDirectory()) return true
    throw error
  }
}

function noDirectoriesIn(path: string): NodeJS.ErrnoException {
  const error: NodeJS.ErrnoException = new Error(`ENOENT: no directory can be made in ${dirname(path)}`)
  error.code = 'ENOENT'
  return error
}
