import { closeSync, existsSync, fstatSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import { openPlain, writeAtomic } from '../disk/index.js'
import type { Fact } from '../tools/index.js'
import type { LogOrigin, ReadMark } from './archived-log.js'
import { checkedLine, parseChecked, parseUnchecked } from './checked-line.js'
import { factLines, parseFacts } from './fact-lines.js'
import { readAt } from './read-at.js'

/** The sealed file that was there when this one was begun: this one goes on from it, or stands in its place. */
export interface Base {
  id: string
  how: 'continues' | 'replaces'
}

export interface LiveHeader extends LogOrigin {
  kind: 'archive'
  v: number
  id: string
  base?: Base | undefined
  /** The version in which what was there before is kept until this one is complete, and it is known whether it lacks anything. */
  set_aside?: number | undefined
}

const VERSION = 1
const THROUGH = '{"kind":"through"'
const TAIL_BYTES = 16 * 1024
const ENDS = /,"crc":"[0-9a-f]{8}"\}\n/

/**
 * A log that is still being written to, as lines: a header, then for each reading its facts and a line that says how far they go and
 * vouches for them. What comes after the last such line is the remains of a process that died, and counts for nothing.
 */
export function createLive(
  path: string,
  header: Omit<LiveHeader, 'kind' | 'v'>,
  facts: readonly Fact[],
  standing: ReadMark,
): void {
  const first = checkedLine({ kind: 'archive', v: VERSION, ...header } satisfies LiveHeader)
  writeAtomic(path, first + batchText(facts, standing), { durable: true })
}

/** On the disk when this returns. */
export function appendLive(path: string, facts: readonly Fact[], standing: ReadMark): void {
  const file = openSync(path, 'r+')
  try {
    const { size } = fstatSync(file)
    const end = lastThrough(file, size)?.end ?? size
    if (end < size) ftruncateSync(file, end)
    const bytes = Buffer.from(batchText(facts, standing))
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done, bytes.length - done, end + done)
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** How far it goes, from its end alone. */
export function liveStanding(path: string): ReadMark | undefined {
  const file = openIfThere(path)
  if (file === undefined) return undefined
  try {
    return lastThrough(file, fstatSync(file).size)?.standing
  } finally {
    closeSync(file)
  }
}

export function liveHeader(path: string): LiveHeader | undefined {
  const file = openIfThere(path)
  if (file === undefined) return undefined
  try {
    const first = headerLine(file)
    return first && headerIn(first.line)
  } finally {
    closeSync(file)
  }
}

function headerLine(file: number): { line: string; end: number } | undefined {
  for (let length = TAIL_BYTES; ; length *= 4) {
    const bytes = readAt(file, 0, length)
    const end = bytes.indexOf(0x0a)
    if (end !== -1) return { line: bytes.toString('utf8', 0, end), end: end + 1 }
    if (bytes.length < length) return undefined
  }
}

/** A live file, opened once and read a batch at a time. What is appended meanwhile is not part of it. */
export class LiveReader implements Disposable {
  /** Of the last batch that was read; of the last one in the file before any was. */
  standing: ReadMark
  /** What is wrong with it; what came before the damage was read. */
  problem: string | undefined
  #guess = TAIL_BYTES

  private constructor(
    private readonly file: number,
    private readonly size: number,
    private readonly start: number,
    readonly header: LiveHeader,
    standing: ReadMark,
  ) {
    this.standing = standing
  }

  /** Undefined when there is no such file, or nothing of it can be read. */
  static open(path: string): LiveReader | undefined {
    const file = openIfThere(path)
    if (file === undefined) return undefined
    const { size } = fstatSync(file)
    const first = headerLine(file)
    const header = first && headerIn(first.line)
    const standing = header && lastThrough(file, size)?.standing
    if (first && header && standing) {
      const reader = new LiveReader(file, size, first.end, header, standing)
      if (reader.#checkedAt(first.end)?.through) return reader
    }
    closeSync(file)
    return undefined
  }

  get bytes(): number {
    return this.size
  }

  *batches(): Generator<Fact[], void> {
    let from = this.start
    while (from < this.size) {
      const batch = this.#checkedAt(from)
      if (!batch) break
      const { body, through, end } = batch
      if (!through) {
        this.problem = `damaged between byte ${from} and byte ${end}`
        return
      }
      const { facts, unread } = parseFacts(body)
      if (unread > 0) this.problem = `${unread} lines between byte ${from} and byte ${end} are not JSON`
      this.standing = through as unknown as ReadMark
      yield facts
      from = end
    }
    // A process that dies leaves the beginning of a piece; the end of one is a piece whose end was damaged.
    const rest = readAt(this.file, from, this.size - from)
    if (!this.problem && ENDS.test(rest.toString('latin1'))) this.problem = `damaged after byte ${from}`
  }

  [Symbol.dispose](): void {
    closeSync(this.file)
  }

  /** Facts and what the line says that ends them, unless it does not fit them; undefined when no such line follows. */
  #checkedAt(from: number): { body: Buffer; through: Record<string, unknown> | undefined; end: number } | undefined {
    for (let length = this.#guess; ; length *= 2) {
      const bytes = readAt(this.file, from, Math.min(length, this.size - from))
      const batch = batchIn(bytes)
      if (batch) {
        this.#guess = Math.max(TAIL_BYTES, batch.end)
        return { body: batch.body, through: parseChecked(batch.line, batch.body), end: from + batch.end }
      }
      if (from + bytes.length >= this.size) return undefined
    }
  }
}

function batchText(facts: readonly Fact[], standing: ReadMark): string {
  const body = factLines(facts)
  return body + checkedLine({ kind: 'through', ...standing }, Buffer.from(body))
}

function headerIn(line: string): LiveHeader | undefined {
  const header = parseChecked(line)
  return header?.kind === 'archive' && Number(header.v) <= VERSION ? (header as unknown as LiveHeader) : undefined
}

/** Facts and the line that ends them; undefined when no such line follows. */
function batchIn(bytes: Buffer): { body: Buffer; line: string; end: number } | undefined {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at)
    if (end === -1) return undefined
    if (bytes.toString('latin1', at, at + THROUGH.length) === THROUGH)
      return { body: bytes.subarray(0, at), line: bytes.toString('utf8', at, end), end: end + 1 }
    at = end + 1
  }
  return undefined
}

function lastThrough(file: number, size: number): { standing: ReadMark; end: number } | undefined {
  for (let length = Math.min(size, TAIL_BYTES); ; length = Math.min(size, length * 4)) {
    const tail = readAt(file, size - length, length)
    for (let before = tail.length; ; ) {
      const at = tail.lastIndexOf(`\n${THROUGH}`, before)
      if (at === -1) break
      const end = tail.indexOf(0x0a, at + 1)
      const said = end === -1 ? undefined : parseUnchecked(tail.toString('utf8', at + 1, end))
      if (said) return { standing: said as unknown as ReadMark, end: size - length + end + 1 }
      if (at === 0) break
      before = at - 1
    }
    if (length === size) return undefined
  }
}

/** Most logs have none, and an error takes longer than asking first. */
const openIfThere = (path: string): number | undefined => (existsSync(path) ? openPlain(path) : undefined)
