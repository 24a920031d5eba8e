import { fstatSync, statSync, writeSync } from 'node:fs'
import { devNull } from 'node:os'
import { SkeinError } from '../../model/index.js'
import type { Stream } from './output.js'

/**
 * A standard stream that is no terminal, written to directly: making Node's own stream object costs 4 ms, a tenth of a
 * small command. Undefined when it may be a terminal, which only Node's object knows how to ask.
 */
export function plainDescriptor(fd: 1 | 2): Stream | undefined {
  const stat = fstatSync(fd)
  if (stat.isCharacterDevice() && stat.rdev !== nullDevice()) return undefined
  return { write: (text) => writeAll(fd, Buffer.from(text)) }
}

/** Where jobs send what nobody reads; it is a device like a terminal, and is none. */
const nullDevice = (): number | undefined => statSync(devNull, { throwIfNoEntry: false })?.rdev

function writeAll(fd: number, bytes: Buffer): void {
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(fd, bytes, done)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : undefined
      if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'EFBIG') throw noRoom(error)
      // A reader that is slow, on a pipe that somebody made non-blocking: wait for it as a blocking write would.
      if (code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

const noRoom = (cause: unknown): SkeinError =>
  new SkeinError(
    'disk-full',
    'No space left for the output',
    'The output is incomplete: free some space and try again',
    { cause },
  )
