import { readdirSync, readFileSync, realpathSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ensureDaemon } from '../../src/daemon/index.js'
import { BINARY, type Ran, run } from '../cli/binary.js'
import { scratchHome } from './scratch.js'

const DAMAGES: Record<string, (path: string) => void> = {
  garbage: (path) => writeFileSync(path, 'garbage '.repeat(1_000)),
  'a new file of garbage': (path) => {
    rmSync(path)
    writeFileSync(path, 'garbage '.repeat(1_000))
  },
  truncated: (path) => truncateSync(path, 40),
  'garbage in the middle': (path) => {
    const bytes = readFileSync(path)
    bytes.fill(0x5a, 4_096, 4_096 * 6)
    writeFileSync(path, bytes)
  },
  'of another version': (path) => {
    const bytes = readFileSync(path)
    bytes.writeUInt32BE(999, 60) // user_version in SQLite's header
    writeFileSync(path, bytes)
  },
  'a missing link': (path) => rmSync(path),
  'a missing file': (path) => rmSync(realpathSync(path)),
}

for (const [damage, inflict] of Object.entries(DAMAGES)) {
  it(`an index that is damaged while a daemon has it open is rebuilt, and both go on with the new one: ${damage}`, async () => {
    const { root, access } = scratchHome()
    const env = { PATH: process.env.PATH ?? '', HOME: root, SKEIN_HOME: root, SKEIN_ACTOR: 'ada' }
    const skein = (...args: string[]): Promise<Ran> => run(process.execPath, [BINARY, ...args], { env })
    const done = async (...args: string[]): Promise<string> => {
      const ran = await skein(...args)
      expect({
        args,
        exitCode: ran.exitCode,
        stderr: ran.stderr.replace(/^.*index\.db could not be used.*\n/gm, ''),
      }).toEqual({
        args,
        exitCode: 0,
        stderr: '',
      })
      return ran.stdout
    }
    const { client } = await ensureDaemon({ ...access, env: { ...access.env, HOME: root } })
    const asked = async (): Promise<unknown[]> =>
      ((await client.get('/v1/sessions.list')) as { sessions: { id: string }[] }).sessions.map(({ id }) => id)
    await done('agents', 'add', 'web/toast', '--tool', 'claude')
    for (let n = 0; n < 3; n += 1) await done('session', 'start', '--id', `s${n}`, '--tool', 'claude')
    const before = await done('sessions', 'list', '--json')
    expect(await asked()).toHaveLength(3)

    const profile = join(root, 'profiles', 'default')
    inflict(join(profile, 'index.db'))
    expect(await done('sessions', 'list', '--json')).toBe(before)
    expect(await asked()).toHaveLength(3)
    // What either writes, the other sees.
    await done('session', 'start', '--id', 'after', '--tool', 'claude')
    expect(await asked()).toContain('after')
    await client.post('/v1/session.start', { id: 'through-the-daemon', tool: 'claude' })
    expect(await done('sessions', 'list', '--json')).toContain('through-the-daemon')
    await done('index', 'check')

    // The daemon is the one that notices.
    inflict(join(profile, 'index.db'))
    expect(await asked()).toHaveLength(5)
    expect(await done('sessions', 'list', '--json')).toContain('through-the-daemon')
    await done('index', 'check')
    await done('index', 'rebuild')
    expect(await asked()).toHaveLength(5)
    const generations = readdirSync(profile).filter((name) => /^index-.*\.db$/.test(name))
    expect(generations).toEqual([realpathSync(join(profile, 'index.db')).split('/').at(-1)])
  })
}
