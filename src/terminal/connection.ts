import type { Context } from '../model/index.js'
import { SkeinError } from '../model/index.js'
import { type Answer, undoDollars } from './answer-reader.js'
import { type Asker, ConnectionLost } from './asker.js'
import { commandLine } from './command-line.js'
import { ControlClient, settlesWithin } from './control-client.js'
import { closeGate, crashesOnNotices, hasKeeper, installHooks, openGate } from './event-hooks.js'
import { endLeftClients, listClients } from './left-clients.js'
import { OneShot } from './one-shot.js'
import { isListening, startServer, type TmuxServer } from './server.js'
import { OURS, settings } from './settings.js'
import { noAnswer, refused, serverGone } from './trouble.js'

const TRIES = 4

export interface AskOptions {
  /** Start the server when there is none. */
  readonly start?: boolean
  /** Asking twice does no harm, so it is asked again when the connection breaks before the answer. */
  readonly repeatable?: boolean
  /** What is asked for is a screen, which every version of tmux gives out as it is. */
  readonly isScreen?: boolean
  /** Instead of the usual limit; infinite for a command that waits. */
  readonly timeoutMs?: number
}

/**
 * The way to one server, which may come and go. **Kept**, it is a control client: no process per question, for whoever stays. Else
 * it is a process for what is asked in one moment, for whoever asks a few things and ends.
 */
export class Connection implements AsyncDisposable {
  readonly #oneShot: OneShot
  readonly #closing = new AbortController()
  #client: Asker | undefined
  #connecting: Promise<Asker> | undefined
  #escapesDollars: boolean | undefined

  constructor(
    readonly server: TmuxServer,
    private readonly context: Context,
    private readonly options: { readonly timeoutMs: number; readonly isKept: boolean },
  ) {
    this.#oneShot = new OneShot(server, () => this.#secret())
  }

  /** What the first command of the line printed. Throws what the contract of `Terminal` promises. */
  async ask(command: string, options: AskOptions = {}): Promise<readonly string[]> {
    const { lines, refusal } = await this.tryAsking(command, options)
    if (refusal !== undefined) throw refused(refusal)
    return lines
  }

  /** The same with a refusal as a value. */
  async tryAsking(command: string, options: AskOptions = {}): Promise<Answer> {
    const timeoutMs = options.timeoutMs ?? this.options.timeoutMs
    for (let isLastTry = !options.repeatable; ; isLastTry = true) {
      const client = await this.#connected(options.start ?? false)
      try {
        const answer = await client.ask(command, timeoutMs)
        return this.#escapesDollars && !options.isScreen ? { ...answer, lines: answer.lines.map(undoDollars) } : answer
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error
        if (!(await isListening(this.server))) throw serverGone(this.server.socket)
        if (isLastTry) throw noAnswer(this.server.socket, 'the connection was closed')
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    await this.#connecting?.catch(() => {})
    await this.#client?.[Symbol.asyncDispose]()
  }

  /** One attempt is shared by all who ask meanwhile. A server that hangs is waited for in the background. */
  async #connected(start: boolean): Promise<Asker> {
    if (this.#client?.isOpen) return this.#client
    if (this.#closing.signal.aborted) throw new Error('this terminal was closed')
    this.#connecting ??= this.#connect(start).finally(() => {
      this.#connecting = undefined
    })
    const connecting = this.#connecting
    if (!(await settlesWithin(this.options.timeoutMs, connecting))) throw noAnswer(this.server.socket, 'connect')
    try {
      return await connecting
    } catch (error) {
      // The shared attempt may have been one that did not want a server started.
      const isGone = error instanceof SkeinError && error.code === 'tmux-gone'
      if (start && isGone && this.#connecting !== connecting) return this.#connected(start)
      throw error
    }
  }

  async #connect(start: boolean): Promise<Asker> {
    for (let tries = 0; tries < TRIES && !this.#closing.signal.aborted; tries += 1) {
      const isNew = !(await isListening(this.server))
      if (isNew && !start) throw serverGone(this.server.socket)
      if (isNew) await startServer(this.server, this.options.timeoutMs)
      const secret = this.#secret()
      if (isNew || this.options.isKept || this.#escapesDollars === undefined) await this.#prepare(isNew, secret)
      if (!this.options.isKept) return this.#oneShot
      const client = await ControlClient.open(this.server, secret, this.#closing.signal)
      await this.#openGate(client, secret)
      if (client instanceof ControlClient) {
        this.#client = client
        return client
      }
    }
    throw noAnswer(this.server.socket, 'it accepts no lasting client')
  }

  /** A gate that nobody opens opens by itself, later. */
  async #openGate(client: ControlClient | { readonly failed: string }, secret: string): Promise<void> {
    const asker = client instanceof ControlClient ? client : this.#oneShot
    await asker.ask(openGate(secret), this.options.timeoutMs).catch(() => undefined)
  }

  /** Sets up what we need in the server: by short processes, since a control client may only come when the gate is closed. */
  async #prepare(isNew: boolean, secret: string): Promise<void> {
    const { timeoutMs, isKept } = this.options
    const about = commandLine('display-message', '-p', `#{version} #{${OURS}}`)
    const [told, clients] = await this.#askOnce(isKept ? [about, listClients()] : [about])
    // Before the gate is closed: that they leave is a notice, too.
    if (clients) await endLeftClients(clients.lines)
    const [version = '', mark] = told?.lines[0]?.split(' ') ?? []
    this.#escapesDollars = version === '3.4'
    const isOurs = isNew || mark === '1'
    if (!isNew && !isKept) return
    // Somebody may have closed our session, or the server is not ours and never had it.
    if (isKept && (await this.#askOnce([hasKeeper()]))[0]?.refusal !== undefined)
      await startServer(this.server, timeoutMs)
    const commands = [...(isOurs ? settings() : []), ...installHooks()]
    if (isKept && crashesOnNotices(version)) commands.push(closeGate(secret))
    const refusal = (await this.#askOnce(commands)).find((answer) => answer.refusal !== undefined)?.refusal
    if (refusal !== undefined) throw refused(refusal)
  }

  async #askOnce(commands: readonly string[]): Promise<Answer[]> {
    try {
      return await Promise.all(commands.map((command) => this.#oneShot.ask(command, this.options.timeoutMs)))
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error
      if (await isListening(this.server)) throw noAnswer(this.server.socket, error.message)
      throw serverGone(this.server.socket)
    }
  }

  #secret(): string {
    return Buffer.from(this.context.random.bytes(12)).toString('hex')
  }
}
