import { closeSync, constants, fstatSync, openSync, readSync, rmSync, type Stats, writeSync } from 'node:fs'
import { refuseDead } from './mounts.js'
import { UnsuitableFile } from './unsuitable-file.js'

/** What a reader of a file that Skein did not write accepts. */
export interface Guard {
  /** A larger file is refused. */
  mostBytes: number
  /** Refuses a link in the place of the file: it could lead to a file that its owner never meant to be read. */
  noFollow?: boolean
}

/**
 * Opens a file that another program wrote. Without O_NONBLOCK, opening a pipe waits for a writer, and reading some files of the kernel
 * waits for news; without O_NOCTTY, opening a terminal may make it ours. What was opened is checked on the descriptor, so that
 * nothing can be put in its place in between.
 */
export function openGuarded(path: string, { noFollow = false }: Pick<Guard, 'noFollow'> = {}): number {
  const { O_RDONLY, O_NONBLOCK, O_NOCTTY, O_NOFOLLOW } = constants
  refuseDead(path)
  let file: number
  try {
    file = openSync(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | (noFollow ? O_NOFOLLOW : 0))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENXIO') throw new UnsuitableFile(path, 'a socket, not a file')
    if (code === 'ELOOP' && noFollow) throw new UnsuitableFile(path, 'a link, not a file')
    throw error
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new UnsuitableFile(path, `${kindOf(stat)}, not a file`)
    return file
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/** All of a file that another program wrote. */
export function readGuarded(path: string, guard: Guard): Buffer {
  const file = openGuarded(path, guard)
  try {
    return readOpen(file, path, guard.mostBytes)
  } finally {
    closeSync(file)
  }
}

/** The text of a file that only adds to what is known: undefined whatever the trouble with it is. */
export function guardedText(path: string, mostBytes: number): string | undefined {
  try {
    return readGuarded(path, { mostBytes }).toString('utf8')
  } catch {
    return undefined
  }
}

/**
 * What the user named on the command line, up to a size. It may be a pipe, as a shell gives for `<(command)`: then the writer is the
 * user's own, and is waited for.
 */
export function readGiven(path: string, mostBytes: number): Buffer {
  refuseDead(path)
  const file = openSync(path, 'r')
  try {
    return readOpen(file, path, mostBytes)
  } finally {
    closeSync(file)
  }
}

/** Copies a file that another program wrote to a new one, readable by its user alone. */
export function copyGuarded(from: string, to: string, guard: Pick<Guard, 'noFollow'>): void {
  const source = openGuarded(from, guard)
  try {
    const target = openSync(to, 'wx', 0o600)
    try {
      const piece = Buffer.allocUnsafe(COPY_BYTES)
      for (let got = readSync(source, piece); got > 0; got = readSync(source, piece))
        for (let done = 0; done < got; ) done += writeSync(target, piece, done, got - done)
    } catch (error) {
      rmSync(to, { force: true })
      throw error
    } finally {
      closeSync(target)
    }
  } finally {
    closeSync(source)
  }
}

const COPY_BYTES = 1024 * 1024

/** The size that the system names is no promise: files of the kernel have none, and others grow while they are read. */
export function readOpen(file: number, path: string, mostBytes: number): Buffer {
  const { size } = fstatSync(file)
  if (size > mostBytes) throw tooLarge(path, mostBytes)
  const pieces: Buffer[] = []
  let length = 0
  for (;;) {
    const piece = Buffer.allocUnsafe(Math.max(size - length, 0) + 512)
    const got = readSync(file, piece)
    if (got === 0) return pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces, length)
    pieces.push(piece.subarray(0, got))
    length += got
    if (length > mostBytes) throw tooLarge(path, mostBytes)
  }
}

const tooLarge = (path: string, mostBytes: number): UnsuitableFile =>
  new UnsuitableFile(path, `larger than ${sizeInWords(mostBytes)}`)

function sizeInWords(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${Math.round(bytes / (1024 * 1024))} MB` : `${Math.round(bytes / 1024)} KB`
}

/** In words, what is in the place of a file. */
export function kindOf(stat: Stats): string {
  if (stat.isDirectory()) return 'a directory'
  if (stat.isFIFO()) return 'a pipe'
  return stat.isSocket() ? 'a socket' : 'a device'
}
