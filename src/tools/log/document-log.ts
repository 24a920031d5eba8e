import { createHash } from 'node:crypto'
import { closeSync, fstatSync, readSync } from 'node:fs'
import { openGuarded, UnsuitableFile } from '../../disk/index.js'
import { isObject, type JsonObject, textAt } from '../json-value.js'
import { Condenser } from './condense.js'
import { type Counters, noCounters, noteUnreadCounts } from './counters.js'
import type { Checkpoint, Fact } from './fact.js'
import { acceptRecord, type Translator, type TranslatorSetup } from './jsonl-log.js'
import type { LogRef, ReadOptions } from './log-tool.js'
import { TurnEnds } from './turn-ends.js'

const FORMAT = 2
const CHUNK = 256 * 1024
/** A document has to be read whole, at every change. */
const MOST_BYTES = 512 * 1024 * 1024
/** Of a longer document the long texts are cut. */
export const MOST_READ_WHOLE = 32 * 1024 * 1024
const KEEP = { bytes: 4096, items: Number.POSITIVE_INFINITY, total: 64 * 1024 * 1024 }

interface Place {
  hash: string
  counters: Counters
  head: Checkpoint['head']
}

/**
 * Reads a log that is one JSON document. Its tool writes it anew each time, so there is nothing to go on from:
 * an unchanged one tells nothing, a changed one is told again from its start.
 */
export function* readDocument(
  log: LogRef,
  options: ReadOptions,
  make: (setup: TranslatorSetup) => Translator,
  /** The document's parts, as the records they would be in a log of lines. */
  recordsOf: (document: JsonObject) => Iterable<JsonObject>,
): Generator<Fact, void> {
  const { bytes, hash, condensed } = load(log.path)
  const place = placeOf(options.from)
  if (place?.hash === hash) {
    yield checkpoint(log, place)
    return
  }
  if (options.from) yield { kind: 'restart', reason: 'the file was rewritten' }
  const counters = noCounters()
  if (condensed) counters.long_lines += 1
  const told: Fact[] = []
  const ends = new TurnEnds((fact) => told.push(fact), undefined)
  const tell = (fact: Fact): void => ends.pass(fact)
  const translator = make({ log, counters, tell, saved: undefined, options })
  const document = bytes && parsed(bytes)
  if (!bytes) counters.dropped_lines += 1
  else if (!document) counters.truncated_last_line = bytes.length > 0
  for (const record of document ? recordsOf(document) : []) {
    counters.records += 1
    acceptRecord(translator, record, counters)
    noteUnreadCounts(counters)
    yield* told.splice(0)
  }
  translator.finish()
  yield* told.splice(0)
  yield checkpoint(log, { hash, counters, head: translator.head() })
}

function checkpoint(log: LogRef, place: Place): Checkpoint {
  return {
    kind: 'checkpoint',
    resume: { v: FORMAT, offset: log.size, place },
    counters: place.counters,
    head: place.head,
  }
}

function placeOf(from: ReadOptions['from']): Place | undefined {
  if (!from || from.v !== FORMAT || !isObject(from.place) || !textAt(from.place, 'hash')) return undefined
  return from.place as unknown as Place
}

/** The file's bytes, or, for one too long to hold, the same document with its long texts cut. */
function load(path: string): { bytes: Buffer | undefined; hash: string; condensed: boolean } {
  const hash = createHash('sha1')
  const whole: Buffer[] = []
  let length = 0
  let condenser: Condenser | undefined
  const file = openGuarded(path)
  try {
    if (fstatSync(file).size > MOST_BYTES) throw new UnsuitableFile(path, 'larger than 512 MB')
    for (;;) {
      const piece = Buffer.allocUnsafe(CHUNK)
      const read = readSync(file, piece, 0, CHUNK, length)
      if (read === 0) break
      hash.update(piece.subarray(0, read))
      length += read
      if (condenser) {
        condenser.push(piece, 0, read)
        continue
      }
      whole.push(piece.subarray(0, read))
      if (length <= MOST_READ_WHOLE) continue
      condenser = new Condenser(KEEP)
      for (const held of whole.splice(0)) condenser.push(held, 0, held.length)
    }
  } finally {
    closeSync(file)
  }
  const bytes = condenser ? condenser.finish() : Buffer.concat(whole)
  return { bytes, hash: hash.digest('base64'), condensed: condenser !== undefined }
}

function parsed(bytes: Buffer): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
