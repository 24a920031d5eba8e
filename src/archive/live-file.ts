import { closeSync, existsSync, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import { openPlain, readPlain, writeAtomic } from '../disk/index.js'
import type { Fact } from '../tools/index.js'
import type { LogOrigin, Standing } from './archived-log.js'
import { checkedLine, parseChecked, parseUnchecked } from './checked-line.js'
import { factLines, parseFacts } from './fact-lines.js'

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
}

export interface LiveContent {
  header: LiveHeader
  standing: Standing
  facts: Fact[]
  /** What is wrong with it; what came before the damage was read. */
  problem?: string
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
  standing: Standing,
): void {
  const first = checkedLine({ kind: 'archive', v: VERSION, ...header } satisfies LiveHeader)
  writeAtomic(path, first + batchText(facts, standing), { durable: true })
}

/** On the disk when this returns. */
export function appendLive(path: string, facts: readonly Fact[], standing: Standing): void {
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
export function liveStanding(path: string): Standing | undefined {
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
    for (let length = TAIL_BYTES; ; length *= 4) {
      const bytes = readAt(file, 0, length)
      const end = bytes.indexOf(0x0a)
      if (end !== -1) return headerIn(bytes.toString('utf8', 0, end))
      if (bytes.length < length) return undefined
    }
  } finally {
    closeSync(file)
  }
}

/** Undefined when there is no such file, or nothing of it can be read. */
export function readLive(path: string): LiveContent | undefined {
  const bytes = readPlain(path)
  const headerEnd = bytes?.indexOf(0x0a) ?? -1
  const header = bytes && headerEnd !== -1 ? headerIn(bytes.toString('utf8', 0, headerEnd)) : undefined
  if (!bytes || !header) return undefined
  const facts: Fact[] = []
  let standing: Standing | undefined
  let problem: string | undefined
  let from = headerEnd + 1
  while (from < bytes.length) {
    const batch = batchAt(bytes, from)
    if (!batch) break
    const { body, line, end } = batch
    const through = parseChecked(line, body)
    if (!through) {
      problem = `damaged between byte ${from} and byte ${end}`
      break
    }
    const { facts: told, unread } = parseFacts(body)
    if (unread > 0) problem = `${unread} lines between byte ${from} and byte ${end} are not JSON`
    facts.push(...told)
    standing = through as unknown as Standing
    from = end
  }
  if (!standing) return undefined
  // A process that dies leaves the beginning of a piece; the end of one is a piece whose end was damaged.
  if (!problem && ENDS.test(bytes.toString('latin1', from))) problem = `damaged after byte ${from}`
  return { header, standing, facts, ...(problem === undefined ? {} : { problem }) }
}

function batchText(facts: readonly Fact[], standing: Standing): string {
  const body = factLines(facts)
  return body + checkedLine({ kind: 'through', ...standing }, Buffer.from(body))
}

function headerIn(line: string): LiveHeader | undefined {
  const header = parseChecked(line)
  return header?.kind === 'archive' && Number(header.v) <= VERSION ? (header as unknown as LiveHeader) : undefined
}

/** Facts and the line that ends them; undefined when no such line follows. */
function batchAt(bytes: Buffer, from: number): { body: Buffer; line: string; end: number } | undefined {
  for (let at = from; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at)
    if (end === -1) return undefined
    if (bytes.toString('latin1', at, at + THROUGH.length) === THROUGH)
      return { body: bytes.subarray(from, at), line: bytes.toString('utf8', at, end), end: end + 1 }
    at = end + 1
  }
  return undefined
}

function lastThrough(file: number, size: number): { standing: Standing; end: number } | undefined {
  for (let length = Math.min(size, TAIL_BYTES); ; length = Math.min(size, length * 4)) {
    const tail = readAt(file, size - length, length)
    for (let before = tail.length; ; ) {
      const at = tail.lastIndexOf(`\n${THROUGH}`, before)
      if (at === -1) break
      const end = tail.indexOf(0x0a, at + 1)
      const said = end === -1 ? undefined : parseUnchecked(tail.toString('utf8', at + 1, end))
      if (said) return { standing: said as unknown as Standing, end: size - length + end + 1 }
      if (at === 0) break
      before = at - 1
    }
    if (length === size) return undefined
  }
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  let done = 0
  while (done < length) {
    const read = readSync(file, bytes, done, length - done, position + done)
    if (read === 0) break
    done += read
  }
  return bytes.subarray(0, done)
}

/** Most logs have none, and an error takes longer than asking first. */
const openIfThere = (path: string): number | undefined => (existsSync(path) ? openPlain(path) : undefined)
