// AssemblyScript, compiled by scripts/wasm.mjs. Writes a line of a Claude Code log anew, with only what ClaudeTranslator looks at.
//
// Three quarters of a log are the outputs of tools, twice, of which a page is kept: to parse the rest takes longer than all that is
// done with it. The whole line is walked as JSON; one that is odd in any way is left to the parser. What stays:
// - of the line: texts, numbers and the like, but for some that every line has; `message`, `forkedFrom`, `compactMetadata`,
//   `data` (in which some versions repeat replies); of `toolUseResult` three fields
// - of the message: texts and the like, `content` and `usage`
// - of a block of its content: the fields below; the texts of a tool's result only in their beginning

import {
  BACKSLASH,
  close,
  forget,
  hasHalves,
  is,
  isPlain,
  isWide,
  next,
  open,
  QUOTE,
  skipText,
  space,
  value,
  value0,
} from './json-walk'

/** Where the caller puts a line, with a line feed behind it, and where it finds the answer. The answer is never longer. */
export const LINE: i32 = 0x10000
export const MOST_BYTES: i32 = 0x100000
export const TRIMMED: i32 = LINE + MOST_BYTES + 64
/** What `trim` says when it has no line to give: it is left to the parser, or nobody looks at such lines. */
const ODD: i32 = -1
const NOTHING: i32 = -2

/** Nothing to cut: every text is kept whole. */
const ALL: usize = 0x7fffffff

let out: usize = 0
let isQuiet = false
/** How much is kept of the texts of a tool's result. */
let keepBytes: usize = 0

/**
 * `keep`: how many bytes of each text of a tool's result are wanted. Returns twice the length of the answer, and one more when the line
 * has a byte above 127: to ask for either by itself takes the caller longer.
 */
export function trim(size: i32, keep: i32): i32 {
  const start = space(<usize>LINE)
  const end = <usize>LINE + <usize>size
  out = <usize>TRIMMED
  keepBytes = keep > 0 ? <usize>keep : ALL
  isQuiet = false
  forget()
  const after = line(start)
  // Halves of characters are counted by those who parse.
  if (after === 0 || space(after) !== end || hasHalves) return ODD
  return isQuiet ? NOTHING : ((<i32>(out - <usize>TRIMMED)) << 1) | (isWide ? 1 : 0)
}

function line(at: usize): usize {
  let p = open(at)
  if (p === 0) return 0
  begin()
  while (p !== 0 && load<u8>(p) === QUOTE) {
    const name = p
    const key = p + 1
    const keyEnd = skipText(key)
    const size = <i32>(keyEnd - 1 - key)
    p = value0(keyEnd)
    if (p === 0 || !isPlain(key, keyEnd)) return 0
    const byte = load<u8>(p)
    if (is(key, size, 'message') && byte === 0x7b) p = nested(name, p, MESSAGE)
    else if (is(key, size, 'toolUseResult')) p = byte === 0x7b ? nested(name, p, DETAILS) : value(p, 0)
    else if (byte === 0x7b || byte === 0x5b) {
      const isWanted = is(key, size, 'forkedFrom') || is(key, size, 'compactMetadata') || is(key, size, 'data')
      p = isWanted ? member(name, value(p, 0)) : value(p, 0)
    } else {
      const end = value(p, 0)
      if (is(key, size, 'type') && end !== 0) isQuiet = isQuietType(p + 1, <i32>(end - p - 2))
      p = isIdle(key, size) ? end : member(name, end)
    }
    p = next(p)
  }
  return finish(close(p))
}

/** What nearly every line has and nobody looks at. */
function isIdle(at: usize, size: i32): bool {
  return (
    is(at, size, 'userType') ||
    is(at, size, 'slug') ||
    is(at, size, 'entrypoint') ||
    is(at, size, 'sourceToolAssistantUUID') ||
    is(at, size, 'role') ||
    is(at, size, 'stop_sequence')
  )
}

/** Copies of requests and backups of files: nothing that is not said elsewhere. */
function isQuietType(at: usize, size: i32): bool {
  return (
    is(at, size, 'file-history-snapshot') ||
    is(at, size, 'file-history-delta') ||
    is(at, size, 'api-request-shape') ||
    is(at, size, 'api-request-blob')
  )
}

const MESSAGE: i32 = 1
const DETAILS: i32 = 2

/** A member whose value is an object that is trimmed itself. */
function nested(name: usize, at: usize, kind: i32): usize {
  head(name, at)
  return kind === MESSAGE ? message(at) : details(at)
}

function details(at: usize): usize {
  let p = open(at)
  if (p === 0) return 0
  begin()
  while (p !== 0 && load<u8>(p) === QUOTE) {
    const name = p
    const key = p + 1
    const keyEnd = skipText(key)
    const size = <i32>(keyEnd - 1 - key)
    p = value0(keyEnd)
    if (p === 0 || !isPlain(key, keyEnd)) return 0
    const isWanted = is(key, size, 'agentId') || is(key, size, 'durationMs') || is(key, size, 'totalDurationMs')
    p = isWanted ? member(name, value(p, 0)) : value(p, 0)
    p = next(p)
  }
  return finish(close(p))
}

function message(at: usize): usize {
  let p = open(at)
  if (p === 0) return 0
  begin()
  while (p !== 0 && load<u8>(p) === QUOTE) {
    const name = p
    const key = p + 1
    const keyEnd = skipText(key)
    const size = <i32>(keyEnd - 1 - key)
    p = value0(keyEnd)
    if (p === 0 || !isPlain(key, keyEnd)) return 0
    const byte = load<u8>(p)
    if (is(key, size, 'content') && byte === 0x5b) {
      head(name, p)
      p = blocks(p, ALL, 0)
    } else if ((byte === 0x7b || byte === 0x5b) && !is(key, size, 'usage')) p = value(p, 0)
    else p = isIdle(key, size) ? value(p, 0) : member(name, value(p, 0))
    p = next(p)
  }
  return finish(close(p))
}

/** A list of blocks. `keep`: how many bytes of each text. */
function blocks(at: usize, keep: usize, depth: i32): usize {
  if (depth > 4) return 0
  let p = space(at + 1)
  put(0x5b)
  let isFirst = true
  while (load<u8>(p) !== 0x5d) {
    if (!isFirst) {
      if (load<u8>(p) !== 0x2c) return 0
      p = space(p + 1)
      put(0x2c)
    }
    isFirst = false
    if (load<u8>(p) === 0x7b) p = block(p, keep, depth)
    else {
      const end = value(p, 0)
      if (end !== 0) copy(p, end)
      p = end
    }
    if (p === 0) return 0
    p = space(p)
  }
  put(0x5d)
  return p + 1
}

function block(at: usize, given: usize, depth: i32): usize {
  // Which block it is may be said last.
  const keep = isResult(at) ? keepBytes : given
  let p = open(at)
  if (p === 0) return 0
  begin()
  while (p !== 0 && load<u8>(p) === QUOTE) {
    const name = p
    const key = p + 1
    const keyEnd = skipText(key)
    const size = <i32>(keyEnd - 1 - key)
    p = value0(keyEnd)
    if (p === 0 || !isPlain(key, keyEnd)) return 0
    const byte = load<u8>(p)
    if (is(key, size, 'text') || is(key, size, 'content')) {
      if (byte === QUOTE) p = text(name, p, keep)
      else if (byte === 0x5b) {
        head(name, p)
        p = blocks(p, keep, depth + 1)
      } else p = member(name, value(p, 0))
    } else {
      const isWanted =
        is(key, size, 'type') ||
        is(key, size, 'id') ||
        is(key, size, 'name') ||
        is(key, size, 'input') ||
        is(key, size, 'tool_use_id') ||
        is(key, size, 'is_error')
      p = isWanted ? member(name, value(p, 0)) : value(p, 0)
    }
    p = next(p)
  }
  return finish(close(p))
}

/** Whether the block's own `type` is `tool_result`. */
function isResult(at: usize): bool {
  let p = open(at)
  while (p !== 0 && load<u8>(p) === QUOTE) {
    const key = p + 1
    const keyEnd = skipText(key)
    const size = <i32>(keyEnd - 1 - key)
    p = value0(keyEnd)
    if (p === 0) return false
    const end = value(p, 0)
    if (is(key, size, 'type') && end !== 0) return is(p + 1, <i32>(end - p - 2), 'tool_result')
    p = next(end)
  }
  return false
}

// Writing. Members are separated by commas, the first of an object excepted.

function put(byte: u8): void {
  store<u8>(out, byte)
  out += 1
}

function copy(from: usize, end: usize): void {
  memory.copy(out, from, end - from)
  out += end - from
}

function begin(): void {
  put(0x7b)
}

function finish(after: usize): usize {
  if (after !== 0) put(0x7d)
  return after
}

/** A name, up to its value. */
function head(name: usize, at: usize): void {
  if (load<u8>(out - 1) !== 0x7b) put(0x2c)
  copy(name, at)
}

/** A name with its value as it is. */
function member(name: usize, end: usize): usize {
  if (end !== 0) head(name, end)
  return end
}

/** A name with the beginning of its text. */
function text(name: usize, at: usize, keep: usize): usize {
  const end = skipText(at + 1)
  if (end === 0) return 0
  const start = at + 1
  if (end - 1 - start <= keep) return member(name, end)
  head(name, cutBefore(start, start + keep))
  put(QUOTE)
  return end
}

/** The last place up to `limit` that is between two characters: not inside UTF-8 or an escape. */
function cutBefore(start: usize, limit: usize): usize {
  let at = limit
  while (at > start && (load<u8>(at) & 0xc0) === 0x80) at -= 1
  for (let slash = at - 1; slash >= start && at - slash < 6; slash--) {
    if (load<u8>(slash) !== BACKSLASH) continue
    // The last of an even number of backslashes is a character, not the beginning of one.
    let first = slash
    while (first > start && load<u8>(first - 1) === BACKSLASH) first -= 1
    const size: usize = load<u8>(slash + 1) === 0x75 ? 6 : 2
    return (slash - first) % 2 === 0 && slash + size > at ? slash : at
  }
  return at
}
