import { closeSync } from 'node:fs'
import { readGuarded, UnsuitableFile } from '../../disk/index.js'
import { SkeinError } from '../../model/index.js'
import { isObject, type JsonObject } from '../json-value.js'
import { noCounters } from '../log/counters.js'
import type { Fact } from '../log/fact.js'
import { acceptRecord, type Translator, type TranslatorSetup } from '../log/jsonl-log.js'
import type { LogRef } from '../log/log-tool.js'
import { openLog } from '../log/open-log.js'
import { parseObject, recordsInTornLine } from '../log/torn-line.js'

/** A copy is made in memory. */
export const MOST_COPIED_BYTES = 256 * 1024 * 1024
const NEWLINE = 0x0a

/** A record of a log, and what it says to who reads it. */
export interface ToldRecord {
  record: JsonObject
  facts: readonly Fact[]
}

/** Every record of a log of lines, as it was written. Lines that are no records are left out, as every reader does. */
export function wholeRecords({ path }: Pick<LogRef, 'path'>, bytes = Number.POSITIVE_INFINITY): JsonObject[] {
  const content = wholeContent(path).subarray(0, bytes)
  const records: JsonObject[] = []
  for (let start = 0; start < content.length; ) {
    const feed = content.indexOf(NEWLINE, start)
    const text = content.toString('utf8', start, feed < 0 ? content.length : feed)
    const record = parseObject(text)
    if (record) records.push(record)
    else if (feed >= 0) records.push(...recordsInTornLine(text)) // without its newline it is still being written
    start = feed < 0 ? content.length : feed + 1
  }
  return records
}

/** A log that is one document; undefined where it is none, or is still being written. */
export function wholeDocument({ path }: Pick<LogRef, 'path'>): JsonObject | undefined {
  return parseObject(wholeContent(path).toString('utf8'))
}

function wholeContent(path: string): Buffer {
  closeSync(openLog(path)) // refuses what is no log
  try {
    return readGuarded(path, { mostBytes: MOST_COPIED_BYTES })
  } catch (error) {
    throw error instanceof UnsuitableFile ? tooLarge(path) : error
  }
}

export const tooLarge = (path: string): SkeinError =>
  new SkeinError('bad-input', `${path} is too large to copy`, 'Start a new conversation: --code-only')

/** A translator of a log, and what it has said since it was asked last. */
export class Teller<Made extends Translator> {
  readonly translator: Made
  #told: Fact[] = []
  readonly #counters = noCounters()

  constructor(log: LogRef, make: (setup: TranslatorSetup) => Made) {
    const tell = (fact: Fact): void => void this.#told.push(fact)
    this.translator = make({ log, counters: this.#counters, tell, saved: undefined, options: {} })
    this.#told = []
  }

  accept(record: JsonObject): ToldRecord {
    acceptRecord(this.translator, record, this.#counters)
    return { record, facts: this.taken() }
  }

  taken(): Fact[] {
    const told = this.#told
    this.#told = []
    return told
  }
}

/** The turn of the conversation itself that a record begins. */
export function turnBegunBy({ facts }: ToldRecord): number | undefined {
  for (const fact of facts) if (fact.kind === 'turn' && fact.agent === undefined) return fact.turn
  return undefined
}

/** The same value with every text that is one of these replaced by the other. Words are not touched: only a whole text is an id. */
export function withIds<Value>(value: Value, ids: ReadonlyMap<string, string>): Value {
  if (typeof value === 'string') return (ids.get(value) ?? value) as Value
  if (Array.isArray(value)) return value.map((one) => withIds(one, ids)) as Value
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withIds(one, ids)])) as Value
}

export const asLines = (records: readonly object[]): string =>
  records.map((record) => `${JSON.stringify(record)}\n`).join('')
