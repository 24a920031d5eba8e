import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Replaces a file so that every reader, and every crash, sees the old content or the new, never a mixture.
 * With `durable`, the new content is on the disk when this returns.
 */
export function writeAtomic(path: string, content: string | Uint8Array, options: { durable: boolean }): void {
  const temporary = `${path}.tmp-${process.pid}`
  const file = openSync(temporary, 'w', 0o600)
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
