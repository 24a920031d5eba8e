import { closeSync, fsync, fsyncSync, lstatSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { namesIn } from './present.js'

/**
 * Replaces a file so that every reader, and every crash, sees the old content or the new, never a mixture.
 * With `durable`, the new content is on the disk when this returns.
 */
export function writeAtomic(path: string, content: string | Uint8Array, options: { durable: boolean }): void {
  const temporary = temporaryName(path)
  const file = openSync(temporary, 'wx', 0o600)
  try {
    writeFully(file, typeof content === 'string' ? Buffer.from(content) : content)
    if (options.durable) fsyncSync(file)
  } catch (error) {
    closeSync(file)
    rmSync(temporary, { force: true })
    throw error
  }
  closeSync(file)
  try {
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  if (options.durable) syncPath(dirname(path))
}

/**
 * The same, on the disk when this resolves, without holding up the process: files that many callers replace at once are synchronized
 * at once, and their directory once for all of them.
 */
export async function writeDurable(path: string, content: string): Promise<void> {
  const temporary = temporaryName(path)
  const file = openSync(temporary, 'wx', 0o600)
  try {
    try {
      writeFully(file, Buffer.from(content))
      await synchronized(file)
    } finally {
      closeSync(file)
    }
    await rename(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  await directorySynchronized(dirname(path))
}

const synchronized = (file: number): Promise<void> =>
  new Promise((resolve, reject) => fsync(file, (error) => (error ? reject(error) : resolve())))

const nextSyncs = new Map<string, Promise<void>>()

/** Shared by all who ask before it begins. */
function directorySynchronized(path: string): Promise<void> {
  const next = nextSyncs.get(path)
  if (next) return next
  const made = new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
    nextSyncs.delete(path)
    const file = openSync(path, 'r')
    try {
      await synchronized(file)
    } finally {
      closeSync(file)
    }
  })
  nextSyncs.set(path, made)
  return made
}

/**
 * A name for what is to become this file, which nobody else chooses: in another container the same pid may write the same file at the
 * same time. What a killed process leaves under such a name is removed by `removeRemains`.
 */
export const temporaryName = (path: string): string => `${path}.tmp-${process.pid}${process.hrtime.bigint()}`

/** Longer than any file takes to be written. */
const REMAINS_MS = 3_600_000

/** Removes what processes that were killed have left half written in a directory. */
export function removeRemains(directory: string, nowMs: number): void {
  for (const name of namesIn(directory)) {
    if (!/\.tmp-\d+$/.test(name)) continue
    const path = join(directory, name)
    const { mtimeMs = nowMs } = lstatSync(path, { throwIfNoEntry: false }) ?? {}
    if (nowMs - mtimeMs > REMAINS_MS) rmSync(path, { recursive: true, force: true })
  }
}

/** A write may be cut short (a full disk, a signal): go on until all is written or the system says why not. */
export function writeFully(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done)
}

/** Makes a file's content, or what was created, renamed or removed inside a directory, survive a power cut. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
