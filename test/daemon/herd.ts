import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import type { DaemonAccess } from '../../src/daemon/index.js'
import { startTimeOf } from '../../src/disk/index.js'
import type { Home } from '../../src/home/index.js'
import { type AgentRun, AgentRuns } from '../../src/lifecycle/index.js'
import { type Agent, type Instant, instantOf } from '../../src/model/index.js'
import { openTerminal, type Terminal, writeLaunchScript } from '../../src/terminal/index.js'
import { profilesUnder } from '../cli/world.js'
import { context } from '../terminal/scratch.js'
import { scratchHome } from './scratch.js'

/** Agents that run in a tmux of their own and do what the test says: their program is `sleep`, and the test speaks for it. */
export class Herd {
  #count = 0
  #said = 0

  private constructor(
    readonly root: string,
    readonly access: DaemonAccess,
    readonly home: Home,
    readonly runs: AgentRuns,
    readonly terminal: Terminal,
    readonly socket: { path: string },
  ) {}

  static async make(): Promise<Herd> {
    const { root, access } = scratchHome()
    mkdirSync(root, { recursive: true })
    writeFileSync(join(root, 'config.toml'), '[daemon]\ningest = false\n[notify]\nby = []\n')
    const socket = { path: join(tmpdir(), `skein-herd-${process.pid}-${Math.trunc(performance.now())}`) }
    const home = await profilesUnder(root).open('default')
    const terminal = await openTerminal({ socket, context, environment: { PATH: process.env.PATH, HOME: root } })
    const herd = new Herd(root, access, home, new AgentRuns(home, context), terminal, socket)
    onTestFinished(async () => {
      await terminal[Symbol.asyncDispose]()
      herd.killTmux()
      await home[Symbol.asyncDispose]()
    })
    return herd
  }

  settings(text: string): void {
    writeFileSync(join(this.root, 'config.toml'), `[daemon]\ningest = false\n${text}`)
  }

  killTmux(signal: 'SIGTERM' | 'SIGKILL' = 'SIGKILL'): void {
    try {
      const pid = Number(this.tmux('display-message', '-p', '#{pid}'))
      if (pid > 1) process.kill(pid, signal)
    } catch {
      // There is none.
    }
  }

  tmux(...args: string[]): string {
    return execFileSync('tmux', ['-u', '-S', this.socket.path, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env.PATH },
    })
  }

  async add(address: string): Promise<Agent> {
    this.#count += 1
    const agent = await this.home.roster.add({ address, tool: 'claude', project_path: this.root })
    const script = join(this.root, `launch-${this.#count}`)
    writeLaunchScript({ path: script, argv: ['sleep', '1000'], env: {} })
    const tmux_session = `agent-${this.#count}`
    const create = () => this.terminal.create({ session: tmux_session, cwd: this.root, script, agent: agent.id })
    // Just after a kill the connection may still be the one to the old server.
    const pane = await create().catch(create)
    const process_start = startTimeOf(pane.pid)
    const started_at = instantOf(Date.now() - 60_000)
    const next: AgentRun = {
      v: 1,
      agent: agent.id,
      recipe: { tool: 'claude', cwd: this.root },
      run: {
        id: `run-${agent.id}`,
        socket: this.socket,
        tmux_session,
        pane: pane.pane,
        pid: pane.pid,
        ...(process_start === undefined ? {} : { process_start }),
        started_at,
        port: 0,
        how: 'new',
      },
      status: { status: 'idle', since: started_at, source: 'hook' },
      told: [{ source: 'hook', status: 'idle', at: started_at as Instant, rule: 'hook:SessionStart' }],
    }
    await this.runs.update(agent, () => ({ next, result: undefined }))
    return agent
  }

  /** What a hook of the agent's program would leave in the spool. */
  says(agent: Agent, payload: object, atMs = Date.now()): void {
    const { spool } = this.home.paths
    mkdirSync(spool, { recursive: true })
    this.#said += 1
    const name = `${BigInt(atMs) * 1_000_000n + BigInt(this.#said)}-1`
    const header = { v: 1, agent: agent.id, run: `run-${agent.id}`, tool: 'claude' }
    writeFileSync(join(spool, `.${name}`), `${JSON.stringify(header)}\n${JSON.stringify(payload)}`)
    renameSync(join(spool, `.${name}`), join(spool, `${name}.msg`))
  }

  works(agent: Agent): void {
    this.says(agent, { hook_event_name: 'UserPromptSubmit', prompt: 'go' })
  }

  asks(agent: Agent, command = 'ls'): void {
    this.says(agent, { hook_event_name: 'PermissionRequest', tool_name: 'Bash', tool_input: { command } })
  }

  finishes(agent: Agent): void {
    this.says(agent, { hook_event_name: 'Stop' })
  }

  /** Writes a screen to the terminal of the agent. */
  async shows(agent: Agent, lines: readonly string[]): Promise<void> {
    const pane = (await this.runs.read(agent.id))?.run?.pane ?? ''
    const tty = this.tmux('display-message', '-p', '-t', pane, '#{pane_tty}').trim()
    writeFileSync(tty, `\x1b[2J\x1b[H${lines.join('\r\n')}`)
  }

  statusOf(agent: Agent): Promise<AgentRun['status'] | undefined> {
    return this.runs.read(agent.id).then((run) => run?.status)
  }
}
