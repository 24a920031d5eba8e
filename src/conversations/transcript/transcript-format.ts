import { createHash } from 'node:crypto'
import { z } from 'zod'
import { isTooDeep, SkeinError } from '../../model/index.js'

/**
 * The transcript file: one JSON object per line. The first is the header; every other has an id and names the entry it
 * follows (`parentId`), so the file is a tree and its last line is the leaf that is continued. This is pi's format, version 3.
 *
 *     version 1   no ids; a compaction names the first kept entry by its line number (the header is line 0)
 *     version 2   ids and parents; messages of hooks have the role "hookMessage"
 *     version 3   that role is "custom"
 */
export const TRANSCRIPT_VERSION = 3

export interface TranscriptHeader {
  type: 'session'
  version: 3
  id: string
  timestamp: string
  cwd: string
  parentSession?: string
}

export interface TranscriptUsage {
  input: number
  output: number
  cacheRead: number
  cacheWrite: number
  totalTokens: number
  cost: { input: number; output: number; cacheRead: number; cacheWrite: number; total: number }
}

export type ContentBlock = { type: 'text'; text: string } | { type: string; [field: string]: unknown }

export interface TranscriptMessage {
  role: string
  content: string | ContentBlock[]
  api?: string
  provider?: string
  model?: string
  usage?: TranscriptUsage
  stopReason?: string
  /** ms */
  timestamp: number
  [field: string]: unknown
}

/** A line after the header. `message` is there when `type` is "message"; other types carry fields of their own. */
export interface TranscriptEntry {
  type: string
  id: string
  parentId: string | null
  timestamp: string
  message?: TranscriptMessage
  [field: string]: unknown
}

export interface Transcript {
  header: TranscriptHeader
  entries: TranscriptEntry[]
  /** The version the file has on disk; what is handed out is always the newest. */
  storedVersion: number
  /** Numbers of lines that are no entries and were passed over, the first line being 1. */
  skippedLines: number[]
  /** The end of the file when it does not end with a newline and is no whole entry: a write that was cut off. */
  tornTail?: string
}

const Header = z.looseObject({
  type: z.literal('session'),
  version: z.number().int().positive().optional(),
  id: z.string().min(1),
  timestamp: z.string().optional(),
  cwd: z.string().optional(),
})
const Line = z.looseObject({ type: z.string() })

/** Reads a whole file's text, bringing older versions up to date in memory. `name` is for messages only. */
export function parseTranscript(text: string, name: string): Transcript {
  const lines = text.split('\n')
  const last = lines.pop() ?? ''
  const tail = last === '' ? undefined : parseLine(last)
  if (tail) lines.push(last)
  const { header, storedVersion } = parseHeader(lines[0] ?? last, name)
  const skippedLines: number[] = []
  const found: Record<string, unknown>[] = []
  const numberOf = new Map<Record<string, unknown>, number>()
  for (const [index, line] of lines.entries()) {
    if (index === 0 || line === '') continue
    const parsed = parseLine(line)
    if (!parsed) skippedLines.push(index + 1)
    else {
      found.push(parsed)
      numberOf.set(parsed, index)
    }
  }
  const entries = modernise(found, numberOf, storedVersion, header)
  const torn = last !== '' && !tail ? { tornTail: last } : {}
  return { header, entries, storedVersion, skippedLines, ...torn }
}

export function parseHeader(line: string, name: string): { header: TranscriptHeader; storedVersion: number } {
  const read = Header.safeParse(parseLine(line))
  if (!read.success) {
    throw new SkeinError(
      'transcript-damaged',
      `${name} does not begin with a session header`,
      'The file is unchanged. Move it away to begin a new transcript',
    )
  }
  const storedVersion = read.data.version ?? 1
  if (storedVersion > TRANSCRIPT_VERSION) {
    throw new SkeinError(
      'newer-format',
      `${name} has version ${storedVersion}; this Skein supports ${TRANSCRIPT_VERSION}`,
      'Use the program that wrote it; Skein does not change the file',
    )
  }
  const { type, id, timestamp = '', cwd = '', ...rest } = read.data
  return { header: { ...rest, type, version: TRANSCRIPT_VERSION, id, timestamp, cwd }, storedVersion }
}

/** The first write was cut off before a single line was whole: nothing was ever said here. */
export function isTornBeginning(text: string): boolean {
  const begin = '{"type":"session",'
  return !text.includes('\n') && (begin.startsWith(text) || text.startsWith(begin)) && parseLine(text) === undefined
}

export function parseLine(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(line)
    const read = isTooDeep(value) ? undefined : Line.safeParse(value)
    return read?.success ? read.data : undefined
  } catch {
    return undefined
  }
}

/** Ids that are missing are made from the session and the line, so that reading an old file twice gives the same ids. */
function modernise(
  found: Record<string, unknown>[],
  lineOf: Map<Record<string, unknown>, number>,
  storedVersion: number,
  header: TranscriptHeader,
): TranscriptEntry[] {
  const idAt = new Map<number, string>()
  let leaf: string | null = null
  const entries = found.map((raw) => {
    const line = lineOf.get(raw) ?? 0
    const id = typeof raw.id === 'string' ? raw.id : idFor(header.id, line)
    const parentId = typeof raw.parentId === 'string' ? raw.parentId : raw.parentId === null ? null : leaf
    idAt.set(line, id)
    leaf = id
    return { ...asMessage(raw), id, parentId } as TranscriptEntry
  })
  return storedVersion >= TRANSCRIPT_VERSION ? entries : entries.map((entry) => migrate(entry, idAt))
}

/** The document that asked for this store shows lines like `{"type":"user","content":…}`: read them as messages. */
function asMessage(raw: Record<string, unknown>): Record<string, unknown> {
  if ((raw.type !== 'user' && raw.type !== 'assistant') || raw.message !== undefined || raw.content === undefined)
    return raw
  const { type, timestamp, id, parentId, ...message } = raw
  const ms = typeof timestamp === 'number' ? timestamp : Date.parse(String(timestamp)) || 0
  return { type: 'message', timestamp: new Date(ms).toISOString(), message: { role: type, ...message, timestamp: ms } }
}

function migrate(entry: TranscriptEntry, idAt: ReadonlyMap<number, string>): TranscriptEntry {
  if (entry.type === 'compaction' && typeof entry.firstKeptEntryIndex === 'number') {
    const { firstKeptEntryIndex, ...rest } = entry
    const firstKeptEntryId = idAt.get(firstKeptEntryIndex as number)
    return { ...rest, ...(firstKeptEntryId === undefined ? {} : { firstKeptEntryId }) } as TranscriptEntry
  }
  if (entry.message?.role === 'hookMessage') return { ...entry, message: { ...entry.message, role: 'custom' } }
  return entry
}

const idFor = (session: string, line: number): string =>
  createHash('sha256').update(`${session}:${line}`).digest('hex').slice(0, 8)

/** The entries from the root to the leaf (the last line unless told otherwise): what a continued conversation rests on. */
export function branchTo(transcript: Transcript, leaf = transcript.entries.at(-1)?.id): TranscriptEntry[] {
  const byId = new Map(transcript.entries.map((entry) => [entry.id, entry]))
  const branch: TranscriptEntry[] = []
  const seen = new Set<string>()
  for (let at = leaf === undefined ? undefined : byId.get(leaf); at && !seen.has(at.id); ) {
    branch.push(at)
    seen.add(at.id)
    at = at.parentId === null ? undefined : byId.get(at.parentId)
  }
  return branch.reverse()
}

/** The plain text of a message: its text blocks, one below the other. */
export function textOf(message: TranscriptMessage): string {
  if (typeof message.content === 'string') return message.content
  return message.content.flatMap((block) => (block.type === 'text' ? [String(block.text)] : [])).join('\n')
}

export const NO_USAGE: TranscriptUsage = {
  input: 0,
  output: 0,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: 0,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
}
