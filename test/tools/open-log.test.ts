import { execFileSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { isReadableLog, LOG_TOOLS, notingUnlisted, openLog } from '../../src/tools/index.js'

const LOG = join(import.meta.dirname, '..', 'fixtures', 'claude', '2.1.325', 'print-5turns-resumed.jsonl')
let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'skein-log-'))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

it('a log that is all hole is refused without being read, also behind real lines', () => {
  const path = join(directory, 'log.jsonl')
  copyFileSync(LOG, path)
  closeSync(openLog(path))
  truncateSync(path, 10e12)
  expect(() => openLog(path)).toThrow('a sparse file')
  expect(isReadableLog(path)).toBe(false)
})

it('a large log with a hole in it that is still mostly data is read', () => {
  const path = join(directory, 'log.jsonl')
  const file = openSync(path, 'w')
  writeSync(file, Buffer.alloc(8_000_000, '{"type":"x"}\n'), 0, 8_000_000, 100_000_000)
  closeSync(file)
  expect(isReadableLog(path)).toBe(true)
})

it('what has the name of a log and is none is named with what it is', () => {
  const project = join(directory, '.claude', 'projects', '-srv')
  mkdirSync(project, { recursive: true })
  execFileSync('mkfifo', [join(project, '22222222-2222-4222-8222-222222222222.jsonl')])
  execFileSync('ln', ['-s', 'nowhere', join(project, '33333333-3333-4333-8333-333333333333.jsonl')])
  writeFileSync(join(project, '44444444-4444-4444-8444-444444444444.jsonl'), '')
  const claude = LOG_TOOLS.find(({ name }) => name === 'claude')
  const { found, unlisted } = notingUnlisted(() => claude?.discover({ home: directory, env: {} }))
  expect(found).toHaveLength(1)
  expect(unlisted.map(({ path, reason }) => [dirname(path) === project, reason]).sort()).toEqual([
    [true, 'a dangling link'],
    [true, 'a pipe, not a file'],
  ])
})
