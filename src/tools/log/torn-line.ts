import { isObject, type JsonObject } from '../json-value.js'

/** The first keys of records as tools write them. Within a text their quotes are escaped, so there they are not found. */
const RECORD_HEAD = /\{"(?:type|uuid|parentUuid|timestamp|sessionId|id|\$set)":/g
const MOST_HEADS = 64

/**
 * The whole records in a line that is not JSON, in their order. A crash leaves a run of NULs where a record was being written, or a
 * record without its line feed, whole or half, with the next one after it.
 */
export function recordsInTornLine(line: string): JsonObject[] {
  const text = line.includes('\0') ? line.replace(/\0+/g, '') : line
  const whole = parseObject(text)
  if (whole) return [whole]
  const heads = [...text.matchAll(RECORD_HEAD)].map((match) => match.index).filter((at) => at > 0)
  // A record that begins right behind another one: nothing else in JSON looks like it.
  const starts = [0, ...heads.filter((at) => text[at - 1] === '}').slice(-MOST_HEADS)]
  return starts.flatMap((start, nth): JsonObject[] => {
    const end = starts[nth + 1] ?? text.length
    const piece = text.slice(start, end)
    const record =
      parseObject(piece) ??
      endOfTorn(
        piece,
        heads.filter((at) => at > start && at < end).map((at) => at - start),
      )
    return record ? [record] : []
  })
}

function endOfTorn(piece: string, heads: readonly number[]): JsonObject | undefined {
  for (const at of heads.slice(-MOST_HEADS)) {
    const record = parseObject(piece.slice(at))
    if (record && isWholeRecord(record, piece.slice(0, at))) return record
  }
  return undefined
}

/** A record, and not a piece of one: the end of a torn line may be an object in its own right. */
const isWholeRecord = (record: JsonObject, before: string): boolean =>
  typeof record.type === 'string' && typeof record.timestamp === 'string' && !before.includes('"messages":[')

export function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
