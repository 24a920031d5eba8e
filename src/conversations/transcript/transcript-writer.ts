import {
  appendFileSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import {
  copyGuarded,
  explainDiskError,
  makeDirectory,
  readGuarded,
  UnsuitableFile,
  writeAtomic,
  writeFully,
} from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import type { Surroundings } from '../environment.js'
import { describeHolder, type Held, LockFile } from '../rows/lock-file.js'
import { TRANSCRIPT_GUARD } from './transcript-file.js'
import {
  isTornBeginning,
  parseHeader,
  parseLine,
  parseTranscript,
  TRANSCRIPT_VERSION,
  type TranscriptEntry,
  type TranscriptMessage,
} from './transcript-format.js'
import { archiveName } from './transcript-name.js'

export interface WriterOptions {
  sessionId: string
  cwd: string
  surroundings: Surroundings
}

/**
 * The one writer of one transcript. While it is open, a second one, in any process, is refused: two leaves in one file
 * make two branches, and a reader sees only the last.
 */
export class TranscriptWriter implements Disposable {
  #file: number
  #size: number
  #leaf: string | null
  #needsHeader: boolean

  private constructor(
    readonly path: string,
    private readonly options: WriterOptions,
    private readonly lock: LockFile,
  ) {
    const opened = open(path, options)
    this.#file = opened.file
    this.#leaf = opened.leaf
    this.#size = opened.size
    this.#needsHeader = opened.size === 0
  }

  static async open(path: string, options: WriterOptions & { waitMs?: number }): Promise<TranscriptWriter> {
    return TranscriptWriter.under(await lockTranscript(path, options.waitMs ?? 0), path, options)
  }

  /** Opens a transcript whose lock is held already; the lock goes with the writer, or at once when this fails. */
  static under(lock: LockFile, path: string, options: WriterOptions): TranscriptWriter {
    try {
      return new TranscriptWriter(path, options, lock)
    } catch (error) {
      lock[Symbol.dispose]()
      throw explainDiskError(error, path)
    }
  }

  /** Appends one message and returns its entry. */
  append(message: Omit<TranscriptMessage, 'timestamp'> & { timestamp?: number }): TranscriptEntry {
    const now = this.options.surroundings.clock.now()
    return this.appendEntry({ type: 'message', message: { ...message, timestamp: message.timestamp ?? now } })
  }

  /** Appends an entry of any type with one write: a crash leaves it whole, or leaves a tail the next writer cuts off. */
  appendEntry(entry: { type: string; [field: string]: unknown }): TranscriptEntry {
    this.#checkUntouched()
    const { clock, random } = this.options.surroundings
    const timestamp = new Date(clock.now()).toISOString()
    // 64 random bits: no need to read 100,000 ids to know that this one is new.
    const id = Buffer.from(random.bytes(8)).toString('hex')
    const { type, ...fields } = entry
    const line = { type, id, parentId: this.#leaf, timestamp, ...fields }
    const header = {
      type: 'session',
      version: TRANSCRIPT_VERSION,
      id: this.options.sessionId,
      timestamp,
      cwd: this.options.cwd,
    }
    const bytes = Buffer.from(`${this.#needsHeader ? `${JSON.stringify(header)}\n` : ''}${JSON.stringify(line)}\n`)
    try {
      writeFully(this.#file, bytes)
    } catch (error) {
      ftruncateSync(this.#file, this.#size) // a full disk took a part: the file must not end in half an entry
      throw explainDiskError(error, this.path)
    }
    this.#size += bytes.length
    this.#needsHeader = false
    this.#leaf = id
    return line
  }

  /** Programs that do not know our lock may write, replace or delete the file. Better to stop than to mix. */
  #checkUntouched(): void {
    const there = statSync(this.path, { bigint: true, throwIfNoEntry: false })
    const ours = fstatSync(this.#file, { bigint: true })
    if (there?.ino === ours.ino && ours.size === BigInt(this.#size)) return
    throw new SkeinError(
      'transcript-in-use',
      `${this.path} was changed by another program while it was open here`,
      'Close the other program, then open the transcript again',
    )
  }

  [Symbol.dispose](): void {
    if (this.#file >= 0) closeSync(this.#file)
    this.#file = -1
    this.lock[Symbol.dispose]()
  }
}

/** Keeps writers out of a transcript; throws `transcript-in-use` when there still is one after `waitMs`. */
export async function lockTranscript(path: string, waitMs: number): Promise<LockFile> {
  try {
    makeDirectory(dirname(path))
  } catch (error) {
    throw explainDiskError(error, dirname(path))
  }
  const taken =
    waitMs > 0 ? await LockFile.wait(`${path}.lock`, { timeoutMs: waitMs }) : await LockFile.take(`${path}.lock`)
  if (taken instanceof LockFile) return taken
  throw inUse(path, taken)
}

const inUse = (path: string, held: Held): SkeinError =>
  new SkeinError(
    'transcript-in-use',
    `${path} is in use by ${describeHolder(held)}`,
    held.life === 'unknown' ? `If nothing uses it any more, delete ${path}.lock` : 'Wait for it to end, then try again',
  )

/** Opens the file for appending, whole and in the newest version. Links are not followed: they may lead out of the store. */
function open(path: string, options: WriterOptions): { file: number; size: number; leaf: string | null } {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants
  const file = openSync(path, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0o600)
  try {
    if (!fstatSync(file).isFile()) throw new UnsuitableFile(path, 'not a file')
    fchmodSync(file, 0o600)
    const size = fstatSync(file).size
    if (size === 0) return { file, size, leaf: null }
    const first = readFirstLine(file)
    if (first.length === size && isTornBeginning(first.toString())) {
      cutOff(file, 0, first, path)
      return { file, size: 0, leaf: null }
    }
    const { storedVersion } = parseHeader(first.toString(), path)
    if (storedVersion < TRANSCRIPT_VERSION) {
      rewrite(path, options)
      closeSync(file)
      return open(path, options)
    }
    return { file, ...mend(file, size, path) }
  } catch (error) {
    try {
      closeSync(file)
    } catch {
      // Closed above already, before the second open failed.
    }
    throw error
  }
}

/** An old version is brought up to date now that it is written to; the file as it was stays beside it. */
function rewrite(path: string, { surroundings }: WriterOptions): void {
  const { header, entries } = parseTranscript(readGuarded(path, TRANSCRIPT_GUARD).toString('utf8'), path)
  copyGuarded(path, archiveName(path, 'bak', surroundings.clock.now()), TRANSCRIPT_GUARD)
  writeAtomic(path, [header, ...entries].map((line) => `${JSON.stringify(line)}\n`).join(''), { durable: true })
}

const CHUNK = 64 * 1024

/** Without its newline, or the whole file when it has none. */
function readFirstLine(file: number): Buffer {
  for (let length = CHUNK; ; length *= 2) {
    const buffer = Buffer.alloc(length)
    const text = buffer.subarray(0, readSync(file, buffer, 0, length, 0))
    const end = text.indexOf(10)
    if (end >= 0 || text.length < length) return text.subarray(0, end < 0 ? text.length : end)
  }
}

/**
 * Finds the leaf by reading backwards from the end, so that the length of a transcript does not matter.
 * A last line without its newline is completed when it is whole, and cut off when it is torn.
 */
function mend(file: number, size: number, path: string): { size: number; leaf: string | null } {
  for (let length = Math.min(CHUNK, size); ; length = Math.min(length * 2, size)) {
    const buffer = Buffer.alloc(length)
    readSync(file, buffer, 0, length, size - length)
    const isWholeFile = length === size
    const lines = buffer.toString('latin1').split('\n')
    if (!isWholeFile) lines.shift() // may begin in the middle of a line
    if (lines.length === 0) continue
    const last = lines.pop() ?? ''
    const text = (line: string) => Buffer.from(line, 'latin1').toString()
    const leaf = [...lines, last]
      .reverse()
      .map((line) => parseLine(text(line)))
      .find((line) => typeof line?.id === 'string')
    if (!leaf && !isWholeFile) continue
    const leafId = leaf && leaf.type !== 'session' ? (leaf.id as string) : null
    if (last === '') return { size, leaf: leafId }
    if (parseLine(text(last))) {
      writeFully(file, Buffer.from('\n'))
      return { size: size + 1, leaf: leafId }
    }
    cutOff(file, size - last.length, Buffer.from(last, 'latin1'), path)
    return { size: size - last.length, leaf: leafId }
  }
}

/** What is cut off goes into `<transcript>.torn`: it may be the only trace of what was said. */
function cutOff(file: number, size: number, torn: Buffer, path: string): void {
  appendFileSync(`${path}.torn`, Buffer.concat([torn, Buffer.from('\n')]), { mode: 0o600 })
  ftruncateSync(file, size)
}
