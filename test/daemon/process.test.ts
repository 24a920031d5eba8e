import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { DaemonClient, daemonStateOf, ensureDaemon, stopDaemon } from '../../src/daemon/index.js'
import { isTrusted } from '../../src/daemon/place.js'
import { livingDaemon } from '../../src/daemon/record.js'
import { lifeOf, startTimeOf } from '../../src/disk/index.js'
import { BINARY, run } from '../cli/binary.js'
import { Herd } from './herd.js'
import { scratchHome, until } from './scratch.js'

const DIST = fileURLToPath(new URL('../../dist', import.meta.url))
const LOG = fileURLToPath(new URL('../fixtures/claude/2.1.325/print-5turns-resumed.jsonl', import.meta.url))

describe('the daemon', () => {
  it('is one, however many are started at once, and answers all of them', async () => {
    const { root, access } = scratchHome()
    const env = { PATH: process.env.PATH ?? '', HOME: root, SKEIN_HOME: root }
    const started = await Promise.all(
      Array.from({ length: 6 }, () => run(process.execPath, [BINARY, 'daemon', 'start', '--json'], { env })),
    )
    expect(started.map(({ exitCode, stderr }) => ({ exitCode, stderr }))).toEqual(
      started.map(() => ({ exitCode: 0, stderr: '' })),
    )
    const pids = new Set(started.map(({ stdout }) => JSON.parse(stdout).pid))
    expect(pids).toEqual(new Set([livingDaemon(access.place)?.pid]))
    // Those that were too many have said so and are gone.
    await until(() => readFileSync(access.place.log, 'utf8').includes('runs as process'))
  })

  it('takes nothing of the shell it was started from: no terminal, no keys, not its session', async () => {
    const { access } = scratchHome()
    const env = { ...access.env, ANTHROPIC_API_KEY: 'sk-ant-not-for-a-daemon', TMUX: '/tmp/x,1,0', SKEIN_SESSION: 's' }
    const { client } = await ensureDaemon({ ...access, env })
    const of = (what: string): string => readFileSync(`/proc/${client.record.pid}/${what}`, 'utf8')
    expect(of('environ')).not.toMatch(/sk-ant|TMUX=|SKEIN_SESSION/)
    const [, , , , session, tty] = of('stat').slice(of('stat').lastIndexOf(')')).split(' ')
    expect({ session: Number(session), tty }).toEqual({ session: client.record.pid, tty: '0' })
  })

  it('does what it does in its own name, also when an agent has started it', async () => {
    const { root, access } = scratchHome()
    const log = join(root, '.claude', 'projects', '-srv', '22222222-2222-4222-8222-222222222222.jsonl')
    mkdirSync(dirname(log), { recursive: true })
    cpSync(LOG, log)
    await ensureDaemon({ ...access, env: { ...access.env, HOME: root, SKEIN_ACTOR: 'web/kim' } })
    const actors = await until(() => {
      const directory = join(root, 'profiles', 'default', 'events')
      const [name] = existsSync(directory) ? readdirSync(directory) : []
      const lines = name === undefined ? '' : readFileSync(join(directory, name), 'utf8')
      const found = [...lines.matchAll(/"actor":"([^"]*)"/g)].map(([, actor]) => actor)
      return found.length > 0 && found
    })
    expect(new Set(actors)).toEqual(new Set(['skein-daemon']))
  })

  it('runs a tool that was described in the config file a moment ago', async () => {
    const herd = await Herd.make()
    const agent = await herd.add('web/echo')
    await herd.runs.update(agent, (run) => {
      if (!run) throw new Error('the herd has no such agent')
      return { next: { ...run, recipe: { ...run.recipe, tool: 'echo' } }, result: undefined }
    })
    const { client } = await ensureDaemon(herd.access)
    const sent = (): Promise<unknown> =>
      client.post('/v1/agents.send', { agent: 'web/echo', text: 'hello' }).then(
        () => 'sent',
        ({ code }: { code: string }) => code,
      )
    expect(await sent()).toBe('tool-unknown')
    herd.settings('[tools.echo]\ncommand = ["cat"]\n')
    expect(await sent()).not.toBe('tool-unknown')
  })

  it('makes no home: one that was deleted while the daemon started stays deleted', async () => {
    const { root, access } = scratchHome()
    const env = { PATH: process.env.PATH ?? '', HOME: dirname(root), SKEIN_HOME: root }
    const ran = await run(process.execPath, [access.program, 'default'], { env })
    expect({ ...ran, isThere: existsSync(root) }).toEqual({ stdout: '', stderr: '', exitCode: 0, isThere: false })
  })

  it('is not started by a command that is refused, and is by one that succeeds', async () => {
    const { root, access } = scratchHome()
    const env = { PATH: process.env.PATH ?? '', HOME: root, SKEIN_HOME: root }
    const file = join(dirname(root), 'README.md')
    writeFileSync(file, '')
    for (const args of [
      ['start', file, '--tool', 'claude'],
      ['start', '--agent', 'web/nobody', '--tool', 'nothing'],
      ['stop', 'web/nobody'],
      ['why', 'web/nobody'],
    ]) {
      const ran = await run(process.execPath, [BINARY, ...args], { env })
      expect({ args, failed: ran.exitCode !== 0, log: existsSync(access.place.log) }).toEqual({
        args,
        failed: true,
        log: false,
      })
    }
    await run(process.execPath, [BINARY, 'list'], { env })
    await until(() => livingDaemon(access.place))
  })

  it('does not hide from people that a setting is misspelt or a line of the settings cannot be read', async () => {
    const { root, access } = scratchHome()
    await ensureDaemon(access)
    const env = { PATH: process.env.PATH ?? '', HOME: root, SKEIN_HOME: root }
    const said = async (command: string, ...more: string[]): Promise<string> =>
      (await run(process.execPath, [BINARY, command, ...more], { env })).stderr
    writeFileSync(join(root, 'config.toml'), '[turns]\ncommitt = true\n')
    for (const command of ['list', 'status']) {
      expect(await said(command)).toContain(`${join(root, 'config.toml')}:2: turns.committ is not a setting`)
    }
    expect(await said('list', '--json')).toBe('')
    writeFileSync(join(root, 'config.toml'), '[turns\n')
    expect(await said('list')).toContain(`${join(root, 'config.toml')}:1:`)
  })

  it('leaves files that only its user can read', async () => {
    const { access } = scratchHome()
    await ensureDaemon(access)
    const { directory, lock, record, log, socket } = access.place
    expect([lock, record, log, socket].map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600, 0o600, 0o600])
    expect(statSync(directory).mode & 0o777).toBe(0o700)
  })

  it('killed with -9 leaves nothing that keeps the next one from starting', async () => {
    const { access } = scratchHome()
    const first = await ensureDaemon(access)
    process.kill(first.client.record.pid, 'SIGKILL')
    await until(() => lifeOf(first.client.record) === 'dead')
    await until(() => daemonStateOf(access).kind === 'none') // its lock goes with the last of its threads
    expect(DaemonClient.find(access.place, access.userId)).toBeUndefined()
    const second = await ensureDaemon(access)
    expect(second.did).toBe('started')
    expect(second.client.record.pid).not.toBe(first.client.record.pid)
  })

  it('ignores that its terminal hangs up', async () => {
    const { access } = scratchHome()
    const { client } = await ensureDaemon(access)
    process.kill(client.record.pid, 'SIGHUP')
    expect(await client.get('/v1/health')).toMatchObject({ pid: client.record.pid })
  })

  it('ends by itself when its home is deleted, and does not make a new one', async () => {
    const { root, access } = scratchHome()
    const { client } = await ensureDaemon(access)
    const readers = await until(() => {
      const found = childrenOf(client.record.pid)
      return found.length > 0 && found
    })
    rmSync(root, { recursive: true })
    // The process that reads logs for it too: it would be the one to make the home again.
    for (const one of [client.record, ...readers]) await until(() => lifeOf(one) === 'dead')
    expect(existsSync(root)).toBe(false)
  })

  it('whose program is replaced while it runs leaves commands to do what it cannot load, and is followed by the new program', async () => {
    const { root, access } = scratchHome()
    const own = join(dirname(root), 'own')
    const install = (version: string): void => {
      rmSync(join(own, 'dist'), { recursive: true, force: true })
      for (const part of ['cli', 'daemon']) cpSync(join(DIST, part), join(own, 'dist', part), { recursive: true })
      writeFileSync(join(own, 'package.json'), JSON.stringify({ name: 'skein', version }))
    }
    install('0.0.8')
    cpSync(dirname(BINARY), join(own, 'bin'), { recursive: true })
    symlinkSync(join(dirname(DIST), 'node_modules'), join(own, 'node_modules'))
    const program = join(own, 'dist', 'daemon', 'daemon-main.cjs')
    const { client } = await ensureDaemon({ ...access, version: '0.0.8', program })
    // Its parts have other names in the new program.
    rmSync(join(own, 'dist', 'daemon', 'chunks'), { recursive: true })
    const { loadOperation } = await import('../../src/operations/index.js')
    expect(await client.tryCall(await loadOperation('budget.show'), {}, {})).toBeUndefined()
    await expect(client.get('/v1/budget.show')).rejects.toMatchObject({
      message: expect.stringContaining('its program was replaced'),
    })
    install('0.0.9')
    const next = await until(() => {
      const record = livingDaemon(access.place)
      return record !== undefined && record.pid !== client.record.pid && record
    })
    expect(next.version).toBe('0.0.9')
    expect(lifeOf(client.record)).toBe('dead')
    expect(readFileSync(access.place.log, 'utf8')).toContain(
      `process ${client.record.pid} ends: its program was replaced`,
    )
  })

  it('of an older version is replaced by a newer, and an older program uses a newer daemon', async () => {
    const { root, access } = scratchHome()
    const older = join(dirname(root), 'older')
    for (const part of ['cli', 'daemon']) cpSync(join(DIST, part), join(older, 'dist', part), { recursive: true })
    cpSync(dirname(BINARY), join(older, 'bin'), { recursive: true })
    symlinkSync(join(dirname(DIST), 'node_modules'), join(older, 'node_modules'))
    writeFileSync(join(older, 'package.json'), JSON.stringify({ name: 'skein', version: '0.0.9' }))
    const old = { ...access, version: '0.0.9', program: join(older, 'dist', 'daemon', 'daemon-main.cjs') }
    const first = await ensureDaemon(old)
    expect(first.client.record.version).toBe('0.0.9')
    const second = await ensureDaemon(access)
    expect(second).toMatchObject({ did: 'replaced', client: { record: { version: access.version } } })
    expect(lifeOf(first.client.record)).toBe('dead')
    expect(await ensureDaemon(old)).toMatchObject({ did: 'found', client: { record: second.client.record } })
  })

  it('that speaks another version of the API is left alone', async () => {
    const { access } = scratchHome()
    mkdirSync(access.place.directory, { recursive: true })
    const self = { pid: process.pid, starttime: startTimeOf(process.pid) }
    const newer = {
      v: 1,
      ...self,
      version: '99.0.0',
      api: 99,
      socket: '/nowhere',
      started_at: '2026-01-17T00:00:00.000Z',
    }
    writeFileSync(access.place.record, JSON.stringify(newer))
    expect(daemonStateOf(access).kind).toBe('foreign')
    await expect(ensureDaemon(access)).rejects.toMatchObject({ code: 'daemon-failed' })
    expect(DaemonClient.find(access.place, access.userId)).toBeUndefined()
    rmSync(access.place.record) // or the end of this test would stop its own process
  })

  it('is never signalled by number alone: a pid that came back as another process is not touched', async () => {
    const { access } = scratchHome()
    mkdirSync(access.place.directory, { recursive: true })
    const record = { v: 1, pid: process.pid, starttime: 1, version: '0.0.1', api: 1, socket: '/x', started_at: 'x' }
    writeFileSync(access.place.record, JSON.stringify(record))
    expect(await stopDaemon(access)).toBeUndefined()
  })

  it('is not signalled where its process cannot be proven: without /proc, and without an answer over its socket', async () => {
    const { root, access } = scratchHome()
    mkdirSync(access.place.directory, { recursive: true })
    const env = { PATH: process.env.PATH ?? '', HOME: root, SKEIN_HOME: root }
    const other = spawn('sleep', ['300'])
    onTestFinished(() => void other.kill())
    const record = { v: 1, pid: other.pid, version: '0.0.1', api: 1, socket: '/x', started_at: 'x' }
    writeFileSync(access.place.record, JSON.stringify(record))
    const hidden = `mount -t tmpfs none /proc && exec "$@"`
    const argv = ['-rm', 'sh', '-c', hidden, 'sh', process.execPath, BINARY, 'daemon', 'stop']
    const ran = spawnSync('unshare', argv, { env, encoding: 'utf8', timeout: 60_000 })
    expect(ran.stderr).toContain('may be another program by now')
    expect([ran.status, lifeOf({ pid: other.pid ?? 0 })]).toEqual([1, 'alive'])
    rmSync(access.place.record)
  })

  it('listens elsewhere when the path under its home is too long for a socket', async () => {
    const { access } = scratchHome(`${'deep/'.repeat(30)}home`)
    const { client } = await ensureDaemon(access)
    expect(Buffer.byteLength(client.record.socket)).toBeLessThan(104)
    expect(statSync(dirname(client.record.socket)).mode & 0o777).toBe(0o700)
    expect(await client.get('/v1/health')).toMatchObject({ name: 'skein' })
    await stopDaemon(access)
    expect(existsSync(dirname(client.record.socket))).toBe(false)
  })

  it("is not talked to when the socket is another user's, or others could have put it there", async () => {
    const { access } = scratchHome()
    const { client } = await ensureDaemon(access)
    const userId = process.geteuid?.() ?? 0
    expect(isTrusted(client.record.socket, userId)).toBe(true)
    expect(DaemonClient.find(access.place, userId + 1)).toBeUndefined()
    chmodSync(dirname(client.record.socket), 0o777)
    expect(DaemonClient.find(access.place, userId)).toBeUndefined()
    chmodSync(dirname(client.record.socket), 0o700)
  })
})

/** The processes that a process has started. */
function childrenOf(pid: number): { pid: number; starttime?: number }[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim()
  return children.split(' ').flatMap((child) => {
    const starttime = child === '' ? undefined : startTimeOf(Number(child))
    return starttime === undefined ? [] : [{ pid: Number(child), starttime }]
  })
}
