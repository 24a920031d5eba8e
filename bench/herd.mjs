// Agents that run in a tmux of their own and do nothing until they are told: `sleep` is the program, and what its hooks would say is put
// into the spool. A home is filled directly, as starting a hundred agents would have left it.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openHome } from '../dist/library.js'

export const SKEIN = join(dirname(dirname(fileURLToPath(import.meta.url))), 'bin', 'skein.js')

export class Herd {
  constructor(root) {
    this.root = root
    this.socket = join(root, 'tmux')
    this.profile = join(root, 'profiles', 'default')
    this.claude = join(root, 'claude')
    this.env = { PATH: process.env.PATH, HOME: root, SKEIN_HOME: root, CLAUDE_CONFIG_DIR: this.claude, LANG: 'C.UTF-8' }
    this.agents = []
    this.said = 0n
  }

  /** For each agent its tool, and how its state is known: `hook` (it tells) or `registry` (it keeps a file). */
  async fill(kinds) {
    mkdirSync(join(this.profile, 'agents'), { recursive: true, mode: 0o700 })
    mkdirSync(join(this.profile, 'spool'), { recursive: true, mode: 0o700 })
    mkdirSync(join(this.claude, 'sessions'), { recursive: true })
    writeFileSync(join(this.root, 'config.toml'), '[notify]\nby = []\n')
    const home = await openHome({ home: this.root, onWarning: () => {} })
    for (const [at, { tool, source }] of kinds.entries()) {
      const agent = await home.roster.add({ address: `herd/agent-${at}`, tool, project_path: this.root })
      this.#start(agent, at, source)
      this.agents.push(agent)
    }
    await home[Symbol.asyncDispose]()
  }

  #start(agent, at, source) {
    const tmux_session = `agent-${at}`
    const size = ['-x', '140', '-y', '45']
    const shown = ['-P', '-F', '#{pane_id} #{pane_pid}']
    const [pane, pid] = this.tmux(
      'new-session',
      '-d',
      ...size,
      ...shown,
      '-s',
      tmux_session,
      'exec sleep 100000',
    ).split(' ')
    this.tmux('set-option', '-p', '-t', pane, '@skein_agent', agent.id)
    const process_start = startTime(pid)
    const since = new Date(Date.now() - 3_600_000).toISOString()
    const run = {
      v: 1,
      agent: agent.id,
      recipe: { tool: agent.tool, cwd: this.root },
      run: {
        id: `run-${at}`,
        socket: { path: this.socket },
        tmux_session,
        pane,
        pid: Number(pid),
        process_start,
        started_at: since,
        port: 0,
        how: 'new',
      },
      status: { status: 'idle', since, source },
      told: [{ source: 'hook', status: 'idle', at: since, rule: 'hook:SessionStart' }],
    }
    writeFileSync(join(this.profile, 'agents', `${agent.id}.json`), JSON.stringify(run), { mode: 0o600 })
    if (source === 'registry') this.register(pid, process_start, 'idle', since)
  }

  register(pid, procStart, status, since) {
    const sessionId = `00000000-0000-4000-8000-${String(pid).padStart(12, '0')}`
    const entry = { kind: 'interactive', pid: Number(pid), procStart: String(procStart), sessionId, status }
    const file = join(this.claude, 'sessions', `${pid}.json`)
    writeFileSync(file, JSON.stringify({ ...entry, statusUpdatedAt: Date.parse(since) }))
  }

  /** Puts what a hook would say into the spool, and returns when it was there. */
  says(at, payload) {
    this.said += 1n
    const name = `${BigInt(Date.now()) * 1_000_000n + this.said}-1`
    const header = { v: 1, agent: this.agents[at].id, run: `run-${at}`, tool: 'claude' }
    const spool = join(this.profile, 'spool')
    writeFileSync(join(spool, `.${name}`), `${JSON.stringify(header)}\n${JSON.stringify(payload)}`)
    renameSync(join(spool, `.${name}`), join(spool, `${name}.msg`))
    return performance.now()
  }

  tmux(...args) {
    const env = { PATH: process.env.PATH, HOME: this.root, LANG: 'C.UTF-8' }
    const { stdout, stderr, status } = spawnSync('tmux', ['-f', '/dev/null', '-S', this.socket, ...args], {
      env,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`tmux ${args[0]}: ${stderr}`)
    return stdout.trim()
  }

  skein(...args) {
    const { stdout, stderr, status } = spawnSync(process.execPath, [SKEIN, ...args], {
      env: this.env,
      encoding: 'utf8',
    })
    if (status !== 0) throw new Error(`skein ${args.join(' ')}: ${stderr}`)
    return stdout
  }

  startDaemon() {
    return JSON.parse(this.skein('daemon', 'start', '--json'))
  }

  /** Calls back with each message of the live stream; returns how to hang up. */
  follow(socketPath, onMessage) {
    return new Promise((resolve, reject) => {
      const asked = request({ socketPath, path: '/v1/events?types=agent_status' }, (response) => {
        let rest = ''
        response.setEncoding('utf8').on('data', (chunk) => {
          const frames = (rest + chunk).split('\n\n')
          rest = frames.pop()
          for (const frame of frames) {
            const data = /^data: (.*)$/m.exec(frame)?.[1]
            if (data === undefined) continue
            if (frame.startsWith('event: hello')) resolve(() => asked.destroy())
            else onMessage(JSON.parse(data))
          }
        })
        response.on('error', () => {})
      })
      asked.on('error', reject)
      asked.end()
    })
  }

  end() {
    try {
      this.skein('daemon', 'stop')
    } finally {
      this.tmux('kill-server')
    }
  }
}

function startTime(pid) {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[19])
}
