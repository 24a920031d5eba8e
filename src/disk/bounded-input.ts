import { fstatSync, read } from 'node:fs'

export interface InputLimits {
  /** What is longer is not read to its end. */
  readonly mostBytes: number
  readonly waitMs: number
}

/**
 * What comes in on a descriptor, whatever is at its other end: a pipe that is never closed, gigabytes, a terminal, nothing. JSON is complete
 * with its last bracket, so a writer need not close the pipe. Empty when there is no input; undefined when there is more than allowed.
 * After a timeout the read is still pending in the system: whoever calls this must end with `process.exit`.
 */
export function boundedInput(descriptor: number, { mostBytes, waitMs }: InputLimits): Promise<string | undefined> {
  if (!hasInput(descriptor)) return Promise.resolve('')
  return new Promise((resolve) => {
    const pieces: Buffer[] = []
    let size = 0
    const end = (isWhole: boolean): void => {
      clearTimeout(timer)
      resolve(isWhole ? Buffer.concat(pieces).toString('utf8') : undefined)
    }
    const timer = setTimeout(() => end(true), waitMs)
    const more = (): void => {
      const buffer = Buffer.allocUnsafe(PIECE_BYTES)
      read(descriptor, buffer, 0, PIECE_BYTES, null, (error, count) => {
        if (error?.code === 'EAGAIN') return void setTimeout(more, RETRY_MS)
        if (error || count === 0) return end(true)
        pieces.push(buffer.subarray(0, count))
        size += count
        if (size > mostBytes) end(false)
        else if (isJson(pieces)) end(true)
        else more()
      })
    }
    more()
  })
}

const PIECE_BYTES = 64 * 1024
const RETRY_MS = 5

/** A terminal waits for somebody to type. */
function hasInput(descriptor: number): boolean {
  try {
    return !fstatSync(descriptor).isCharacterDevice()
  } catch {
    return false // closed
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
