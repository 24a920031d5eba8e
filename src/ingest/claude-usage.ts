import { closeSync, openSync } from 'node:fs'
import { basename } from 'node:path'
import { tellingOfClaudeRecord } from './claude-record.js'
import { offsetAfter, placeAt } from './file-place.js'
import { LogLines } from './log-lines.js'
import type { Telling } from './telling.js'
import { salvageRecord } from './torn-line.js'
import type { LogReading, Resume, UsageReader, UsageSource } from './usage-reader.js'

const HEAD_BYTES = 640
/**
 * A line that says near its beginning, outside of any nested object, that it is not a reply: four fifths of a log's bytes.
 * It cannot be fooled by text: a quote inside a JSON string is escaped, and `{` inside one only makes us parse the line.
 */
const NOT_A_REPLY = /^\{[^{]*?(?:"type":"(?!assistant"|progress")|"attachment":\{)/

/**
 * Claude Code's logs: JSON lines. Only the replies are parsed, and all of them are, whole: V8's parser costs less than code of
 * our own that walks the bytes (such code is slow until it is compiled, and compiling it takes longer than 100 MB of logs).
 */
export class ClaudeUsage implements UsageReader {
  readonly #lines = new LogLines()
  readonly #session = new RepeatedText()
  readonly #model = new RepeatedText()

  read({ path }: UsageSource, tell: (telling: Telling) => void, resume?: Resume): LogReading {
    const session = basename(path, '.jsonl')
    let damaged = 0
    const visit = (bytes: Buffer, start: number, end: number): void => {
      if (NOT_A_REPLY.test(bytes.toString('latin1', start, Math.min(end, start + HEAD_BYTES)))) return
      if (isBlank(bytes, start, end)) return
      const text = bytes.toString('latin1', start, end) // a third of the cost of decoding UTF-8
      let record: unknown
      try {
        record = JSON.parse(text)
      } catch {
        damaged += 1
        record = salvageRecord(text)
      }
      const telling = tellingOfClaudeRecord(asObject(record), session)
      if (!telling) return
      telling.session = this.#session.decode(telling.session)
      telling.model = this.#model.decode(telling.model)
      tell(telling)
    }
    const file = openSync(path, 'r')
    try {
      const from = resume?.carry === undefined ? 0 : offsetAfter(file, resume.carry)
      const { end, bytes, oversized_lines } = this.#lines.read(file, from, visit)
      const carry = resume && placeAt(file, end)
      return { carry, resumed: from > 0, bytes, damaged_lines: damaged, oversized_lines }
    } finally {
      closeSync(file)
    }
  }
}

/** Names that every line repeats: decoded once, and one string in memory instead of thousands. */
class RepeatedText {
  #raw = ''
  #text = ''

  /** What a text read as Latin-1 says when its bytes are UTF-8. */
  decode(raw: string): string {
    if (raw !== this.#raw) {
      this.#raw = raw
      this.#text = Buffer.from(raw, 'latin1').toString('utf8')
    }
    return this.#text
  }
}

const asObject = (value: unknown): object | undefined =>
  typeof value === 'object' && value !== null ? value : undefined

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  let i = start
  while (i < end && ((bytes[i] as number) === 0x20 || bytes[i] === 0x0d || bytes[i] === 0x09)) i += 1
  return i === end
}
