import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { readSources } from '../scripts/read-sources.mjs'

const SRC = join(dirname(fileURLToPath(import.meta.url)), '..', 'src')

it('waits for whatever is returned behind a `using`: a lock that is given up before the work is done is none', () => {
  const unheld = readSources(SRC).flatMap(({ name, unheld }) => unheld.map((line) => `src/${name}:${line}`))
  expect(unheld).toEqual([])
})

it('finds calls that are not waited for, in each form of a return, and nothing else', () => {
  const directory = mkdtempSync(join(tmpdir(), 'skein-held-'))
  const lines = [
    'async function f(a, b) {',
    '  if (a) return b()',
    '  using _held = b()',
    '  if (a) return b()',
    '  if (b) { return a ? b() : 1 }',
    '  for (const one of a) { try { return one && b() } catch { return undefined } }',
    '  const inner = () => { return b() }',
    '  return await inner()',
    '}',
    'function g(b) { using _held = b(); return b() }',
    'async function h(b) { { await using held = b() } return b() }',
  ]
  try {
    writeFileSync(join(directory, 'some.ts'), lines.join('\n'))
    expect(readSources(directory).map(({ unheld }) => unheld)).toEqual([[4, 5, 6]])
  } finally {
    rmSync(directory, { recursive: true })
  }
})
