import type { Context } from '../model/index.js'
import { SkeinError } from '../model/index.js'
import { type Answer, undoDollars } from './answer-reader.js'
import { commandLine } from './command-line.js'
import { ConnectionLost, ControlClient, settlesWithin } from './control-client.js'
import { installHooks } from './event-hooks.js'
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

/** The way to one server that outlives its control clients: connects when something is asked, again when it was cut. */
export class Connection implements AsyncDisposable {
  #client: ControlClient | undefined
  #connecting: Promise<ControlClient> | undefined
  readonly #closing = new AbortController()
  #escapesDollars = false

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
        const answer = await client.ask(command, timeoutMs)
        return this.#escapesDollars && !options.isScreen ? { ...answer, lines: answer.lines.map(undoDollars) } : answer
      } catch (error) {
        if (!(error instanceof ConnectionLost)) throw error
        if (!(await isListening(this.server))) throw serverGone(this.server.socket)
        if (isLastTry) throw noAnswer(this.server.socket, 'the connection was cut')
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort()
    await this.#connecting?.catch(() => {})
    await this.#client?.[Symbol.asyncDispose]()
  }

  /** One attempt is shared by all who ask meanwhile. A server that hangs is waited for in the background. */
  async #connected(start: boolean): Promise<ControlClient> {
    if (this.#client?.isOpen) return this.#client
    if (this.#closing.signal.aborted) throw new Error('this terminal was closed')
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
    let isNew = false
    for (let tries = 0; tries < TRIES && !this.#closing.signal.aborted; tries += 1) {
      if (!(await isListening(this.server))) {
        if (!start) throw serverGone(this.server.socket)
        await startServer(this.server, this.timeoutMs)
        isNew = true
      }
      const secret = Buffer.from(this.context.random.bytes(12)).toString('hex')
      const client = await ControlClient.open(this.server, secret, this.#closing.signal)
      if (client instanceof ControlClient) {
        if (!(await this.#isPrepared(client, isNew))) continue
        this.#client = client
        return client
      }
      if (this.#closing.signal.aborted) break
      // The server is there and our session in it is not: somebody closed it, or the server is not ours.
      if (await isListening(this.server)) await startServer(this.server, this.timeoutMs)
    }
    throw noAnswer(this.server.socket, 'it lets no client stay')
  }

  /** Nothing but a connection that was cut meanwhile, by whoever sends clients away, makes it worth another try. */
  async #isPrepared(client: ControlClient, isNew: boolean): Promise<boolean> {
    try {
      await this.#prepare(client, isNew)
      return true
    } catch (error) {
      if (error instanceof ConnectionLost) return false
      await client[Symbol.asyncDispose]()
      throw error
    }
  }

  async #prepare(client: ControlClient, isNew: boolean): Promise<void> {
    const told = await client.ask(commandLine('display-message', '-p', `#{version} #{${OURS}}`), this.timeoutMs)
    const [version, mark] = told.lines[0]?.split(' ') ?? []
    this.#escapesDollars = version === '3.4'
    const isOurs = isNew || mark === '1'
    const commands = [...(isOurs ? settings() : []), ...installHooks()]
    const answers = await Promise.all(commands.map((command) => client.ask(command, this.timeoutMs)))
    const refusal = answers.find((answer) => answer.refusal !== undefined)?.refusal
    if (refusal !== undefined) throw refused(refusal)
  }
}
