import type { Context } from '../model/index.js'
import { SkeinError } from '../model/index.js'
import type { Answer } from './answer-reader.js'
import { commandLine } from './command-line.js'
import { ConnectionLost, ControlClient, settlesWithin } from './control-client.js'
import { installHooks } from './event-hooks.js'
import { isListening, startServer, type TmuxServer } from './server.js'
import { OURS, settings } from './settings.js'
import { noAnswer, refused, serverGone } from './trouble.js'

export interface AskOptions {
  /** Start the server when there is none. */
  readonly start?: boolean
  /** Asking twice does no harm, so it is asked again when the connection breaks before the answer. */
  readonly repeatable?: boolean
  /** Instead of the usual limit; infinite for a command that waits. */
  readonly timeoutMs?: number
}

/** The way to one server that outlives its control clients: connects when something is asked, again when it was cut. */
export class Connection implements AsyncDisposable {
  #client: ControlClient | undefined
  #connecting: Promise<ControlClient> | undefined
  #isClosed = false

  constructor(
    readonly server: TmuxServer,
    private readonly context: Context,
    readonly timeoutMs: number,
  ) {}

  /** What the first command of the line printed. Throws what the contract of `Terminal` promises. */
  async ask(command: string, options: AskOptions = {}): Promise<readonly string[]> {
    const { lines, refusal } = await this.tryAsking(command, options)
    if (refusal !== undefined) throw refused(refusal)
    return lines
  }

  /** The same with a refusal as a value. */
  async tryAsking(command: string, options: AskOptions = {}): Promise<Answer> {
    const timeoutMs = options.timeoutMs ?? this.timeoutMs
    for (let isLastTry = !options.repeatable; ; isLastTry = true) {
      const client = await this.#connected(options.start ?? false)
      try {
        return await client.ask(command, timeoutMs)
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error
        if (!(await isListening(this.server))) throw serverGone(this.server.socket)
        if (isLastTry) throw noAnswer(this.server.socket, 'the connection was cut')
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    const client = this.#client ?? (await this.#connecting?.catch(() => undefined))
    await client?.[Symbol.asyncDispose]()
  }

  /** One attempt is shared by all who ask meanwhile. A server that hangs is waited for in the background. */
  async #connected(start: boolean): Promise<ControlClient> {
    if (this.#client?.isOpen) return this.#client
    if (this.#isClosed) throw new Error('this terminal was closed')
    this.#connecting ??= this.#connect(start).finally(() => {
      this.#connecting = undefined
    })
    const connecting = this.#connecting
    if (!(await settlesWithin(this.timeoutMs, connecting))) throw noAnswer(this.server.socket, 'connect')
    try {
      return await connecting
    } catch (error) {
      // The shared attempt may have been one that did not want a server started.
      const isGone = error instanceof SkeinError && error.code === 'tmux-gone'
      if (start && isGone && this.#connecting !== connecting) return this.#connected(start)
      throw error
    }
  }

  async #connect(start: boolean): Promise<ControlClient> {
    const wasThere = await isListening(this.server)
    if (!wasThere) {
      if (!start) throw serverGone(this.server.socket)
      await startServer(this.server, this.timeoutMs)
    }
    const client = (await this.#open()) ?? (await this.#openWithKeeper())
    await this.#prepare(client, !wasThere)
    this.#client = client
    if (this.#isClosed) await client[Symbol.asyncDispose]()
    return client
  }

  /** Nothing when the server is there and our session in it is not. */
  async #open(): Promise<ControlClient | undefined> {
    const opened = await ControlClient.open(this.server, Buffer.from(this.context.random.bytes(12)).toString('hex'))
    if (opened instanceof ControlClient) return opened
    if (!(await isListening(this.server))) throw serverGone(this.server.socket)
    return undefined
  }

  async #openWithKeeper(): Promise<ControlClient> {
    await startServer(this.server, this.timeoutMs)
    const client = await this.#open()
    if (!client) throw refused('it lets no control client attach')
    return client
  }

  async #prepare(client: ControlClient, isNew: boolean): Promise<void> {
    const whose = await client.ask(commandLine('show-options', '-gqv', OURS), this.timeoutMs)
    const isOurs = isNew || whose.lines[0] === '1'
    const commands = [...(isOurs ? settings() : []), ...installHooks()]
    const answers = await Promise.all(commands.map((command) => client.ask(command, this.timeoutMs)))
    const refusal = answers.find((answer) => answer.refusal !== undefined)?.refusal
    if (refusal !== undefined) throw refused(refusal)
  }
}
