import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { BINARY, environmentIn, run } from './binary.js'
import { scratch } from './world.js'

it('a relative SKEIN_HOME is one home for a command and all that it starts, and is warned of', async () => {
  using own = scratch()
  const [here, there] = [join(own.path, 'here'), join(own.path, 'there')]
  for (const directory of [here, there]) mkdirSync(directory, { recursive: true })
  const env = environmentIn(own.path, { SKEIN_HOME: 'data' })
  const skein = (cwd: string, ...args: string[]) => run(process.execPath, [BINARY, ...args], { env, cwd })
  const started = await skein(here, 'group', 'create', 'web')
  expect(started.exitCode).toBe(0)
  expect(started.stderr).toContain(
    `SKEIN_HOME is the relative path data: here that is ${join(here, 'data')}, elsewhere it is another home. Set it to an absolute path`,
  )
  expect(started.stderr.match(/relative path/g)).toHaveLength(1)
  expect(existsSync(join(here, 'data', 'profiles', 'default'))).toBe(true)
  // The daemon, which works elsewhere, has the same home.
  const daemon = await skein(here, 'daemon', 'start', '--json')
  expect(daemon.exitCode).toBe(0)
  const seen = await skein(here, 'daemon', 'status', '--json')
  expect(JSON.parse(seen.stdout)).toMatchObject({ pid: JSON.parse(daemon.stdout).pid })
  expect((await skein(here, 'daemon', 'stop')).exitCode).toBe(0)
  expect(existsSync('/data')).toBe(false)
  // Who only asks for help has no home, and is not warned.
  expect((await skein(there, '--help')).stderr).toBe('')
})
