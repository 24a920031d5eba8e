import type { ProcessOwner } from '../disk/index.js'
import { type Context, SkeinError } from '../model/index.js'
import {
  openTerminal,
  type PaneId,
  type PaneInfo,
  restoreSocket,
  type Terminal,
  type TmuxSocket,
} from '../terminal/index.js'

/** What a server said about its panes. That it did not answer is not the same as that it is gone. */
export type Look =
  | { kind: 'panes'; panes: ReadonlyMap<PaneId, PaneInfo>; serverPid: number }
  | { kind: 'gone' }
  | { kind: 'silent'; reason: string }

/** The tmux servers that agents run in: one as a rule, more when the configuration has changed while some were running. */
export class Terminals implements AsyncDisposable {
  readonly #open = new Map<string, Promise<Terminal>>()
  #isChecked = false

  constructor(
    private readonly context: Context,
    private readonly environment: Readonly<Record<string, string | undefined>>,
    /** Stay connected, so that no process is started per question: for a process that stays. */
    private readonly kept: boolean,
    /** Whoever stays connected keeps a server up that has no agent left. */
    private readonly endsEmpty = kept,
  ) {}

  /** The same servers over one connection each, for as long as many agents are started: a process per question takes longest then. */
  connected(): Terminals {
    const connected = new Terminals(this.context, this.environment, true, false)
    connected.#isChecked = this.#isChecked
    return connected
  }

  of(socket: TmuxSocket): Promise<Terminal> {
    const key = JSON.stringify(socket)
    const known = this.#open.get(key)
    if (known) return known
    const { context, environment, kept } = this
    const opening = openTerminal({ socket, context, environment, kept, isChecked: this.#isChecked })
    this.#open.set(key, opening)
    opening.then(
      () => {
        this.#isChecked = true
      },
      () => this.#open.delete(key),
    )
    return opening
  }

  /** Connects in the background while other things are done; what goes wrong is told by who needs it. */
  warm(socket: TmuxSocket): void {
    this.of(socket)
      .then((terminal) => terminal.panes())
      .catch(() => undefined)
  }

  /** A server that lives and has lost its socket gets it back, where its process is known. */
  async look(socket: TmuxSocket, server?: ProcessOwner): Promise<Look> {
    const look = await this.#look(socket)
    if (look.kind !== 'gone' || !server || !('path' in socket)) return look
    return (await restoreSocket(socket.path, server)) ? this.#look(socket) : look
  }

  async #look(socket: TmuxSocket): Promise<Look> {
    try {
      const terminal = await this.of(socket)
      const panes = await terminal.panes()
      const serverPid = panes[0]?.serverPid ?? (await terminal.serverPid())
      return { kind: 'panes', panes: new Map(panes.map((pane) => [pane.pane, pane])), serverPid }
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error
      if (error.code === 'tmux-gone') return { kind: 'gone' }
      return { kind: 'silent', reason: error.code === 'tmux-timeout' ? 'tmux did not answer' : error.message }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const opening of this.#open.values()) {
      const terminal = await opening.catch(() => undefined)
      await terminal?.[Symbol.asyncDispose]()
      if (terminal && this.endsEmpty) await this.#endIfEmpty(terminal.socket)
    }
  }

  /** Whoever stays connected keeps a server up: when it leaves, a server without agents has no more use. */
  async #endIfEmpty(socket: TmuxSocket): Promise<void> {
    const { context, environment } = this
    await using terminal = await openTerminal({ socket, context, environment })
    await terminal.endIfEmpty()
  }
}
