import { hash } from 'node:crypto'
import { closeSync, fstatSync, readSync } from 'node:fs'
import { isObject, type JsonObject, numberAt, textAt } from '../json-value.js'
import { type Counters, copyCounters, noCounters, noteUnreadCounts } from './counters.js'
import type { Checkpoint, Fact } from './fact.js'
import { LineReader } from './line-reader.js'
import type { LogRef, ReadOptions } from './log-tool.js'
import { openLog } from './open-log.js'
import { RecordReader, type Shortcut } from './record-reader.js'
import { type SavedEnds, TurnEnds } from './turn-ends.js'
import { LostPlace } from './turn-tracker.js'

/** Raise it when a translator changes what it saves or reports: logs are then read again. */
const FORMAT = 4
const TAIL_BYTES = 1024
/** The facts between two checkpoints are held in memory by whoever stores them: a few times their bytes in the log. */
const CHECKPOINT_EVERY = 4 * 1024 * 1024
const NEWLINE = 0x0a

/** Turns the records of one log into facts. Holds what it has to remember between records; `save` gives that as JSON. */
export interface Translator {
  /** Facts from elsewhere that belong before the log's own; told when a log is read from its start. */
  prelude?(): Iterable<void>
  accept(record: JsonObject): void
  /** Called when the read reaches the end of what there is: says what is left to say, such as an id that only the name gives. */
  finish(): void
  head(): Checkpoint['head']
  save(): unknown
}

/**
 * One record. Where it is nested deeper than anyone can walk it counts as a bad line: asking each line for its depth would cost more
 * than reading most of them.
 */
export function acceptRecord(translator: Translator, record: JsonObject, counters: Counters): void {
  try {
    translator.accept(record)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    counters.records -= 1
    counters.bad_lines += 1
  }
}

/** What a translator is made with. */
export interface TranslatorSetup {
  log: LogRef
  counters: Counters
  tell: (fact: Fact) => void
  /** What `save` gave at the checkpoint we go on from. */
  saved: JsonObject | undefined
  options: ReadOptions
}

interface Place {
  inode: string
  offset: number
  /** The last record read had no newline yet: one that comes next ends it and is no blank line. */
  unended: boolean
  tail: string
  counters: Counters
  ends: SavedEnds
  state: JsonObject
}

/**
 * Reads a log of one JSON record per line, from the start or from a checkpoint.
 *
 * A checkpoint holds the byte offset, the file's identity, a hash of the bytes before the offset, and the translator's
 * state, a few kilobytes. So a grown file costs its new lines only. A file that shrank, was replaced or was rewritten fails the
 * test and is read anew, as does the rare line that goes back to a place the state no longer holds (`LostPlace`): exactness is
 * never traded for the short cut.
 */
export function* readJsonl(
  log: LogRef,
  options: ReadOptions,
  make: (setup: TranslatorSetup) => Translator,
  shortcut?: Shortcut,
): Generator<Fact, void> {
  const file = openLog(log.path)
  let pass: Pass | undefined
  try {
    const stat = fstatSync(file, { bigint: true })
    const inode = `${stat.dev}:${stat.ino}`
    const given = placeOf(options.from)
    // Nothing was read yet: there is nothing to go on from, and what belongs before the log is still to be told.
    const place = given?.offset === 0 ? undefined : given
    const reason = place ? whyNotFrom(place, file, inode, Number(stat.size)) : undefined
    const limit = Math.min(options.limitBytes ?? Number.POSITIVE_INFINITY, Number(stat.size))
    const tail = options.tailBytes === undefined ? 0 : Math.max(0, Number(stat.size) - options.tailBytes - 1)
    const source = { log, file, inode, limit, tail, options, make, shortcut }
    if (options.from && (!given || reason))
      yield { kind: 'restart', reason: reason ?? 'the checkpoint is from another version' }
    pass = new Pass(source, reason ? undefined : place)
    for (;;) {
      try {
        if (!pass.step()) break
      } catch (error) {
        if (!(error instanceof LostPlace)) throw error
        yield { kind: 'restart', reason: error.message }
        pass[Symbol.dispose]()
        pass = new Pass(source, undefined)
        continue
      }
      for (const fact of pass.told) yield fact
    }
  } finally {
    pass?.[Symbol.dispose]()
    closeSync(file)
  }
}

interface Source {
  log: LogRef
  file: number
  inode: string
  limit: number
  /** Where a read of the end alone begins; 0 reads everything. */
  tail: number
  options: ReadOptions
  make: (setup: TranslatorSetup) => Translator
  shortcut: Shortcut | undefined
}

/** One way through a log. It tells by the step: generators within generators cost more than what they said. */
class Pass implements Disposable {
  /** What the last step told. */
  readonly told: Fact[] = []
  readonly #counters: Counters
  readonly #ends: TurnEnds
  readonly #translator: Translator
  readonly #lines: LineReader
  readonly #records: RecordReader
  #prelude: Iterator<void> | undefined
  #checkpointed: number
  #isBegun = false
  #isDone = false

  constructor(
    private readonly source: Source,
    place: Place | undefined,
  ) {
    const { log, file, limit, tail, options, make, shortcut } = source
    this.#counters = place ? { ...copyCounters(place.counters), truncated_last_line: false } : noCounters()
    this.#ends = new TurnEnds((fact) => this.told.push(fact), place?.ends)
    const tell = (fact: Fact): void => this.#ends.pass(fact)
    this.#translator = make({ log, counters: this.#counters, tell, saved: place?.state, options })
    this.#lines = new LineReader(file, place ? startOf(file, place) : tail, limit)
    if (!place && tail > 0) this.#lines.next() // the rest of a line
    this.#records = new RecordReader(this.#lines, this.#counters, shortcut)
    this.#prelude = place || tail > 0 ? undefined : this.#translator.prelude?.()[Symbol.iterator]()
    this.#checkpointed = this.#records.offset
  }

  /** Reads on until there is a fact to report; false at the end, when all were reported. */
  step(): boolean {
    if (this.#isBegun) this.told.length = 0 // what was told while it was made belongs to the first step
    this.#isBegun = true
    while (this.told.length === 0) {
      if (this.#isDone) return false
      if (this.#prelude) {
        if (this.#prelude.next().done) this.#prelude = undefined
        continue
      }
      const record = this.#records.next()
      if (record) this.#accept(record)
      else this.#finish()
    }
    return true
  }

  [Symbol.dispose](): void {
    this.#lines[Symbol.dispose]()
  }

  #accept(record: JsonObject): void {
    acceptRecord(this.#translator, record, this.#counters)
    noteUnreadCounts(this.#counters)
    const every = this.source.options.checkpointBytes ?? CHECKPOINT_EVERY
    if (this.#records.offset - this.#checkpointed < every) return
    this.#checkpointed = this.#records.offset
    this.told.push(this.#checkpoint())
  }

  #finish(): void {
    this.#translator.finish()
    this.told.push(this.#checkpoint())
    this.#isDone = true
  }

  #checkpoint(): Checkpoint {
    const { file, inode } = this.source
    const { offset } = this.#records
    const place: Place = {
      inode,
      offset,
      unended: this.#records.isUnended,
      tail: tailHash(file, offset),
      counters: copyCounters(this.#counters),
      ends: this.#ends.save(),
      state: this.#translator.save() as JsonObject,
    }
    const resume = { v: FORMAT, offset, place }
    return { kind: 'checkpoint', resume, counters: place.counters, head: this.#translator.head() }
  }
}

function placeOf(from: ReadOptions['from']): Place | undefined {
  if (!from || from.v !== FORMAT || !isObject(from.place)) return undefined
  const complete =
    textAt(from.place, 'inode') && numberAt(from.place, 'offset') !== undefined && isObject(from.place.state)
  return complete ? (from.place as unknown as Place) : undefined
}

function whyNotFrom(place: Place, file: number, inode: string, size: number): string | undefined {
  if (place.inode !== inode) return 'the file was replaced'
  if (size < place.offset) return 'the file shrank'
  if (tailHash(file, place.offset) !== place.tail) return 'the file was rewritten'
  const next = place.unended ? byteAt(file, place.offset) : undefined
  // As one line it says something else than its beginning did.
  if (next !== undefined && next !== NEWLINE) return 'its last line continued'
  return undefined
}

const startOf = (file: number, place: Place): number =>
  place.unended && byteAt(file, place.offset) === NEWLINE ? place.offset + 1 : place.offset

function byteAt(file: number, offset: number): number | undefined {
  const byte = Buffer.alloc(1)
  return readSync(file, byte, 0, 1, offset) === 1 ? byte[0] : undefined
}

/** Of the bytes just before the offset: they tell an appended file from a rewritten one without reading it all. */
function tailHash(file: number, offset: number): string {
  const length = Math.min(TAIL_BYTES, offset)
  const tail = Buffer.alloc(length)
  for (let done = 0; done < length; ) {
    const read = readSync(file, tail, done, length - done, offset - length + done)
    if (read === 0) break
    done += read
  }
  return hash('sha1', tail, 'base64')
}
