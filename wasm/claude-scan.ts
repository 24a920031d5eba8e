// AssemblyScript, compiled by scripts/wasm.mjs. Finds the usage in a piece of a Claude Code log, in one pass over its bytes.
//
// JavaScript that does the same is slower than ccusage's Rust on 100 MB: most of its time goes into compiling itself. This starts at
// full speed. It answers only when it is certain, which means that the whole line was walked as JSON and that every field it
// needs was there once and in plain form; any other line that may hold usage is handed back to be parsed ("unsure").
// Look-alikes inside strings or tool arguments are values like any other, and walked over. Only one thing is taken on trust: a line that
// begins by naming another type than `assistant` is passed over to its end, which is what makes it quick.

import {
  close,
  is,
  isDigit,
  isPlain,
  literal,
  next,
  open,
  plain,
  QUOTE,
  skipText,
  space,
  value,
  value0,
} from './json-walk'

/** Where the caller puts the log's bytes, and how many tellings fit between there and RECORDS. */
export const BUFFER: i32 = 0x30000
export const RECORDS: i32 = 0x10000
export const RECORD_BYTES: i32 = 112
export const MOST_RECORDS: i32 = (BUFFER - RECORDS) / RECORD_BYTES

// A record: i32 kind, start, end, then pointer and length of id, model, session, tier, speed; f64 from 56 on.
const CALL: i32 = 1
const UNSURE: i32 = 2
const ID = 12
const MODEL = 20
const SESSION = 28
const TIER = 36
const SPEED = 44
const AT_MS = 56
const INPUT = 64
const OUTPUT = 72
const CACHE_READ = 80
const CACHE_WRITE_5M = 88
const CACHE_WRITE_1H = 96
const WEB_SEARCHES = 104

const LINE_FEED: u8 = 0x0a

/** The number of records that the last `scan` wrote. */
export let records: i32 = 0

/** 1 once a line of a request was handed back: the first one says when the log began, the others are passed over. Set by the caller before it reads. */
export let requested: i32 = 0

// The record being filled, and which of its fields were seen.
let record: usize = 0
let seen: i32 = 0
let cacheWrite: f64 = 0
let isCall = false

/**
 * Reads the whole lines in [from, to) and returns where it stopped: after the last line feed, or earlier when the records are full.
 * The byte at `to` and 16 more must be readable.
 */
export function scan(from: i32, to: i32): i32 {
  records = 0
  let start = <usize>from
  while (records < MOST_RECORDS) {
    const end = lineEnd(start, <usize>to)
    if (end === 0) break
    line(start, end)
    start = end + 1
  }
  return <i32>start
}

function lineEnd(from: usize, to: usize): usize {
  const feed = i8x16.splat(LINE_FEED)
  for (let p = from; p < to; p += 16) {
    const found = i8x16.bitmask(i8x16.eq(v128.load(p), feed))
    if (found !== 0) {
      const end = p + ctz(found)
      return end < to ? end : 0
    }
  }
  return 0
}

function line(start: usize, end: usize): void {
  if (space(start) === end) return
  record = RECORDS + records * RECORD_BYTES
  memory.fill(record, 0, RECORD_BYTES)
  store<i32>(record, start, 4)
  store<i32>(record, end, 8)
  seen = 0
  cacheWrite = 0
  isCall = true
  const after = top(space(start))
  if (!isCall) return
  const isSure = after !== 0 && space(after) === end && (seen & NEEDED) === NEEDED
  if (!isSure) {
    store<i32>(record, UNSURE)
    records += 1
    return
  }
  if (is(load<i32>(record, MODEL), load<i32>(record, MODEL + 4), '<synthetic>')) return
  // What no class claims was written for five minutes.
  const unclaimed = cacheWrite - load<f64>(record, CACHE_WRITE_1H)
  if (unclaimed > load<f64>(record, CACHE_WRITE_5M)) store<f64>(record, unclaimed, CACHE_WRITE_5M)
  store<i32>(record, CALL)
  if (!mergedIntoLast()) records += 1
}

const TYPE: i32 = 1
const MESSAGE: i32 = 2
const TIMESTAMP: i32 = 4
const SESSION_ID: i32 = 8
const MESSAGE_ID: i32 = 16
const MESSAGE_MODEL: i32 = 32
const USAGE: i32 = 64
const INPUT_TOKENS: i32 = 128
const OUTPUT_TOKENS: i32 = 256
const NEEDED: i32 = 511
const CACHE_READ_TOKENS: i32 = 512
const CACHE_WRITE_TOKENS: i32 = 1024
const CACHE_SPLIT: i32 = 2048
const SERVER_TOOLS: i32 = 4096
const SERVICE_TIER: i32 = 8192
const USAGE_SPEED: i32 = 16384
const SPLIT_5M: i32 = 32768
const SPLIT_1H: i32 = 65536
const SEARCHES: i32 = 131072

// Each of these walks one object, from its brace to after it, and returns 0 when the line is not certain.

function top(at: usize): usize {
  let p = open(at)
  while (p !== 0 && load<u8>(p) === QUOTE) {
    const key = p + 1
    const keyEnd = skipText(key)
    const size = <i32>(keyEnd - 1 - key)
    p = value0(keyEnd)
    if (p === 0) return 0
    if (is(key, size, 'type')) {
      const typeEnd = once(TYPE) ? plain(p) : 0
      if (typeEnd === 0) return 0
      const typeSize = <i32>(typeEnd - p - 2)
      if (!is(p + 1, typeSize, 'assistant')) {
        isCall = is(p + 1, typeSize, 'progress') // some versions repeat a sub-agent's replies there
        if (requested === 0 && is(p + 1, typeSize, 'api-request')) {
          requested = 1
          isCall = true
        }
        return 0
      }
      p = typeEnd
    } else if (is(key, size, 'message')) p = once(MESSAGE) ? message(p) : 0
    else if (is(key, size, 'timestamp')) p = once(TIMESTAMP) ? timestamp(p) : 0
    else if (is(key, size, 'sessionId')) p = once(SESSION_ID) ? keep(p, SESSION) : 0
    else if (is(key, size, 'costUSD')) return 0
    else p = isPlain(key, keyEnd) ? value(p, 0) : 0
    p = next(p)
  }
  return close(p)
}

function message(at: usize): usize {
  let p = open(at)
  while (p !== 0 && load<u8>(p) === QUOTE) {
    const key = p + 1
    const keyEnd = skipText(key)
    const size = <i32>(keyEnd - 1 - key)
    p = value0(keyEnd)
    if (p === 0) return 0
    if (is(key, size, 'id')) p = once(MESSAGE_ID) ? keep(p, ID) : 0
    else if (is(key, size, 'model')) p = once(MESSAGE_MODEL) ? keep(p, MODEL) : 0
    else if (is(key, size, 'usage')) p = once(USAGE) ? usage(p) : 0
    else p = isPlain(key, keyEnd) ? value(p, 0) : 0
    p = next(p)
  }
  return close(p)
}

function usage(at: usize): usize {
  let p = open(at)
  while (p !== 0 && load<u8>(p) === QUOTE) {
    const key = p + 1
    const keyEnd = skipText(key)
    const size = <i32>(keyEnd - 1 - key)
    p = value0(keyEnd)
    if (p === 0) return 0
    if (is(key, size, 'input_tokens')) p = once(INPUT_TOKENS) ? count(p, INPUT) : 0
    else if (is(key, size, 'output_tokens')) p = once(OUTPUT_TOKENS) ? count(p, OUTPUT) : 0
    else if (is(key, size, 'cache_read_input_tokens')) p = once(CACHE_READ_TOKENS) ? count(p, CACHE_READ) : 0
    else if (is(key, size, 'cache_creation_input_tokens')) {
      p = once(CACHE_WRITE_TOKENS) ? integer(p) : 0
      cacheWrite = integerValue
    } else if (is(key, size, 'cache_creation')) p = once(CACHE_SPLIT) ? cacheSplit(p) : 0
    else if (is(key, size, 'server_tool_use')) p = once(SERVER_TOOLS) ? serverTools(p) : 0
    else if (is(key, size, 'service_tier')) p = once(SERVICE_TIER) ? keepOrNull(p, TIER) : 0
    else if (is(key, size, 'speed')) p = once(USAGE_SPEED) ? keepOrNull(p, SPEED) : 0
    else p = isPlain(key, keyEnd) ? value(p, 0) : 0
    p = next(p)
  }
  return close(p)
}

function cacheSplit(at: usize): usize {
  let p = open(at)
  while (p !== 0 && load<u8>(p) === QUOTE) {
    const key = p + 1
    const keyEnd = skipText(key)
    const size = <i32>(keyEnd - 1 - key)
    p = value0(keyEnd)
    if (p === 0) return 0
    if (is(key, size, 'ephemeral_5m_input_tokens')) p = once(SPLIT_5M) ? count(p, CACHE_WRITE_5M) : 0
    else if (is(key, size, 'ephemeral_1h_input_tokens')) p = once(SPLIT_1H) ? count(p, CACHE_WRITE_1H) : 0
    else p = isPlain(key, keyEnd) ? value(p, 0) : 0
    p = next(p)
  }
  return close(p)
}

function serverTools(at: usize): usize {
  let p = open(at)
  while (p !== 0 && load<u8>(p) === QUOTE) {
    const key = p + 1
    const keyEnd = skipText(key)
    const size = <i32>(keyEnd - 1 - key)
    p = value0(keyEnd)
    if (p === 0) return 0
    if (is(key, size, 'web_search_requests')) p = once(SEARCHES) ? count(p, WEB_SEARCHES) : 0
    else p = isPlain(key, keyEnd) ? value(p, 0) : 0
    p = next(p)
  }
  return close(p)
}

/** A key that comes twice means its last value to a parser: let the parser decide. */
function once(field: i32): bool {
  const isFirst = (seen & field) === 0
  seen |= field
  return isFirst
}

// Values that are kept.

function keep(at: usize, field: i32): usize {
  const end = plain(at)
  if (end < at + 3) return 0
  store<i32>(record + field, at + 1)
  store<i32>(record + field, end - at - 2, 4)
  return end
}

function keepOrNull(at: usize, field: i32): usize {
  return load<u8>(at) === QUOTE ? keep(at, field) : literal(at)
}

function count(at: usize, field: i32): usize {
  const end = integer(at)
  if (end !== 0) store<f64>(record + field, integerValue)
  return end
}

let integerValue: f64 = 0

/** Whole and not negative, of at most 15 digits. */
function integer(at: usize): usize {
  let p = at
  let sum: f64 = 0
  while (true) {
    const digit = <u32>load<u8>(p) - 0x30
    if (digit > 9) break
    sum = sum * 10 + digit
    p += 1
  }
  integerValue = sum
  const digits = p - at
  const stop = load<u8>(p)
  if (digits === 0 || digits > 15 || (digits > 1 && load<u8>(at) === 0x30)) return 0
  return stop === 0x2c || stop === 0x7d || stop === 0x20 ? p : 0
}

/** Only `"2026-01-17T01:00:00.000Z"`, on a day that exists. */
function timestamp(at: usize): usize {
  const p = at + 1
  const hasForm =
    load<u8>(at) === QUOTE &&
    load<u8>(p, 4) === 0x2d &&
    load<u8>(p, 7) === 0x2d &&
    load<u8>(p, 10) === 0x54 &&
    load<u8>(p, 13) === 0x3a &&
    load<u8>(p, 16) === 0x3a &&
    load<u8>(p, 19) === 0x2e &&
    load<u8>(p, 23) === 0x5a &&
    load<u8>(p, 24) === QUOTE
  if (!hasForm) return 0
  const year = digits2(p) * 100 + digits2(p + 2)
  const month = digits2(p + 5)
  const day = digits2(p + 8)
  const hour = digits2(p + 11)
  const minute = digits2(p + 14)
  const second = digits2(p + 17)
  const milli = isDigit(p + 22) ? digits2(p + 20) * 10 + (<i32>load<u8>(p + 22) - 0x30) : -1
  if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 28 + extraDays(year, month)) return 0
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59 || milli < 0 || milli > 999)
    return 0
  const minutes = (daysSince1970(year, month, day) * 24 + hour) * 60 + minute
  store<f64>(record + AT_MS, <f64>minutes * 60000 + <f64>(second * 1000 + milli))
  return at + 26
}

/** Far below zero when it is not two digits. */
function digits2(p: usize): i32 {
  const tens = <i32>load<u8>(p) - 0x30
  const ones = <i32>load<u8>(p + 1) - 0x30
  return tens < 0 || tens > 9 || ones < 0 || ones > 9 ? -100000 : tens * 10 + ones
}

function extraDays(year: i32, month: i32): i32 {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 1 : 0
  return month === 4 || month === 6 || month === 9 || month === 11 ? 2 : 3
}

/** Counts in years that begin in March, so that the leap day comes last. */
function daysSince1970(year: i32, month: i32, day: i32): i32 {
  const y = month <= 2 ? year - 1 : year
  const dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
  return y * 365 + y / 4 - y / 100 + y / 400 + dayOfYear - 719468
}

/**
 * A reply takes one line per block, with the same usage but for its growing output. Where the last record says the same call with
 * nothing else different, the larger output is put there instead: half the records for the caller to read.
 */
function mergedIntoLast(): bool {
  if (records === 0) return false
  const last = record - RECORD_BYTES
  if (load<i32>(last) !== CALL) return false
  for (let field = ID; field <= SPEED; field += 8) {
    const size = load<i32>(record + field, 4)
    if (size !== load<i32>(last + field, 4)) return false
    if (size > 0 && memory.compare(load<i32>(record + field), load<i32>(last + field), size) !== 0) return false
  }
  for (let field = INPUT; field <= WEB_SEARCHES; field += 8) {
    if (field !== OUTPUT && load<f64>(record + field) !== load<f64>(last + field)) return false
  }
  if (load<f64>(record, OUTPUT) > load<f64>(last, OUTPUT)) store<f64>(last, load<f64>(record, OUTPUT), OUTPUT)
  if (load<f64>(record, AT_MS) < load<f64>(last, AT_MS)) store<f64>(last, load<f64>(record, AT_MS), AT_MS)
  return true
}
