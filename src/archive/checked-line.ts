import { crc32 } from 'node:zlib'

const MARK = ',"crc":"'
const TAIL_LENGTH = MARK.length + 8 + 2

/** A line of JSON with a checksum of itself and of the bytes it vouches for. */
export function checkedLine(value: object, body: Uint8Array = NOTHING): string {
  const json = JSON.stringify(value)
  return `${json.slice(0, -1)}${MARK}${sumOf(json, body)}"}\n`
}

/** What it says, or undefined when it or the bytes are not what was written. */
export function parseChecked(line: string, body: Uint8Array = NOTHING): Record<string, unknown> | undefined {
  const json = `${line.slice(0, -TAIL_LENGTH)}}`
  if (line.slice(-TAIL_LENGTH) !== `${MARK}${sumOf(json, body)}"}`) return undefined
  return JSON.parse(json) as Record<string, unknown>
}

/** The same without looking at the bytes, for those who only want to know what it says. */
export function parseUnchecked(line: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}

const NOTHING = new Uint8Array()
const sumOf = (json: string, body: Uint8Array): string => hex(crc32(json, body.length === 0 ? 0 : crc32(body)))
const hex = (sum: number): string => sum.toString(16).padStart(8, '0')
