// Loaded into a program before its own code: one time and one row of random values, so that two versions of it print the same bytes
// where they do the same. FIXED_TIME is the time in ms; with FIXED_TIME_RUNS it goes on from there. FIXED_SEED chooses the values.
const crypto = require('node:crypto')
const { syncBuiltinESMExports } = require('node:module')

const RealDate = Date
const start = Number(process.env.FIXED_TIME)
const began = RealDate.now()
const now = () => start + (process.env.FIXED_TIME_RUNS ? RealDate.now() - began : 0)

globalThis.Date = class FixedDate extends RealDate {
  constructor(...given) {
    if (given.length === 0) super(now())
    else super(...given)
  }

  static now() {
    return now()
  }
}

if (!process.env.FIXED_TIME_RUNS) performance.now = () => 0

let state = Number(process.env.FIXED_SEED) >>> 0 || 1
function next() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return state
}

function fill(target) {
  const bytes = new Uint8Array(target.buffer, target.byteOffset, target.byteLength)
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = next() >>> 24
  return target
}

function uuid() {
  const bytes = fill(Buffer.alloc(16))
  bytes[6] = (bytes[6] & 0x0f) | 0x40
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

Math.random = () => next() / 2 ** 32
globalThis.crypto.getRandomValues = fill
globalThis.crypto.randomUUID = uuid
crypto.getRandomValues = fill
crypto.randomUUID = uuid
crypto.randomFillSync = fill
crypto.randomBytes = (count) => fill(Buffer.alloc(count))
syncBuiltinESMExports()
