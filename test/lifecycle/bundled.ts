import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll } from 'vitest'

/** Where packages are found that are not bundled. */
const CACHE = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url))

/** A program in TypeScript that tests run, and kill, as a process of its own: the file to run, for as long as the tests of this file. */
export function bundled(source: string): () => string {
  let directory = ''
  const file = (): string => join(directory, basename(source).replace(/ts$/, 'mjs'))
  beforeAll(async () => {
    mkdirSync(CACHE, { recursive: true })
    directory = mkdtempSync(join(CACHE, 'bundled-'))
    const bundle = await rolldown({
      input: source,
      platform: 'node',
      external: [/^node:/, '@photostructure/sqlite'],
      transform: { target: 'node20.19' },
    })
    await bundle.write({ file: file(), format: 'esm', codeSplitting: false })
    await bundle.close()
  })
  afterAll(() => rmSync(directory, { recursive: true, force: true }))
  return file
}
