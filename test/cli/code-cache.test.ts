import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { Script } from 'node:vm'
import { afterEach, expect, it } from 'vitest'

const ROOT = join(import.meta.dirname, '..', '..')
const require = createRequire(import.meta.url)
const { packOf } = require(join(ROOT, 'bin', 'code-cache.js')) as { packOf(bundle: string): string }
const scratch: string[] = []
afterEach(() => {
  for (const directory of scratch.splice(0)) rmSync(directory, { recursive: true, force: true })
})

it.each(['cli', 'hook'])('V8 accepts the code of every chunk of the bundle %s', (bundle) => {
  const directory = join(ROOT, 'dist', bundle)
  const made = entries(readFileSync(packOf(directory)))
  const rejected = made.filter(({ name, cachedData }) => {
    const source = require('node:module').wrap(readFileSync(join(directory, 'chunks', name), 'utf8'))
    return new Script(source, { cachedData }).cachedDataRejected !== false
  })
  expect(made.length).toBeGreaterThan(5)
  expect(rejected.map(({ name }) => name)).toEqual([])
})

it.each([
  ['is cut off in its data', (pack: string) => truncateSync(pack, readFileSync(pack).readUInt32LE(0) + 100)],
  ['is cut off in its list', (pack: string) => truncateSync(pack, 40)],
  ['is empty', (pack: string) => truncateSync(pack, 0)],
  ['is a text', (pack: string) => writeFileSync(pack, 'nothing of the kind')],
  ['is not there', (pack: string) => rmSync(pack)],
])('the program runs when its pack %s', (_what, damage) => {
  const copy = checkout()
  damage(packOf(join(copy, 'dist', 'cli')))
  const home = made('skein-code-home-')
  const ran = spawnSync(process.execPath, [join(copy, 'bin', 'skein.js'), 'sessions', 'list', '--json'], {
    env: { PATH: process.env.PATH, HOME: home, SKEIN_HOME: home },
    encoding: 'utf8',
  })
  expect({ stderr: ran.stderr, status: ran.status }).toEqual({ stderr: '', status: 0 })
  expect(JSON.parse(ran.stdout)).toMatchObject({ sessions: [] })
})

it('an error still names the chunk and its line', () => {
  const copy = checkout()
  const chunk = entries(readFileSync(packOf(join(copy, 'dist', 'cli')))).find(({ name }) => name.startsWith('start-'))
  const path = join(copy, 'dist', 'cli', 'chunks', chunk?.name ?? '')
  const program = `const { compile } = require(${JSON.stringify(join(copy, 'bin', 'code-cache.js'))})
    try { compile({ exports: {}, require: () => { throw new Error('here') } }, ${JSON.stringify(path)}) } catch (error) { console.log(error.stack) }`
  const stack = execFileSync(process.execPath, ['-e', program], { encoding: 'utf8' })
  expect(stack).toContain(basename(path))
})

function entries(pack: Buffer): { name: string; cachedData: Buffer }[] {
  const start = 4 + pack.readUInt32LE(0)
  const list = JSON.parse(pack.toString('utf8', 4, start)) as [string, number, number][]
  return list.map(([name, at, length]) => ({ name, cachedData: pack.subarray(start + at, start + at + length) }))
}

/** A copy of the built program, whose files may be damaged. */
function checkout(): string {
  const copy = made('skein-code-')
  for (const part of ['bin', join('dist', 'cli'), 'package.json'])
    cpSync(join(ROOT, part), join(copy, part), { recursive: true })
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'))
  return copy
}

function made(prefix: string): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), prefix)))
  scratch.push(directory)
  return directory
}
