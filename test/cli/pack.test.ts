import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openHome } from '../../src/home/index.js'
import { contextOf } from '../lifecycle/context.js'
import { filesOf, SECRET, SESSION, threeTurns } from '../lifecycle/pack/packable.js'
import { BINARY, environmentIn, type Ran, run } from './binary.js'
import { scratch } from './world.js'

const PASSPHRASE = 'correct horse battery'

/** A user with a session that can be packed, and the commands that this user types. */
async function user() {
  const place = scratch()
  onTestFinished(() => place[Symbol.dispose]())
  const base = realpathSync(place.path)
  const project = join(base, 'project')
  mkdirSync(project)
  const env = environmentIn(base)
  const root = env.SKEIN_HOME ?? ''
  const surroundings = { home: base, env, zone: 'UTC' }
  {
    await using home = await openHome({
      root,
      configFile: join(root, 'config.toml'),
      surroundings,
      context: contextOf([]),
    })
    await threeTurns({ project, root: base, home })
  }
  const skein = (args: readonly string[], more: Record<string, string> = {}): Promise<Ran> =>
    run(process.execPath, [BINARY, ...args], { env: { ...env, ...more }, cwd: base })
  onTestFinished(async () => void (await skein(['daemon', 'stop'])))
  return { base, project, env, root, skein }
}

describe('skein pack', () => {
  it('takes the passphrase from the environment, and gives it to nobody', async () => {
    const { base, root, skein } = await user()
    const file = join(base, 'session.skein')
    const pack = ['pack', SESSION, '--verbatim', '-o', file]
    const without = await skein(pack)
    expect([without.exitCode, without.stderr]).toEqual([2, expect.stringContaining('only written sealed')])
    expect(existsSync(file)).toBe(false)
    const packed = await skein([...pack, '--json'], { SKEIN_PASSPHRASE: PASSPHRASE })
    expect(packed).toMatchObject({ exitCode: 0, stderr: '' })
    expect(JSON.parse(packed.stdout)).toMatchObject({ is_sealed: true, is_verbatim: true })
    expect(readFileSync(file, 'latin1')).not.toContain(SECRET)

    const into = (name: string): string[] => ['unpack', file, '--into', join(base, name), '--name', name]
    for (const more of [{}, { SKEIN_PASSPHRASE: 'another horse' }]) {
      const refused = await skein(into('no'), more)
      expect([refused.exitCode, refused.stderr]).toEqual([2, expect.stringMatching(/is sealed|does not open/)])
      expect(existsSync(join(base, 'no'))).toBe(false)
    }
    expect(await skein(into('yes'), { SKEIN_PASSPHRASE: PASSPHRASE })).toMatchObject({ exitCode: 0 })
    expect(filesOf(join(base, 'yes'))).toContain('file-3.txt')
    for (const name of readdirSync(root, { recursive: true, withFileTypes: true }))
      if (name.isFile()) expect(readFileSync(join(name.parentPath, name.name), 'latin1')).not.toContain(PASSPHRASE)
  })

  it('is done by the daemon, with code and sealed, and so is unpack; what is refused there leaves nothing', async () => {
    const { base, skein } = await user()
    expect(await skein(['daemon', 'start'])).toMatchObject({ exitCode: 0 })
    const { socket } = JSON.parse((await skein(['daemon', 'status', '--json'])).stdout) as { socket: string }
    const file = join(base, 'session.skein')
    const passphrase_file = join(base, 'phrase')
    writeFileSync(passphrase_file, `${PASSPHRASE}\n`)
    const report = await ask(socket, '/v1/pack', { reference: SESSION, output: file, turn: 2, passphrase_file })
    expect(report).toMatchObject({ status: 200, body: { is_sealed: true, snapshots: 4, sessions: [{ turns: 2 }] } })
    expect(await ask(socket, '/v1/pack', { reference: SESSION, output: file })).toMatchObject({ status: 400 })
    const unpack = { file, into: join(base, 'there'), name: 'got/it' }
    expect(await ask(socket, '/v1/unpack', unpack)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('is sealed') } },
    })
    expect(existsSync(unpack.into)).toBe(false)
    const made = await ask(socket, '/v1/unpack', { ...unpack, passphrase_file })
    expect(made).toMatchObject({ status: 200, body: { turns: 2, agent: { address: 'got/it' } } })
    expect(filesOf(unpack.into)).toEqual(['README.md', 'file-1.txt', 'file-2.txt', 'link', 'run.sh'])
  })
})

/** As any program would ask. */
function ask(socketPath: string, path: string, body: object): Promise<{ status: number; body: unknown }> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const asked = request({ socketPath, method: 'POST', path, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) }))
    })
    asked.on('error', reject)
    asked.end(JSON.stringify(body))
  })
}
