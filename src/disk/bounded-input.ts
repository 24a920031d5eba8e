import { constants, existsSync, fstatSync, openSync, readFileSync, readSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'

export interface InputLimits {
  /** What is longer is not read to its end. */
  readonly mostBytes: number
  readonly waitMs: number
  /**
   * Nothing is taken from input that the process which started this one has as well: the lines of a `while read` loop, the rest of a script
   * that a shell reads. A pipe cannot be looked into without taking out of it, so it is left alone; so is a file that was begun to be read.
   */
  readonly isOwnOnly?: boolean
}

/**
 * What comes in on a descriptor, whatever is at its other end: a pipe that is never closed, gigabytes, a terminal, nothing. JSON is complete
 * with its last bracket, so a writer need not close the pipe. Empty when there is no input; undefined when there is more than allowed.
 *
 * No read ever blocks: Node cannot end, not even by `process.exit`, while one of its threads is in a read. The descriptor is not used again.
 */
export function boundedInput(
  descriptor: number,
  { mostBytes, waitMs, isOwnOnly = false }: InputLimits,
): Promise<string | undefined> {
  const source = isOwnOnly && isShared(descriptor) ? unread(descriptor) : descriptor
  if (source === undefined) return Promise.resolve('')
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    let size = 0
    let stop: (() => void) | undefined
    const end = (isWhole: boolean): void => {
      clearTimeout(timer)
      stop?.()
      resolve(isWhole ? Buffer.concat(pieces).toString('utf8') : undefined)
    }
    const timer = setTimeout(() => end(true), waitMs)
    const take = (piece: Buffer | undefined): boolean => {
      if (piece) pieces.push(piece)
      size += piece?.length ?? 0
      if (size > mostBytes) end(false)
      else if (piece === undefined || isJson(pieces)) end(true)
      else return true
      return false
    }
    stop = follow(source, take)
  })
}

/** Whether our parent has the same input. Where that cannot be told, it is taken to have it. */
function isShared(descriptor: number): boolean {
  const parent = process.ppid
  if (parent === 0) return false // outside of this container
  if (!existsSync('/proc/self/fd')) return true
  try {
    const [ours, theirs] = [fstatSync(descriptor), statSync(`/proc/${parent}/fd/0`)]
    return ours.dev === theirs.dev && ours.ino === theirs.ino
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ENOENT' // else it has none
  }
}

/** A file of which nobody has read anything yet, with a position of our own. Some shells open the file of `command < file` themselves. */
function unread(descriptor: number): number | undefined {
  try {
    const isBegun = !/^pos:\s*0$/m.test(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))
    return isBegun || !fstatSync(descriptor).isFile() ? undefined : reopened(descriptor)
  } catch {
    return undefined
  }
}

const PIECE_BYTES = 64 * 1024
/** How often an empty pipe is asked. */
const ASK_MS = 2

/** Hands over pieces until `take` has enough; undefined is the end. Returns what stops it. */
function follow(descriptor: number, take: (piece: Buffer | undefined) => boolean): () => void {
  const source = openedFor(descriptor)
  if (source === undefined) {
    take(undefined)
    return () => {}
  }
  if (source === 'socket') return followSocket(descriptor, take)
  let timer: NodeJS.Timeout | undefined
  const more = (): void => {
    for (let isWanted = true; isWanted; ) {
      const piece = pieceOf(source)
      if (piece === 'later') {
        timer = setTimeout(more, ASK_MS)
        return
      }
      isWanted = take(piece)
    }
  }
  more()
  return () => clearTimeout(timer)
}

/** A descriptor that can be read without blocking. A terminal is left alone: it waits for somebody to type. */
function openedFor(descriptor: number): number | 'socket' | undefined {
  try {
    const stat = fstatSync(descriptor)
    if (stat.isFile()) return descriptor
    if (stat.isFIFO()) return reopened(descriptor) ?? 'socket'
    return stat.isSocket() ? 'socket' : undefined
  } catch {
    return undefined // closed
  }
}

/** Under a description of its own, so that the other processes that have the pipe notice nothing. Linux only. */
function reopened(descriptor: number): number | undefined {
  try {
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_RDONLY | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
}

function pieceOf(file: number): Buffer | 'later' | undefined {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES)
  try {
    const count = readSync(file, buffer, 0, PIECE_BYTES, null)
    return count === 0 ? undefined : buffer.subarray(0, count)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN' ? 'later' : undefined
  }
}

/** Loaded where it is needed: it takes some milliseconds. */
function followSocket(fd: number, take: (piece: Buffer | undefined) => boolean): () => void {
  const { Socket } = createRequire(import.meta.url)('node:net') as typeof import('node:net')
  const socket = new Socket({ fd, readable: true, writable: false })
  let isWanted = true
  const give = (piece: Buffer | undefined): void => {
    if (isWanted) isWanted = take(piece)
  }
  socket.on('data', give)
  socket.on('end', () => give(undefined))
  socket.on('error', () => give(undefined))
  return () => {
    isWanted = false
    socket.destroy()
  }
}

function isJson(pieces: readonly Buffer[]): boolean {
  if (!/[}\]]\s*$/.test(pieces.at(-1)?.subarray(-16).toString('latin1') ?? '')) return false
  try {
    JSON.parse(Buffer.concat(pieces).toString('utf8'))
    return true
  } catch {
    return false
  }
}
