import { readSync } from 'node:fs'
import { MOST_TOKENS, modelName, totalTokens } from '../../model/index.js'
import type { UsageRecord } from '../log/usage-reader.js'
import { CLAUDE_SCAN_CODE } from './claude-scan-code.js'

/** Small enough to stay in the processor's cache while it is searched: a third faster than reading whole files. */
const CHUNK_BYTES = 256 * 1024
/** A longer line is counted and passed over; no text of that size can be parsed anyway. */
const LONGEST_LINE_BYTES = 256 * 1024 * 1024
/** Memory that grew beyond this for a long line is given back after the log. */
const KEPT_BYTES = 8 * 1024 * 1024
const PAGE_BYTES = 64 * 1024
/** The scanner looks this far past the last byte. */
const SLACK_BYTES = 64
const LINE_FEED = 0x0a

interface Constant {
  readonly value: number
}

interface Scanner {
  memory: { readonly buffer: ArrayBuffer; grow(pages: number): void }
  /** Reads the whole lines in a range and returns where it stopped; see wasm/claude-scan.ts. */
  scan(from: number, to: number): number
  records: Constant
  requested: { value: number }
  BUFFER: Constant
  RECORDS: Constant
  RECORD_BYTES: Constant
  MOST_RECORDS: Constant
}

export interface ScanVisitor {
  /** Whose log it is, whatever its lines say. */
  readonly session: string | undefined
  /** Whether the first line of a request is known already. */
  readonly isRequested: boolean
  tell(telling: UsageRecord): void
  /** A line that may hold usage, but has to be parsed to know, or the first line of a request. The bytes are valid during the call. */
  unsure(bytes: Buffer, start: number, end: number): void
}

export interface LinesRead {
  /** Where the last line that ended in a line feed ended. What follows was read too, but may still be growing. */
  end: number
  bytes: number
  oversized_lines: number
}

/** Finds the usage in a Claude Code log at the speed of reading it. Memory is bounded by the longest line. */
export class ClaudeScan {
  #module: object | undefined
  #scanner: Scanner | undefined
  #bytes = Buffer.alloc(0)
  #ints = new Int32Array()
  #doubles = new Float64Array()
  #session = ''

  read(file: number, from: number, visitor: ScanVisitor): LinesRead {
    const scanner = this.#load()
    const base = scanner.BUFFER.value
    let held = 0 // bytes of an unfinished line, at the front of the buffer
    let position = from
    let end = from
    let isSkipping = false
    let oversized = 0
    scanner.requested.value = visitor.isRequested ? 1 : 0
    for (;;) {
      if (base + held === this.#limit) {
        if (held >= LONGEST_LINE_BYTES) {
          isSkipping = true
          held = 0
        } else this.#grow()
      }
      const got = readSync(file, this.#bytes, base + held, this.#limit - base - held, position)
      if (got === 0) break
      position += got
      const filled = base + held + got
      let start = base
      if (isSkipping) {
        const feed = this.#bytes.indexOf(LINE_FEED, base)
        if (feed < 0 || feed >= filled) continue
        isSkipping = false
        oversized += 1
        start = feed + 1
      }
      start = this.#scan(start, filled, visitor)
      held = filled - start
      if (start > base) end = position - held
      if (held > 0 && start > base) this.#bytes.copyWithin(base, start, filled)
    }
    if (held > 0) {
      this.#bytes[base + held] = LINE_FEED
      this.#scan(base, base + held + 1, visitor)
    }
    if (this.#bytes.length > KEPT_BYTES) this.#scanner = undefined
    return { end, bytes: position - from, oversized_lines: oversized }
  }

  get #limit(): number {
    return this.#bytes.length - SLACK_BYTES
  }

  /** Returns the place after the last line feed. */
  #scan(from: number, to: number, visitor: ScanVisitor): number {
    const scanner = this.#load()
    const most = scanner.MOST_RECORDS.value
    for (let start = from; ; ) {
      start = scanner.scan(start, to)
      const count = scanner.records.value
      for (let i = 0; i < count; i++) this.#visit(scanner.RECORDS.value + i * scanner.RECORD_BYTES.value, visitor)
      if (count < most) return start
    }
  }

  #visit(record: number, visitor: ScanVisitor): void {
    const ints = this.#ints
    const doubles = this.#doubles
    const i = record >> 2
    const d = (record >> 3) + 7
    if (ints[i] !== 1) {
      visitor.unsure(this.#bytes, ints[i + 1] as number, ints[i + 2] as number)
      return
    }
    const session = visitor.session ?? this.#text(i + 7)
    if (session !== this.#session) this.#session = session // one string for all the calls of a log
    const telling: UsageRecord = {
      tool: 'claude',
      call: this.#text(i + 3),
      session: this.#session,
      model: modelName(this.#text(i + 5)),
      at_ms: doubles[d] as number,
      input_tokens: doubles[d + 1] as number,
      output_tokens: doubles[d + 2] as number,
      cache_read_tokens: doubles[d + 3] as number,
      cache_write_5m_tokens: doubles[d + 4] as number,
      cache_write_1h_tokens: doubles[d + 5] as number,
      web_search_requests: doubles[d + 6] as number,
      service_tier: ints[i + 10] === 0 ? undefined : this.#text(i + 9),
      speed: ints[i + 12] === 0 ? undefined : this.#text(i + 11),
      logged_nano_usd: undefined,
    }
    // A count that no call has is damage, and what to make of it is decided in one place.
    if (totalTokens(telling) + telling.web_search_requests <= MOST_TOKENS) visitor.tell(telling)
    else visitor.unsure(this.#bytes, ints[i + 1] as number, ints[i + 2] as number)
  }

  #text(field: number): string {
    const at = this.#ints[field] as number
    return this.#bytes.toString('utf8', at, at + (this.#ints[field + 1] as number))
  }

  #load(): Scanner {
    if (this.#scanner) return this.#scanner
    this.#module ??= new WebAssembly.Module(Buffer.from(CLAUDE_SCAN_CODE, 'base64'))
    const scanner = new WebAssembly.Instance(this.#module).exports as Scanner
    this.#scanner = scanner
    const missing = scanner.BUFFER.value + CHUNK_BYTES + SLACK_BYTES - scanner.memory.buffer.byteLength
    if (missing > 0) scanner.memory.grow(Math.ceil(missing / PAGE_BYTES))
    this.#view(scanner)
    return scanner
  }

  #grow(): void {
    const scanner = this.#load()
    scanner.memory.grow(((scanner.memory.buffer.byteLength - scanner.BUFFER.value) * 3) / PAGE_BYTES)
    this.#view(scanner)
  }

  /** Growing replaces the buffer, so every view of it has to be recreated. */
  #view({ memory }: Scanner): void {
    this.#bytes = Buffer.from(memory.buffer)
    this.#ints = new Int32Array(memory.buffer)
    this.#doubles = new Float64Array(memory.buffer)
  }
}
