import type { AgentRun, Terminals } from '../../lifecycle/index.js'
import { type AgentId, SkeinError } from '../../model/index.js'
import type { PaneEvent, PaneId, Terminal, TmuxSocket } from '../../terminal/index.js'

type Listener = (agents: readonly AgentId[] | 'all') => void

/** One server, with the one connection that we have to it. */
interface ServerConnection {
  readonly terminal: Terminal
  readonly ending: AbortController
  readonly following: Promise<void>
}

/**
 * The tmux servers in which agents of this profile run: nearly always one. A server is connected to when the first agent is seen
 * in it. That a server is gone, or does not answer, is no failure here: what it means for an agent is decided elsewhere.
 */
export class TmuxServers implements AsyncDisposable {
  readonly #connections = new Map<string, Promise<ServerConnection>>()
  readonly #listeners = new Set<Listener>()
  #panes = new Map<string, AgentId>()

  constructor(
    private readonly terminals: Terminals,
    private readonly say: (line: string) => void,
  ) {}

  /** Told which agents something happened to. */
  listen(listener: Listener): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) }
  }

  /** Which agents run where, from now on. */
  async follow(runs: readonly AgentRun[]): Promise<void> {
    this.#panes = new Map(
      runs.flatMap(({ agent, run }) => (run ? [[paneKey(run.socket, run.pane), agent] as const] : [])),
    )
    const sockets = new Map(runs.flatMap(({ run }) => (run ? [[keyOf(run.socket), run.socket] as const] : [])))
    for (const [key, socket] of sockets) {
      if (!this.#connections.has(key)) this.#connections.set(key, this.#connect(key, socket))
    }
    await Promise.allSettled(this.#connections.values())
  }

  async publishToAll(option: `@${string}`, value: string): Promise<void> {
    await this.#each((terminal) => terminal.publishToAll(option, value))
  }

  /** Agents whose screen some client shows now. */
  async shown(): Promise<Set<AgentId>> {
    const shown = new Set<AgentId>()
    await this.#each(async (terminal) => {
      for (const { pane, isSeen } of await terminal.panes()) {
        const agent = isSeen ? this.#panes.get(paneKey(terminal.socket, pane)) : undefined
        if (agent !== undefined) shown.add(agent)
      }
    })
    return shown
  }

  /** When the program of each agent last wrote to its screen, to the second. */
  async activity(): Promise<Map<AgentId, number>> {
    const activity = new Map<AgentId, number>()
    await this.#each(async (terminal) => {
      for (const [pane, atMs] of await terminal.activity()) {
        const agent = this.#panes.get(paneKey(terminal.socket, pane))
        if (agent !== undefined) activity.set(agent, atMs)
      }
    })
    return activity
  }

  async announce(text: string, options: { bell: boolean }): Promise<void> {
    if (this.#connections.size === 0) throw new Error('no agent is running in tmux')
    await this.#each((terminal) => terminal.announce(text, options))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const open = await Promise.allSettled(this.#connections.values())
    this.#connections.clear()
    for (const one of open) {
      if (one.status !== 'fulfilled') continue
      one.value.ending.abort()
      await one.value.following
    }
  }

  #connect(key: string, socket: TmuxSocket): Promise<ServerConnection> {
    const connecting = this.terminals.of(socket).then((terminal): ServerConnection => {
      const ending = new AbortController()
      return { terminal, ending, following: this.#follow(terminal, ending.signal) }
    })
    connecting.catch((error: unknown) => {
      this.#connections.delete(key) // tmux may be installed meanwhile
      this.say(`tmux could not be used: ${error instanceof Error ? error.message : String(error)}`)
    })
    return connecting
  }

  async #follow(terminal: Terminal, signal: AbortSignal): Promise<void> {
    try {
      for await (const event of terminal.follow(signal)) {
        const agents = this.#concerned(terminal.socket, event)
        if (agents === 'all' || agents.length > 0) for (const listener of this.#listeners) listener(agents)
      }
    } catch (error) {
      if (!signal.aborted) this.say(`following tmux stopped: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  #concerned(socket: TmuxSocket, event: PaneEvent): readonly AgentId[] | 'all' {
    if (!('pane' in event)) return 'all'
    const agent = this.#panes.get(paneKey(socket, event.pane))
    return agent === undefined ? [] : [agent]
  }

  async #each(act: (terminal: Terminal) => Promise<void>): Promise<void> {
    for (const connecting of this.#connections.values())
      await this.#quietly(async () => act((await connecting).terminal))
  }

  /** A server or a pane that has gone shows nothing, which is right. */
  async #quietly(act: () => Promise<void>): Promise<void> {
    try {
      await act()
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error
    }
  }
}

const keyOf = (socket: TmuxSocket): string => JSON.stringify(socket)
const paneKey = (socket: TmuxSocket, pane: PaneId): string => keyOf(socket) + pane
