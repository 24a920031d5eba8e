import { type ChildProcess, spawn } from 'node:child_process'
import { type Answer, AnswerReader } from './answer-reader.js'
import { type Asker, ConnectionLost } from './asker.js'
import { commandLine } from './command-line.js'
import { ownerMark } from './left-clients.js'
import { KEEPER, socketArguments, type TmuxServer } from './server.js'
import { noAnswer } from './trouble.js'

/** How long a client may take to leave after its input was closed; it usually takes a few milliseconds. */
const LEAVE_MS = 500

interface Waiting {
  resolve(answer: Answer): void
  reject(error: Error): void
}

/**
 * One `tmux -C` process: commands go in, answers come out in order, any number under way at once. A question that was not
 * answered in time keeps its place, so that a server that hung and goes on stays in step with us.
 */
export class ControlClient implements Asker {
  readonly #process: ChildProcess
  readonly #reader = new AnswerReader()
  readonly #waiting: Waiting[] = []
  #asked = 0
  #unsent = ''
  #isOpen = true
  #end: () => void = () => {}
  /** Settles when the connection is over, whoever ended it. */
  readonly ended = new Promise<void>((resolve) => {
    this.#end = () => {
      this.#isOpen = false
      for (const { reject } of this.#waiting.splice(0)) reject(new ConnectionLost('the connection to tmux ended'))
      resolve()
    }
  })

  private constructor(
    private readonly server: TmuxServer,
    process: ChildProcess,
    /** No program in a pane can know it: see `AnswerReader`. */
    private readonly secret: string,
  ) {
    this.#process = process
    process.once('close', () => this.#end())
  }

  /**
   * Resolves with the reason, in tmux's words, when it could not attach. Never starts a server. Waits as long as the server hangs.
   * The signal closes the client, at any time.
   */
  static async open(
    server: TmuxServer,
    secret: string,
    signal: AbortSignal,
  ): Promise<ControlClient | { readonly failed: string }> {
    const args = ['-u', '-N', '-C', ...socketArguments(server.socket), '-f', '/dev/null']
    args.push('attach-session', '-E', '-f', 'no-output,ignore-size', '-t', `=${KEEPER}`)
    const child = spawn(server.executable, args, {
      env: { ...server.environment, ...ownerMark() },
      cwd: '/',
      stdio: 'pipe',
    })
    const client = new ControlClient(server, child, secret)
    // A write to a client that has just ended; its end is what is acted upon.
    child.stdin.on('error', () => {})
    let said = ''
    child.stderr.on('data', (bytes) => {
      said += bytes
    })
    const attached = new Promise<boolean>((resolve) => {
      child.stdout.on('data', (bytes: Buffer) => {
        client.#hear(bytes)
        if (said.length < 4_096) said += bytes
        // The answer to its own start; notices of it may be held back.
        if (/^%end \d+ \d+ 0$/m.test(said)) resolve(true)
      })
      child.once('error', (error) => {
        said += error.message
        resolve(false)
      })
      void client.ended.then(() => resolve(false))
    })
    const close = () => void client[Symbol.asyncDispose]()
    signal.addEventListener('abort', close, { once: true })
    void client.ended.then(() => signal.removeEventListener('abort', close))
    return (await attached) ? client : { failed: said }
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  ask(command: string, timeoutMs: number): Promise<Answer> {
    if (!this.#isOpen) return Promise.reject(new ConnectionLost('the connection to tmux has ended'))
    this.#asked += 1
    const mark = `${this.secret}-${this.#asked}`
    const answer = new Promise<Answer>((resolve, reject) => {
      this.#waiting.push({ resolve, reject })
    })
    this.#reader.expect(mark)
    this.#send(`${command}\n${commandLine('display-message', '-p', mark)}\n`)
    return timeoutMs === Number.POSITIVE_INFINITY ? answer : this.#within(timeoutMs, answer, command)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isOpen) return this.ended
    this.#process.stdin?.end()
    if (await settlesWithin(LEAVE_MS, this.ended)) return
    // Asked to go, never killed: a server is known to have died of a client that was. If the server hangs, the client waits
    // for it, and we do not.
    this.#process.kill('SIGTERM')
    if (await settlesWithin(LEAVE_MS, this.ended)) return
    this.#process.unref()
    for (const stream of [this.#process.stdin, this.#process.stdout, this.#process.stderr]) stream?.destroy()
    this.#end()
  }

  /** What is asked in the same moment is written at once: sixty writes take ten times as long as one. */
  #send(text: string): void {
    if (this.#unsent === '') queueMicrotask(() => this.#flush())
    this.#unsent += text
  }

  #flush(): void {
    this.#process.stdin?.write(this.#unsent)
    this.#unsent = ''
  }

  #hear(bytes: Buffer): void {
    for (const answer of this.#reader.feed(bytes)) this.#waiting.shift()?.resolve(answer)
  }

  #within(timeoutMs: number, answer: Promise<Answer>, command: string): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(noAnswer(this.server.socket, command.split(' ')[0] ?? '')), timeoutMs)
      answer.then(resolve, reject).finally(() => clearTimeout(timer))
    })
  }
}

export function settlesWithin(ms: number, promise: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), ms)
    const done = () => {
      clearTimeout(timer)
      resolve(true)
    }
    promise.then(done, done)
  })
}
