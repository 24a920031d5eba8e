import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { copyGuarded, guardedText, openGuarded, readGiven, readGuarded } from '../../src/disk/index.js'

const KB = 1024
let directory: string
let path: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'skein-guard-'))
  path = join(directory, 'file')
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

/** What may lie in the place of a file, and what is said of it. */
const ODD: Readonly<Record<string, (at: string) => void>> = {
  'a pipe, not a file': (at) => void execFileSync('mkfifo', [at]),
  'a device, not a file': (at) => symlinkSync('/dev/zero', at),
  'a directory, not a file': (at) => mkdirSync(at),
}

describe.each(Object.keys(ODD))('%s', (what) => {
  it('is refused at once, by name, however it is asked for', () => {
    ODD[what]?.(path)
    expect(() => readGuarded(path, { mostBytes: KB })).toThrow(`${path} is ${what}`)
    expect(() => closeSync(openGuarded(path))).toThrow(expect.objectContaining({ code: what }))
    expect(() => copyGuarded(path, join(directory, 'copy'), {})).toThrow(what)
    expect(existsSync(join(directory, 'copy'))).toBe(false)
    expect(guardedText(path, KB)).toBeUndefined()
  })
})

it('a socket is refused by name', async () => {
  const server = createServer().listen(path)
  await new Promise((resolve) => server.once('listening', resolve))
  expect(() => readGuarded(path, { mostBytes: KB })).toThrow('a socket, not a file')
  await new Promise((resolve) => server.close(resolve))
})

it('a file is read whole up to its limit, and one byte more is too much', () => {
  writeFileSync(path, 'x'.repeat(KB))
  expect(readGuarded(path, { mostBytes: KB })).toHaveLength(KB)
  expect(() => readGuarded(path, { mostBytes: KB - 1 })).toThrow('larger than 1 KB')
})

it('a file whose size the system does not name is read all the same, and counted while it is read', () => {
  expect(readGuarded('/proc/self/status', { mostBytes: 64 * KB }).toString()).toContain('Pid:')
  expect(() => readGuarded('/proc/self/status', { mostBytes: 16 })).toThrow('larger than')
})

it('a huge file is refused by its size, before anything is read', () => {
  writeFileSync(path, '')
  truncateSync(path, 1e12)
  expect(() => readGuarded(path, { mostBytes: KB })).toThrow('larger than 1 KB')
})

it('a link is followed, unless it may lead out of what was asked for', () => {
  writeFileSync(join(directory, 'target'), 'text')
  symlinkSync('target', path)
  expect(guardedText(path, KB)).toBe('text')
  expect(() => readGuarded(path, { mostBytes: KB, noFollow: true })).toThrow(`${path} is a link, not a file`)
  expect(() => copyGuarded(path, join(directory, 'copy'), { noFollow: true })).toThrow('a link, not a file')
})

it('no trouble of a path keeps a text that only adds to what is known from being left out', () => {
  writeFileSync(path, '')
  for (const odd of [join(path, 'below-a-file'), join(directory, 'x'.repeat(300)), join(directory, 'missing'), 'nul\0'])
    expect(guardedText(odd, KB)).toBeUndefined()
})

it('a copy has all of the file, is new, and is for its user alone', () => {
  const bytes = Buffer.alloc(3 * KB * KB, 'skein')
  writeFileSync(path, bytes)
  chmodSync(path, 0o644)
  const copy = join(directory, 'copy')
  copyGuarded(path, copy, { noFollow: true })
  expect(readFileSync(copy).equals(bytes)).toBe(true)
  expect(() => copyGuarded(path, copy, {})).toThrow('EEXIST')
  expect(readFileSync(copy).equals(bytes)).toBe(true)
})

it('what a user names may be a pipe, but not without end', () => {
  execFileSync('mkfifo', [path])
  spawn('sh', ['-c', 'printf NAME=value >"$1"', 'sh', path], { stdio: 'ignore' })
  expect(readGiven(path, KB).toString()).toBe('NAME=value')
  expect(() => readGiven('/dev/zero', KB)).toThrow('larger than 1 KB')
})
