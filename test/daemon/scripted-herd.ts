import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type DaemonAccess, ensureDaemon, stopDaemon } from '../../src/daemon/index.js'
import type { Home } from '../../src/home/index.js'
import { type AgentRun, AgentRuns, type Agents } from '../../src/lifecycle/index.js'
import type { Event } from '../../src/model/index.js'
import { agentsUnder, profilesUnder } from '../cli/world.js'
import { context } from '../terminal/scratch.js'
import { pause, scratchHome } from './scratch.js'

/** So many are started or read at a time. */
const AT_ONCE = 6

/**
 * A program with conversations that costs little: a first run names a conversation, every other one resumes it and writes down that
 * it did. It has a child of its own, and exits with 0 when it is told to end.
 */
const PROGRAM = (root: string): string => `#!/bin/sh
trap 'exit 0' TERM
if [ "$1" = --json ]; then
  echo "{\\"session_id\\":\\"$(cat /proc/sys/kernel/random/uuid)\\"}"
  exit 0
fi
echo "$2 $$" >> '${root}/resumed'
sleep 1000000 &
printf '> '
while read -r line; do printf '%s\\n> ' "$line"; done
`

/** Agents of a scripted tool in a home with a tmux server and a daemon of its own. */
export class ScriptedHerd {
  private constructor(
    readonly root: string,
    readonly access: DaemonAccess,
    readonly home: Home,
    readonly agents: Agents,
    readonly runs: AgentRuns,
    private readonly socket: string,
  ) {}

  static async make(settings: string): Promise<ScriptedHerd> {
    const { root, access } = scratchHome()
    mkdirSync(join(root, 'project'), { recursive: true })
    const program = join(root, 'scripted')
    writeFileSync(program, PROGRAM(root))
    chmodSync(program, 0o700)
    const socket = join(root, 'tmux.sock')
    writeFileSync(
      join(root, 'config.toml'),
      `[tools.scripted]\ncommand = "${program}"\nresume_flag = "--resume"\noutput_format_flag = "--json"\nsession_id_json_path = ".session_id"\nidle_patterns = ["re:^>"]\n[daemon]\nautostart = false\ningest = false\n[notify]\nby = []\n[tmux]\nsocket = "${socket}"\n${settings}`,
    )
    const home = await profilesUnder(root).open('default')
    const agents = await agentsUnder(root)(home)
    const herd = new ScriptedHerd(root, access, home, agents, new AgentRuns(home, context), socket)
    onTestFinished(async () => {
      await stopDaemon(access)
      await agents[Symbol.asyncDispose]()
      herd.killTmux()
      for (const { pid } of herd.processes()) tryKill(pid)
      await home[Symbol.asyncDispose]()
    })
    return herd
  }

  async start(count: number): Promise<string[]> {
    const names = Array.from({ length: count }, (_, at) => `a${String(at).padStart(2, '0')}`)
    await inParts(names, (agent) => this.agents.start({ agent, tool: 'scripted', cwd: join(this.root, 'project') }))
    return names
  }

  /** The files of all agents by address. */
  async all(): Promise<Map<string, AgentRun>> {
    const roster = await this.home.roster.agents()
    const read = await Promise.all(roster.map(async ({ id, address }) => [address, await this.runs.read(id)] as const))
    return new Map(read.flatMap(([address, run]) => (run ? [[address, run] as const] : [])))
  }

  async sessions(): Promise<Map<string, string | undefined>> {
    return new Map([...(await this.all())].map(([address, run]) => [address, run.binding?.session]))
  }

  events(type: string): Promise<Event[]> {
    return this.home.events.read({ type })
  }

  /** Which conversations were resumed, in order. */
  resumed(): string[] {
    const file = join(this.root, 'resumed')
    if (!existsSync(file)) return []
    return readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line) => line.split(' ')[0] || [])
  }

  /** Everything that runs for an agent of this home, by the mark in its environment. */
  processes(): { pid: number; run: string; command: string }[] {
    const found = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return found.flatMap((name) => {
      const environment = read(`/proc/${name}/environ`).split('\0')
      const run = environment.find((one) => one.startsWith('SKEIN_RUN='))?.slice('SKEIN_RUN='.length)
      if (!run || !environment.some((one) => one.startsWith('SKEIN_') && one.includes(this.root))) return []
      const isZombie = /^State:\s+Z/m.test(read(`/proc/${name}/status`))
      const command = read(`/proc/${name}/cmdline`).replaceAll('\0', ' ').trim()
      return isZombie ? [] : [{ pid: Number(name), run, command }]
    })
  }

  killTmux(signal: NodeJS.Signals = 'SIGKILL'): void {
    try {
      const asked = ['-S', this.socket, 'display-message', '-p', '#{pid}']
      tryKill(Number(execFileSync('tmux', asked, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })), signal)
    } catch {
      // There is none.
    }
  }

  /** Kills the daemon without a word, or with one. */
  killDaemon(signal: NodeJS.Signals = 'SIGKILL'): void {
    for (const name of readdirSync('/proc'))
      if (/^\d+$/.test(name) && isDaemonOf(name, this.root)) tryKill(Number(name), signal)
  }

  hasDaemon(): boolean {
    return readdirSync('/proc').some((name) => /^\d+$/.test(name) && isDaemonOf(name, this.root))
  }

  startDaemon(): Promise<unknown> {
    return ensureDaemon(this.access)
  }

  /** Kills agents with all of their children, and leaves tmux alone. */
  killChildren(): void {
    for (const { pid } of this.processes()) tryKill(pid)
  }
}

export async function inParts<T>(all: readonly T[], act: (one: T) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < all.length; at += AT_ONCE) await Promise.all(all.slice(at, at + AT_ONCE).map(act))
}

/** Until every agent of these is seen to be down, by whoever looks. */
export async function untilDown(herd: ScriptedHerd, names: readonly string[]): Promise<void> {
  for (;;) {
    const seen = await herd.agents.list()
    const isDown = (name: string): boolean => seen.find(({ address }) => address === name)?.status === 'error'
    if (names.every(isDown)) return
    await pause(200)
  }
}

function isDaemonOf(pid: string, root: string): boolean {
  return (
    read(`/proc/${pid}/cmdline`).startsWith('skein-daemon') &&
    read(`/proc/${pid}/environ`).includes(`SKEIN_HOME=${root}\0`)
  )
}

export function tryKill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    if (pid > 1) process.kill(pid, signal)
  } catch {
    // it has ended
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
