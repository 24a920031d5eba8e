import { type ChildProcess, spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import { type AgentRun, CapturedTurns, edgeCapture, turnEdges } from '../../lifecycle/index.js'
import type { Agent, AgentId } from '../../model/index.js'
import type { HomeDirectory } from '../home-guard.js'
import type { FromCapture, ToCapture } from './capture-process.js'

/** The process is ended when nothing was captured for so long. */
const IDLE_MS = 600_000
/** A capture gives up long before this. */
const STUCK_MS = 300_000
/** Agents' own programs come first. */
const LOW_PRIORITY = 5
/** A capture that failed is tried again this often. */
const MOST_TRIES = 2

export interface TurnCapturesSetup {
  /** What Node runs: the program and what it is given. */
  readonly argv: readonly string[]
  readonly home: HomeDirectory
  /** Where the snapshots of the profile are. */
  readonly directory: string
  isOn(agent: Agent): Promise<boolean>
  now(): number
  say(line: string): void
}

interface Asked {
  readonly request: ToCapture
  readonly sinceMs: number
  tries: number
}

/**
 * Captures the code at the beginning and the end of every turn, in a process of its own: the daemon's loop never waits for git. What
 * is captured is decided from the agents' files, so a daemon that is started again takes what the one before missed.
 */
export class TurnCaptures implements Disposable {
  readonly #captured: CapturedTurns
  readonly #asked = new Map<number, Asked>()
  /** Directories that cannot be captured, each reported once. */
  readonly #refused = new Set<string>()
  #agents = new Set<AgentId>()
  #child: ChildProcess | undefined
  #idle: NodeJS.Timeout | undefined
  #ids = 0
  #isOver = false
  readonly #stuck: NodeJS.Timeout

  constructor(private readonly setup: TurnCapturesSetup) {
    this.#captured = new CapturedTurns(setup.directory)
    this.#stuck = setInterval(() => this.#endStuck(), STUCK_MS / 10).unref()
  }

  /** These agents' files have changed, or are seen for the first time. */
  async saw(changed: readonly { agent: Agent; run: AgentRun }[], all: ReadonlySet<AgentId>): Promise<void> {
    this.#agents = new Set(all)
    for (const { agent, run } of changed) {
      const edges = turnEdges(run, this.#captured.of(agent.id), this.setup.now())
      if (edges.length === 0 || this.#isOver) continue
      // Before anything is waited for: the next look must not find the same ones.
      for (const { moment, at } of edges) this.#captured.set(agent.id, { [moment]: at })
      if (!(await this.setup.isOn(agent))) continue
      for (const edge of edges) {
        this.#ids += 1
        const request = { id: this.#ids, edge: edgeCapture(edge, run), home: this.setup.home }
        this.#ask({ request, sinceMs: performance.now(), tries: 0 })
      }
    }
  }

  #ask(asked: Asked): void {
    this.#asked.set(asked.request.id, asked)
    asked.tries += 1
    this.#child ??= this.#start()
    clearTimeout(this.#idle)
    this.#child.send(asked.request, () => {})
  }

  #start(): ChildProcess {
    const child = spawn(process.execPath, this.setup.argv, { cwd: '/', stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
    child.on('spawn', () => lowerPriority(child))
    child.on('message', (message) => this.#hear(message as FromCapture)) // from our own program
    child.on('error', () => {})
    child.once('exit', (code, signal) => {
      if (this.#child !== child) return
      this.#child = undefined
      if (this.#asked.size === 0 || this.#isOver) return
      this.setup.say(`the process that captures code ended (${code ?? signal})`)
      const left = [...this.#asked.values()]
      this.#asked.clear()
      for (const one of left) if (one.tries < MOST_TRIES) this.#ask(one)
    })
    return child
  }

  #hear({ id, problem, isRefused }: FromCapture): void {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    if (asked && problem !== undefined) this.#failed(asked, problem, isRefused === true)
    if (this.#asked.size > 0) return
    this.#captured.save((agent) => this.#agents.has(agent))
    this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref()
  }

  #failed(asked: Asked, problem: string, isRefused: boolean): void {
    const { directory } = asked.request.edge
    if (!isRefused && asked.tries < MOST_TRIES) this.#ask(asked)
    else if (!this.#refused.has(directory)) this.setup.say(`no snapshot of ${directory}: ${problem}`)
    if (isRefused) this.#refused.add(directory)
  }

  #endStuck(): void {
    const oldest = Math.min(...[...this.#asked.values()].map(({ sinceMs }) => sinceMs))
    if (performance.now() - oldest > STUCK_MS) this.#child?.kill('SIGKILL')
  }

  #end(): void {
    const child = this.#child
    this.#child = undefined
    if (child?.connected) child.disconnect()
  }

  /** What is under way is finished by its process, which ends then. */
  [Symbol.dispose](): void {
    this.#isOver = true
    clearInterval(this.#stuck)
    clearTimeout(this.#idle)
    this.#end()
  }
}

function lowerPriority(child: ChildProcess): void {
  try {
    setPriority(child.pid ?? 0, LOW_PRIORITY)
  } catch {
    // It runs all the same.
  }
}
