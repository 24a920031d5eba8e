import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { LogFile } from '../../src/daemon/index.js'
import { FileLock, writeAtomic } from '../../src/disk/index.js'
import { openHome } from '../../src/home/index.js'
import { openTestHome, scratch } from '../home/scratch.js'
import { contextOf } from '../lifecycle/context.js'

const SECRET = 'Wombat-4242'
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

it('a purge waits for whoever edits a file that has a lock beside it', async () => {
  const root = join(scratch(), 'skein') // not the user's own directory, where a purge touches only profiles
  const home = await openHome({
    root,
    configFile: join(root, 'config.toml'),
    surroundings: { home: join(root, '..'), env: {}, zone: 'UTC' },
    context: contextOf([]),
  })
  const path = join(root, 'project-policies.json')
  writeFileSync(path, JSON.stringify({ '/a/privacy.yaml': `# ${SECRET}` }))
  const held = await new FileLock(`${path}.lock`).hold(1_000)
  const purging = home.privacy.purge({ secret: SECRET })
  await pause(700)
  // The editor read the file before the purge began, and writes it with its own change.
  writeFileSync(path, JSON.stringify({ '/a/privacy.yaml': `# ${SECRET}`, '/b/privacy.yaml': 'kept' }))
  held[Symbol.dispose]()
  expect((await purging).proof?.left).toEqual([])
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ '/a/privacy.yaml': '# [PURGED]', '/b/privacy.yaml': 'kept' })
  await home[Symbol.asyncDispose]()
})

it('a message that a hook is writing while a purge runs arrives whole, and without what was purged', async () => {
  const root = scratch()
  const { home } = await openTestHome(root)
  const { spool } = home.paths
  mkdirSync(spool, { recursive: true })
  const half = openSync(join(spool, '.5'), 'w', 0o600)
  writeSync(half, `{"v":1,"agent":"a","run":"r","tool":"fake"}\n{"first":"${SECRET}",`)
  const purging = home.privacy.purge({ secret: SECRET })
  await pause(300)
  writeSync(half, '"second":"also here"}')
  closeSync(half)
  renameSync(join(spool, '.5'), join(spool, '5.msg'))
  expect((await purging).proof?.left).toEqual([])
  expect(readFileSync(join(spool, '5.msg'), 'utf8')).toContain('{"first":"[PURGED]","second":"also here"}')
  await home[Symbol.asyncDispose]()
})

it('a log that a purge has replaced is written on under its name', () => {
  const path = join(scratch(), 'default.log')
  using log = new LogFile(path, { now: () => 0 })
  log.write(`before ${SECRET}`)
  writeAtomic(path, 'before [PURGED]\n', { durable: false })
  log.write('after')
  expect(existsSync(path)).toBe(true)
  expect(readFileSync(path, 'utf8')).toBe('before [PURGED]\n1970-01-01T00:00:00.000Z after\n')
})
