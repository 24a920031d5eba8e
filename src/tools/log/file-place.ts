import { fstatSync, readSync } from 'node:fs'

const TAIL_BYTES = 1024

/**
 * A place in a log file up to which it was read, as text: the file's identity, the offset, and a hash of the bytes just before it.
 * They tell a file that grew from one that was replaced, cut or rewritten, without reading it all.
 */
export function placeAt(file: number, offset: number): string {
  return `${inodeOf(file)} ${offset} ${tailHash(file, offset)}`
}

/** Where to go on in an open file: after the place if the file still is what it was there, else at the start. */
export function offsetAfter(file: number, place: string): number {
  const offset = Number(place.split(' ')[1])
  return Number.isSafeInteger(offset) && offset > 0 && placeAt(file, offset) === place ? offset : 0
}

function inodeOf(file: number): string {
  const stat = fstatSync(file, { bigint: true }) // inode numbers may not fit into a double
  return `${stat.dev}:${stat.ino}`
}

/** Two rounds of FNV-1a: enough against chance, and it spares the start-up of the crypto module. */
function tailHash(file: number, offset: number): string {
  const tail = Buffer.alloc(Math.min(TAIL_BYTES, offset))
  for (let done = 0; done < tail.length; ) {
    const got = readSync(file, tail, done, tail.length - done, offset - tail.length + done)
    if (got === 0) return 'cut' // the file does not reach that far
    done += got
  }
  let first = 0x811c9dc5
  let second = 0x9e3779b9
  for (const byte of tail) {
    first = Math.imul(first ^ byte, 0x01000193)
    second = Math.imul(second ^ byte, 0x01000193)
    second ^= second >>> 13
  }
  return `${(first >>> 0).toString(16)}${(second >>> 0).toString(16).padStart(8, '0')}`
}
