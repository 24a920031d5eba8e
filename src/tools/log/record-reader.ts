import { isUtf8 } from 'node:buffer'
import type { JsonObject } from '../json-value.js'
import type { Counters } from './counters.js'
import type { LineReader } from './line-reader.js'
import { parseObject, recordsInTornLine } from './torn-line.js'

/** What a tool knows about its lines by their bytes alone. Parsing is most of the cost of reading a log. */
export interface Shortcut {
  /**
   * The line as JSON with only what is of interest; '' when nothing is; undefined when it is odd in any way, and has to be read as
   * it is. Only asked about whole lines.
   */
  trimmed(line: Buffer): string | undefined
}

/** The records of a line-based log. What is not a record is counted, and reading goes on with the next line. */
export class RecordReader {
  #isUnended = false
  /** Further records of a line that holds several. */
  #glued: JsonObject[] = []

  constructor(
    private readonly lines: LineReader,
    private readonly counters: Counters,
    private readonly shortcut?: Shortcut,
  ) {}

  /** Everything before this byte has been read; a torn last line has not. */
  get offset(): number {
    return this.#glued.length > 0 ? this.lines.start : this.lines.end
  }

  /** Whether the last record read has no newline (yet). */
  get isUnended(): boolean {
    return this.#isUnended
  }

  /** The next record, or undefined at the end. */
  next(): JsonObject | undefined {
    const glued = this.#glued.shift()
    if (glued) {
      this.counters.records += 1
      return glued
    }
    while (this.lines.next()) {
      const { line, terminated } = this.lines
      if (!terminated && !isWhole(line)) {
        this.counters.truncated_last_line = true
        this.lines.end = this.lines.start // it may be finished later: do not count it as read
        return undefined
      }
      this.#isUnended = !terminated
      if (!line) {
        this.counters.dropped_lines += 1
        continue
      }
      if (this.lines.condensed) this.counters.long_lines += 1
      if (isBlank(line)) {
        this.counters.blank_lines += 1
        continue
      }
      const trimmed = this.shortcut?.trimmed(line)
      if (trimmed === '') {
        this.counters.records += 1
        continue
      }
      const record = trimmed === undefined ? this.#parse(line) : parseObject(trimmed)
      if (record) {
        this.counters.records += 1
        return record
      }
      this.counters.bad_lines += 1
    }
    return undefined
  }

  #parse(line: Buffer): JsonObject | undefined {
    if (!isUtf8(line)) this.counters.bad_utf8_lines += 1
    const text = line.toString('utf8')
    const record = parseObject(text) ?? this.#recover(text)
    if (record && (text.includes('\\ud') || text.includes('\\uD')))
      this.counters.lone_surrogates += loneSurrogates(text)
    return record
  }

  #recover(text: string): JsonObject | undefined {
    const runs = text.includes('\0') ? (text.match(/\0+/g)?.length ?? 0) : 0
    this.counters.nul_runs += runs
    const [record, ...more] = recordsInTornLine(text)
    if (!record) return undefined
    if (runs === 0 || parseObject(text.replace(/\0+/g, '')) === undefined) this.counters.salvaged_lines += 1
    this.#glued = more
    return record
  }
}

/** Of a last line without a newline: a record that only lacks its newline is taken at once, anything else is still being written. */
const isWhole = (line: Buffer | undefined): boolean =>
  line !== undefined && parseObject(line.toString('utf8')) !== undefined

function isBlank(line: Buffer): boolean {
  for (let at = 0; at < line.length; at++) {
    const byte = line[at]
    if (byte !== 0x20 && byte !== 0x0d && byte !== 0x09) return false
  }
  return true
}

/** Halves of a character that a program cut in two (`\ud83d` without its `\ude80`). V8 reads them; most parsers refuse the line. */
export function loneSurrogates(json: string): number {
  let lone = 0
  let highEndsAt = -1
  for (const match of json.matchAll(/\\(?:u([0-9a-fA-F]{4})|.)/gs)) {
    const code = match[1] === undefined ? 0 : Number.parseInt(match[1], 16)
    if (code >= 0xd800 && code <= 0xdbff) {
      lone += 1
      highEndsAt = match.index + 6
    } else if (code >= 0xdc00 && code <= 0xdfff) {
      if (highEndsAt === match.index) lone -= 1
      else lone += 1
      highEndsAt = -1
    }
  }
  return lone
}
