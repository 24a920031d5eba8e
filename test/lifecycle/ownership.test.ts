import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { lifeOf, startTimeOf, thisPlace, whereaboutsOf } from '../../src/disk/index.js'
import { BINARY } from '../cli/binary.js'
import { scratch } from '../home/scratch.js'
import { eventually } from './workshop.js'

const PROGRAM = fileURLToPath(new URL('../workers/fake-agent.mjs', import.meta.url))
const IN_ANOTHER_NAMESPACE = ['unshare', '-rpf', '--mount-proc', '--kill-child'] as const

/** The program does not know the keys that a tool of one's own is asked to leave with. */
const STOP = ['stop', 'toast', '--grace', '200ms'] as const

interface Ran {
  status: number | null
  stdout: string
  stderr: string
}

/** A home of the built program, whose tmux server is in `TMUX_TMPDIR`, gone with the test. */
function den() {
  const root = scratch()
  const project = join(root, 'project')
  const servers = join(root, 'servers')
  for (const directory of [project, servers, join(root, '.config', 'skein')]) mkdirSync(directory, { recursive: true })
  const config = `[tools.demo]\ncommand = "${process.execPath} ${PROGRAM}"\nidle_patterns = ["re:^>"]\nbusy_patterns = ["WORKING"]\n[daemon]\nautostart = false\n`
  writeFileSync(join(root, '.config', 'skein', 'config.toml'), config)
  const env = { PATH: process.env.PATH ?? '', HOME: root, TMUX_TMPDIR: servers, FAKE_LOG: join(root, 'fake.log') }
  const skein = (args: readonly string[], { more = {}, inside = [] as readonly string[] } = {}): Ran => {
    const [program = '', ...rest] = [...inside, process.execPath, BINARY, ...args]
    const ran = spawnSync(program, rest, { env: { ...env, ...more }, cwd: project, encoding: 'utf8', timeout: 60_000 })
    return { status: ran.status, stdout: ran.stdout, stderr: ran.stderr }
  }
  const agents = join(root, '.local', 'share', 'skein', 'profiles', 'default', 'agents')
  const file = (): string => {
    const [name = ''] = readdirSync(agents).filter((one) => one.endsWith('.json'))
    return join(agents, name)
  }
  const stored = () => JSON.parse(readFileSync(file(), 'utf8'))
  const list = (options = {}) => {
    const ran = skein(['list', '--json'], options)
    expect({ status: ran.status, stderr: ran.stderr }).toEqual({ status: 0, stderr: '' })
    return JSON.parse(ran.stdout).agents
  }
  const stopped = (): unknown[] => {
    const segment = join(dirname(agents), 'events', '00000001.jsonl')
    return readFileSync(segment, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"agent_stopped"'))
  }
  /** Starts the one agent of the test and says which processes run now. */
  const start = (): { pid: number; server: number; isAlive(): boolean } => {
    const ran = skein(['start', '.', '--agent', 'toast', '--tool', 'demo', '--json'])
    expect({ status: ran.status, stderr: ran.stderr }).toEqual({ status: 0, stderr: '' })
    const { pid, server } = stored().run
    const starttime = startTimeOf(pid)
    onTestFinished(() => {
      for (const one of [pid, server.pid]) if (startTimeOf(one) !== undefined) process.kill(one, 'SIGKILL')
    })
    return { pid, server: server.pid, isAlive: () => lifeOf({ pid, ...(starttime ? { starttime } : {}) }) === 'alive' }
  }
  const change = (edit: (run: Record<string, unknown>) => void): void => {
    const whole = stored()
    edit(whole.run)
    writeFileSync(file(), JSON.stringify(whole))
  }
  const starts = (): number => readFileSync(env.FAKE_LOG, 'utf8').split('"started"').length - 1
  return {
    root,
    project,
    env,
    skein,
    list,
    start,
    stored,
    change,
    stopped,
    starts,
    socket: () => stored().run.socket.path,
  }
}

describe('an agent stays owned wherever it is looked at from', () => {
  it('with another TMUX_TMPDIR it is seen, not started twice, and stopped for real', () => {
    const { root, skein, list, start, stopped, starts } = den()
    const { pid, isAlive } = start()
    const other = join(root, 'other')
    mkdirSync(other)
    const more = { TMUX_TMPDIR: other }
    expect(list({ more })).toMatchObject([{ address: 'toast', status: 'idle', pid }])
    expect(skein(['start', 'toast'], { more })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is already running'),
    })
    expect(stopped()).toEqual([])
    expect([isAlive(), starts()]).toEqual([true, 1])
    expect(skein(STOP, { more }).status).toBe(0)
    expect(isAlive()).toBe(false)
  })

  it('a socket that was removed with its directory comes back, and with it the same server', () => {
    const { skein, list, start, stored, socket, stopped, starts } = den()
    const { pid, server, isAlive } = start()
    rmSync(dirname(socket()), { recursive: true })
    expect(list()).toMatchObject([{ address: 'toast', status: 'idle', pid }])
    expect(existsSync(socket())).toBe(true)
    rmSync(socket())
    // Another agent joins the server that is there, and does not put a second one in its place.
    expect(skein(['start', '.', '--agent', 'butter', '--tool', 'demo']).status).toBe(0)
    expect(stored().run.server.pid).toBe(server)
    expect(list()).toHaveLength(2)
    expect(stopped()).toEqual([])
    expect([isAlive(), starts()]).toEqual([true, 2])
    rmSync(socket())
    expect(skein(STOP).status).toBe(0)
    expect(isAlive()).toBe(false)
    skein(['kill', 'butter'])
  })

  it('from another pid namespace it is seen through its server, not started twice, and stopped for real', async () => {
    const { skein, list, start, stopped, starts } = den()
    const { pid, isAlive } = start()
    const inside = IN_ANOTHER_NAMESPACE
    expect(list({ inside })).toMatchObject([{ address: 'toast', status: 'idle', pid }])
    expect(skein(['start', 'toast'], { inside })).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('is already running'),
    })
    expect(stopped()).toEqual([])
    expect([isAlive(), starts()]).toEqual([true, 1])
    expect(skein(STOP, { inside }).status).toBe(0)
    await eventually(isAlive, (alive) => !alive)
    expect(list()).toMatchObject([{ status: 'stopped' }])
  })

  it('from another pid namespace a kill reaches what does not listen', async () => {
    const { skein, start } = den()
    const { pid, isAlive } = start()
    process.kill(pid, 'SIGSTOP')
    expect(skein(['kill', 'toast'], { inside: IN_ANOTHER_NAMESPACE }).stderr).toBe('')
    await eventually(isAlive, (alive) => !alive)
  })

  it('what can neither be seen nor reached is unknown with the reason, and neither stopped nor doubled', () => {
    const { skein, list, start, socket, stopped, starts } = den()
    const { pid, isAlive } = start()
    const inside = IN_ANOTHER_NAMESPACE
    rmSync(socket())
    expect(list({ inside })).toMatchObject([
      { status: 'unknown', reason: expect.stringContaining('in another container or pid namespace') },
    ])
    for (const command of ['start', 'stop', 'kill', 'restart']) {
      const ran = skein([command, 'toast'], { inside })
      expect({ command, ...ran }).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('cannot be reached from here'),
      })
    }
    for (const words of [['recover'], ['recover', 'toast']]) {
      const { status, stdout } = skein(words, { inside })
      expect([words, status, stdout]).toEqual([
        words,
        1,
        expect.stringMatching(/^toast: refused: .*restart toast --force/),
      ])
    }
    expect(list({ inside })).toMatchObject([{ status: 'unknown' }])
    expect(stopped()).toEqual([])
    expect([isAlive(), starts()]).toEqual([true, 1])
    expect(list()).toMatchObject([{ status: 'idle', pid }])
    expect(skein(STOP).status).toBe(0)
    expect(isAlive()).toBe(false)
  })

  it('one on another host is given up only by force', () => {
    const { skein, list, start, change, stopped, starts, socket } = den()
    const { isAlive } = start()
    change((run) => {
      run.place = { host: 'far-away', boot: 'b', pid_namespace: 'pid:[1]' }
      run.pid = 2_000_000
      run.socket = { path: `${socket()}-far` }
    })
    expect(list()).toMatchObject([{ status: 'unknown', reason: expect.stringContaining('on host far-away') }])
    expect(skein(['start', 'toast'])).toMatchObject({ status: 1, stderr: expect.stringContaining('--force') })
    expect(stopped()).toEqual([])
    expect(skein(['start', 'toast', '--force']).status).toBe(0)
    expect(starts()).toBe(2)
    expect(stopped()).toHaveLength(1)
    expect(isAlive()).toBe(true)
    skein(['kill', 'toast'])
  })

  it('after a restart of the machine it is lost for real, and starts again in its conversation', () => {
    const { skein, list, start, change, stored, socket } = den()
    const { server } = start()
    process.kill(server, 'SIGKILL')
    change((run) => {
      // A process that has its pid by now is another one.
      run.pid = process.pid
      run.process_start = startTimeOf(process.pid)
      run.place = { ...thisPlace(), boot: 'the one before' }
      rmSync(socket())
    })
    expect(list()).toMatchObject([{ status: 'error', trouble: 'tmux-gone', reason: 'the machine was restarted' }])
    expect(stored().run.ended_at).toBeDefined()
    expect(skein(['start', 'toast']).status).toBe(0)
    skein(['kill', 'toast'])
  })

  it('a run of an earlier version is completed with where it runs', () => {
    const { root, skein, list, start, change, stopped } = den()
    const { pid, isAlive } = start()
    change((run) => {
      delete run.place
      delete run.server
      run.socket = { name: 'skein' }
    })
    const other = join(root, 'other')
    mkdirSync(other)
    const more = { TMUX_TMPDIR: other }
    expect(list({ more })).toMatchObject([{ status: 'idle', pid }])
    expect(stopped()).toEqual([])
    expect(skein(STOP, { more }).status).toBe(0)
    expect(isAlive()).toBe(false)
  })

  it('a process that outlives its pane is still owned', async () => {
    const { root, skein, list, start, stored, socket } = den()
    const { server } = start()
    const stubborn = join(root, 'stubborn.sh')
    writeFileSync(stubborn, "trap '' HUP; echo '> '; while :; do sleep 0.2; done\n")
    const config = join(root, '.config', 'skein', 'config.toml')
    writeFileSync(
      config,
      readFileSync(config, 'utf8').replace(
        '[daemon]',
        `[tools.mule]\ncommand = "sh ${stubborn}"\nidle_patterns = ["re:^>"]\n[daemon]`,
      ),
    )
    const began = skein(['start', '.', '--agent', 'mule', '--tool', 'mule', '--json'])
    expect(began.stderr).toBe('')
    const { pid } = JSON.parse(began.stdout).agent
    onTestFinished(() => {
      if (startTimeOf(pid) !== undefined) process.kill(pid, 'SIGKILL')
    })
    process.kill(server, 'SIGKILL')
    expect(existsSync(socket())).toBe(true)
    const mule = list().find(({ address }: { address: string }) => address === 'mule')
    expect(mule).toMatchObject({ status: 'error', trouble: 'tmux-gone' })
    expect(mule.reason).toContain(`process ${pid} still runs, without a terminal`)
    expect(skein(['start', 'mule'])).toMatchObject({ status: 1, stderr: expect.stringContaining('skein recover mule') })
    expect(skein(['stop', 'mule', '--grace', '1s']).status).toBe(0)
    expect(lifeOf({ pid })).toBe('dead')
    expect(stored()).toBeDefined()
  })
})

describe('where a process runs', () => {
  const here = { host: 'a', machine: 'm', boot: '1', pid_namespace: 'pid:[1]' }
  it.each([
    [undefined, 'here'],
    [here, 'here'],
    [{ ...here, host: 'renamed' }, 'here'],
    [{ ...here, pid_namespace: 'pid:[2]' }, 'elsewhere'],
    [{ ...here, boot: '0' }, 'restarted'],
    [{ ...here, boot: '0', pid_namespace: 'pid:[2]' }, 'restarted'],
    [{ ...here, boot: '0', host: 'b' }, 'elsewhere'],
    [{ ...here, boot: '0', machine: 'n' }, 'elsewhere'],
    [{ host: 'b' }, 'elsewhere'],
  ] as const)('%j is %s', (place, expected) => {
    expect(whereaboutsOf(place, here)).toBe(expected)
  })
})

describe('the tmux server', () => {
  const isThere = (pid: number): boolean => lifeOf({ pid }) === 'alive'

  it('ends with its last agent, and not before', async () => {
    const { skein, start } = den()
    const { server } = start()
    expect(skein(['start', '.', '--agent', 'butter', '--tool', 'demo']).status).toBe(0)
    expect(skein(['kill', 'toast']).status).toBe(0)
    expect(isThere(server)).toBe(true)
    expect(skein(['kill', 'butter']).status).toBe(0)
    await eventually(
      () => isThere(server),
      (there) => !there,
    )
    expect(skein(['start', 'toast']).status).toBe(0)
    skein(['kill', 'toast'])
  })

  it('stays while a daemon is connected, and ends with it', async () => {
    const { skein, start, list } = den()
    const { server } = start()
    expect(skein(['daemon', 'start']).status).toBe(0)
    // It connects to the server of an agent that it watches.
    await eventually(
      () => list()[0]?.status,
      (status) => status === 'idle',
    )
    expect(skein(['kill', 'toast']).status).toBe(0)
    expect(skein(['daemon', 'stop']).status).toBe(0)
    await eventually(
      () => isThere(server),
      (there) => !there,
    )
  })

  it.each(['stop', 'kill'])('keeps the last lines of a crash until its user says %s', async (command) => {
    const { skein, stored } = den()
    expect(skein(['start', '.', '--agent', 'toast', '--tool', 'demo', '--arg=--die', '--arg=3']).status).toBe(1)
    const server = stored().run.server.pid
    onTestFinished(() => {
      if (startTimeOf(server) !== undefined) process.kill(server, 'SIGKILL')
    })
    expect(isThere(server)).toBe(true)
    expect(skein([command, 'toast']).status).toBe(0)
    await eventually(
      () => isThere(server),
      (there) => !there,
    )
  })

  it("of one's own, with a socket that was configured, is left alone", () => {
    const { root, skein } = den()
    const path = join(root, 'mine.sock')
    const tmux = (...args: string[]) =>
      spawnSync('tmux', ['-S', path, '-f', '/dev/null', ...args], { encoding: 'utf8' })
    tmux('new-session', '-d', '-s', '_skein', 'sleep 600')
    onTestFinished(() => void tmux('kill-server'))
    const config = join(root, '.config', 'skein', 'config.toml')
    writeFileSync(config, `${readFileSync(config, 'utf8')}[tmux]\nsocket = "${path}"\n`)
    expect(skein(['start', '.', '--agent', 'toast', '--tool', 'demo']).stderr).toBe('')
    expect(skein(['kill', 'toast']).status).toBe(0)
    expect(tmux('list-sessions', '-F', '#{session_name}').stdout).toBe('_skein\n')
  })
})
