import { type ChildProcess, spawn } from 'node:child_process'
import { setPriority } from 'node:os'
import {
  type AgentRun,
  CapturedTurns,
  capturedWith,
  edgeCapture,
  TurnBranches,
  turnEdges,
} from '../../lifecycle/index.js'
import type { Agent, AgentId } from '../../model/index.js'
import type { HomeDirectory } from '../home-guard.js'
import type { BranchAnswer } from './branch-jobs.js'
import type { CaptureAnswer, CaptureRequest, FromCapture, ToCapture } from './capture-process.js'

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
  /** Where the snapshots of the profile are, and the files of its agents. */
  readonly directory: string
  readonly agents: string
  isOn(agent: Agent): Promise<boolean>
  now(): number
  say(line: string): void
}

interface Asked {
  readonly request: CaptureRequest
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
  readonly #branches: TurnBranches
  /** The next attempts to push. */
  readonly #pushes = new Map<AgentId, NodeJS.Timeout>()
  #agents = new Set<AgentId>()
  #child: ChildProcess | undefined
  #idle: NodeJS.Timeout | undefined
  #ids = 0
  #isOver = false
  readonly #stuck: NodeJS.Timeout

  constructor(private readonly setup: TurnCapturesSetup) {
    this.#captured = new CapturedTurns(setup.directory)
    this.#branches = new TurnBranches(setup.agents)
    this.#stuck = setInterval(() => this.#endStuck(), STUCK_MS / 10).unref()
  }

  /** These agents' files have changed, or are seen for the first time. */
  async saw(changed: readonly { agent: Agent; run: AgentRun }[], all: ReadonlySet<AgentId>): Promise<void> {
    const known = this.#agents
    this.#agents = new Set(all)
    for (const { agent, run } of changed) if (!known.has(agent.id)) this.#catchUp(agent.id, run)
    for (const { agent, run } of changed) {
      const edges = turnEdges(run, this.#captured.of(agent.id), this.setup.now())
      if (edges.length === 0 || this.#isOver) continue
      // Before anything is waited for: the next look must not find the same ones.
      for (const edge of edges) this.#captured.set(agent.id, capturedWith(edge))
      if (!(await this.setup.isOn(agent))) continue
      for (const edge of edges) {
        this.#ids += 1
        const request = { id: this.#ids, edge: edgeCapture(edge, run), home: this.setup.home }
        this.#ask({ request, sinceMs: performance.now(), tries: 0 })
      }
    }
  }

  /** A daemon before this one may have been killed before it had committed or pushed a turn. */
  #catchUp(agent: AgentId, { binding }: AgentRun): void {
    if (this.#branches.of(agent) && binding)
      this.#send({ branch: agent, session: binding.session, home: this.setup.home })
  }

  #ask(asked: Asked): void {
    this.#asked.set(asked.request.id, asked)
    asked.tries += 1
    this.#send(asked.request)
  }

  #send(request: ToCapture): void {
    this.#child ??= this.#start()
    clearTimeout(this.#idle)
    this.#child.send(request, () => {})
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

  #hear(answer: FromCapture): void {
    if ('branch' in answer) this.#hearBranch(answer)
    else this.#hearCapture(answer)
  }

  #hearCapture({ id, problem, isRefused }: CaptureAnswer): void {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    if (asked && problem !== undefined) this.#failed(asked, problem, isRefused === true)
    if (this.#asked.size > 0) return
    this.#captured.save((agent) => this.#agents.has(agent))
    this.#endLater()
  }

  #endLater(): void {
    clearTimeout(this.#idle)
    if (this.#asked.size === 0) this.#idle = setTimeout(() => this.#end(), IDLE_MS).unref()
  }

  /** What a remote refused is in the agent's file; a failed push is tried again when it is due. */
  #hearBranch({ branch: agent, next_at, problem }: BranchAnswer): void {
    if (problem !== undefined) this.setup.say(`no commit of a turn of agent ${agent}: ${problem}`)
    this.#endLater()
    clearTimeout(this.#pushes.get(agent))
    this.#pushes.delete(agent)
    if (next_at === undefined || this.#isOver) return
    const waitMs = Math.max(1_000, Date.parse(next_at) - this.setup.now())
    const again = (): void => {
      this.#pushes.delete(agent)
      if (this.#agents.has(agent)) this.#send({ branch: agent, home: this.setup.home })
    }
    this.#pushes.set(agent, setTimeout(again, waitMs).unref())
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
    for (const timer of this.#pushes.values()) clearTimeout(timer)
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
