import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { LONG_FILE, LONG_FUNCTION, readSources } from '../scripts/read-sources.mjs'

const files = readSources(join(dirname(fileURLToPath(import.meta.url)), '..', 'src'))

it('has no function that is too long to be read at a glance', () => {
  expect(files.flatMap(({ functions }) => functions).length).toBeGreaterThan(1_000)
  const long = files.flatMap(({ name, functions }) =>
    functions
      .filter(({ lines }) => lines > LONG_FUNCTION)
      .map(({ called, lines }) => `${name}: ${called}, ${lines} lines`),
  )
  expect(long).toEqual([])
})

it('says in the first line of a long file why it is one', () => {
  const silent = files.filter(({ lines, text }) => lines > LONG_FILE && !/^\/\/ .{20,}\n/.test(text))
  expect(silent.map(({ name, lines }) => `${name}: ${lines} lines`)).toEqual([])
})
