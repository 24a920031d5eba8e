/** The first keys of records as tools write them. */
const RECORD_HEAD = /\{"(?:type|uuid|parentUuid|timestamp|sessionId|id|\$set)":/g
const MOST_HEADS = 64

/**
 * What can be saved of a line that is not JSON. A crash leaves a run of NULs where a record was being written, or half a
 * record with the next one after it, on the same line. Undefined when no whole record is in it.
 */
export function salvageRecord(line: string): unknown {
  const text = line.includes('\0') ? line.replaceAll('\0', '') : line
  const whole = parse(text)
  if (whole !== undefined) return whole
  const heads = [...text.matchAll(RECORD_HEAD)].map((match) => match.index).filter((at) => at > 0)
  for (const at of heads.slice(-MOST_HEADS)) {
    const record = parse(text.slice(at))
    if (record !== undefined) return record
  }
  return undefined
}

function parse(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
