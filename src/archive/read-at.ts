import { readSync } from 'node:fs'

/** These bytes of a file, or as many of them as there are. */
export function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  let done = 0
  while (done < length) {
    const read = readSync(file, bytes, done, length - done, position + done)
    if (read === 0) break
    done += read
  }
  return bytes.subarray(0, done)
}
