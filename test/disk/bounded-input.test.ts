import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { boundedInput } from '../../src/disk/index.js'
import { scratch } from '../home/scratch.js'

const LIMITS = { mostBytes: 1_000, waitMs: 60 }

/** A pipe that stays open as long as the test does. */
function pipe(): { descriptor: number; write(text: string): void; close(): void } {
  const path = join(scratch(), 'pipe')
  execFileSync('mkfifo', [path])
  const writer = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  return {
    descriptor,
    write: (text) => writeSync(writer, text),
    close: () => closeSync(writer),
  }
}

it('a pipe that nobody closes ends with the JSON in it, or with the time limit', async () => {
  const open = pipe()
  open.write('{"a":')
  setTimeout(() => open.write('{"b":1}}\n'), 10)
  expect(await boundedInput(open.descriptor, { ...LIMITS, waitMs: 5_000 })).toBe('{"a":{"b":1}}\n')
  const silent = pipe()
  expect(await boundedInput(silent.descriptor, LIMITS)).toBe('')
  const torn = pipe()
  torn.write('{"a":')
  expect(await boundedInput(torn.descriptor, LIMITS)).toBe('{"a":')
})

it('a pipe that is closed gives what was in it', async () => {
  const open = pipe()
  open.write('no JSON')
  setTimeout(() => open.close(), 10)
  expect(await boundedInput(open.descriptor, { ...LIMITS, waitMs: 5_000 })).toBe('no JSON')
})

it('input beyond the limit is refused without reading it to its end', async () => {
  const path = join(scratch(), 'large')
  writeFileSync(path, '{')
  truncateSync(path, 100_000_000_000)
  expect(await boundedInput(openSync(path, 'r'), LIMITS)).toBeUndefined()
  const open = pipe()
  open.write('x'.repeat(1_001))
  expect(await boundedInput(open.descriptor, LIMITS)).toBeUndefined()
})

it('a device, a closed descriptor and an empty file are no input', async () => {
  const empty = join(scratch(), 'empty')
  writeFileSync(empty, '')
  const closed = openSync(empty, 'r')
  closeSync(closed)
  for (const one of [openSync('/dev/zero', 'r'), closed, openSync(empty, 'r')]) {
    expect(await boundedInput(one, LIMITS)).toBe('')
  }
})
