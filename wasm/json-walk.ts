// AssemblyScript. Walks over JSON in memory, byte by byte, where a line feed ends the line.
// The line feed stops every walk, so no place is ever compared with the end; 16 bytes more must be readable.

export const QUOTE: u8 = 0x22
export const BACKSLASH: u8 = 0x5c

// Steps between the members of an object. They return the place of the next quote or of the closing brace, or 0.

export function open(at: usize): usize {
  return load<u8>(at) === 0x7b ? space(at + 1) : 0
}

/** From after a key to its value. */
export function value0(keyEnd: usize): usize {
  if (keyEnd === 0) return 0
  const p = space(keyEnd)
  return load<u8>(p) === 0x3a ? space(p + 1) : 0
}

export function next(at: usize): usize {
  if (at === 0) return 0
  const p = space(at)
  if (load<u8>(p) === 0x7d) return p
  if (load<u8>(p) !== 0x2c) return 0
  const q = space(p + 1)
  return load<u8>(q) === QUOTE ? q : 0
}

export function close(at: usize): usize {
  return at !== 0 && load<u8>(at) === 0x7d ? at + 1 : 0
}

/** A string without escapes. Bytes above 127 are fine: they are decoded later. */
export function plain(at: usize): usize {
  if (load<u8>(at) !== QUOTE) return 0
  const end = skipText(at + 1)
  return end !== 0 && isPlain(at + 1, end) ? end : 0
}

export function isPlain(from: usize, end: usize): bool {
  for (let p = from; p < end; p++) if (load<u8>(p) === BACKSLASH) return false
  return true
}

// JSON that is walked over. Each takes the place where its thing begins and returns the place after it, or 0 when it is not valid.

export function space(at: usize): usize {
  let p = at
  while (true) {
    const byte = load<u8>(p)
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0d) return p
    p += 1
  }
}

/** What was seen in the texts walked over since `forget`: bytes above 127, and halves of characters (`\ud83d`). */
export let isWide: bool = false
export let hasHalves: bool = false
export function forget(): void {
  isWide = false
  hasHalves = false
}

/** From after the opening quote to after the closing one. Logs are full of escapes, so those within one load are taken from it. */
export function skipText(at: usize): usize {
  const quote = i8x16.splat(QUOTE)
  const backslash = i8x16.splat(BACKSLASH)
  const control = i8x16.splat(0x20)
  let p = at
  let high = 0
  while (p !== 0) {
    const bytes = v128.load(p)
    high |= i8x16.bitmask(bytes) // may look past the quote: then it is only said too often
    let stops = i8x16.bitmask(
      v128.or(v128.or(i8x16.eq(bytes, quote), i8x16.eq(bytes, backslash)), i8x16.lt_u(bytes, control)),
    )
    let next = p + 16
    while (stops !== 0) {
      const stop = p + ctz(stops)
      const byte = load<u8>(stop)
      if (byte === QUOTE) {
        if (high !== 0) isWide = true
        return stop + 1
      }
      if (byte !== BACKSLASH) return 0
      const size = escapeSize(stop)
      if (size === 0) return 0
      const after = stop + size
      if (after >= next) {
        next = after
        break
      }
      stops &= -1 << (<i32>(after - p))
    }
    p = next
  }
  return 0
}

/** How many bytes an escape takes; 0 when it is none. */
function escapeSize(at: usize): usize {
  const escaped = load<u8>(at + 1)
  if (
    escaped === 0x6e ||
    escaped === QUOTE ||
    escaped === BACKSLASH ||
    escaped === 0x74 ||
    escaped === 0x2f ||
    escaped === 0x72 ||
    escaped === 0x62 ||
    escaped === 0x66
  )
    return 2
  if (escaped !== 0x75 || !isHex(at + 2) || !isHex(at + 3) || !isHex(at + 4) || !isHex(at + 5)) return 0
  if ((load<u8>(at + 2) | 0x20) === 0x64) hasHalves = true
  return 6
}

export function isHex(p: usize): bool {
  const byte = load<u8>(p)
  const letter = byte | 0x20
  return (byte >= 0x30 && byte <= 0x39) || (letter >= 0x61 && letter <= 0x66)
}

/** Deeper nesting than any log has; beyond it the parser decides. */
const DEEPEST: i32 = 200

export function value(at: usize, depth: i32): usize {
  const byte = load<u8>(at)
  if (byte === QUOTE) return skipText(at + 1)
  if (byte === 0x7b) return depth > DEEPEST ? 0 : members(at, depth + 1)
  if (byte === 0x5b) return depth > DEEPEST ? 0 : items(at, depth + 1)
  if (byte === 0x74 || byte === 0x66 || byte === 0x6e) return literal(at)
  return number(at)
}

export function members(at: usize, depth: i32): usize {
  let p = open(at)
  while (p !== 0 && load<u8>(p) === QUOTE) {
    p = value0(skipText(p + 1))
    if (p === 0) return 0
    p = next(value(p, depth))
  }
  return close(p)
}

export function items(at: usize, depth: i32): usize {
  let p = space(at + 1)
  if (load<u8>(p) === 0x5d) return p + 1
  while (true) {
    p = value(p, depth)
    if (p === 0) return 0
    p = space(p)
    const byte = load<u8>(p)
    if (byte === 0x5d) return p + 1
    if (byte !== 0x2c) return 0
    p = space(p + 1)
  }
}

export function literal(at: usize): usize {
  const word = load<u32>(at)
  if (word === 0x65757274 || word === 0x6c6c756e) return at + 4 // true, null
  return word === 0x736c6166 && load<u8>(at + 4) === 0x65 ? at + 5 : 0 // false
}

export function isDigit(p: usize): bool {
  return <u32>load<u8>(p) - 0x30 <= 9
}

export function number(at: usize): usize {
  let p = load<u8>(at) === 0x2d ? at + 1 : at
  if (!isDigit(p)) return 0
  if (load<u8>(p) === 0x30) p += 1
  else while (isDigit(p)) p += 1
  if (load<u8>(p) === 0x2e) {
    p += 1
    if (!isDigit(p)) return 0
    while (isDigit(p)) p += 1
  }
  if ((load<u8>(p) | 0x20) === 0x65) {
    p += 1
    if (load<u8>(p) === 0x2b || load<u8>(p) === 0x2d) p += 1
    if (!isDigit(p)) return 0
    while (isDigit(p)) p += 1
  }
  return p
}

export function is(at: usize, size: i32, word: string): bool {
  if (size !== word.length) return false
  const wide = changetype<usize>(word)
  for (let i: usize = 0; i < <usize>size; i++) {
    if (<u16>load<u8>(at + i) !== load<u16>(wide + (i << 1))) return false
  }
  return true
}
