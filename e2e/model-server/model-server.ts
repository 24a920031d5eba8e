import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { isObject } from '../../src/tools/json-value.js'
import { digestOf, type ModelRequest, positionOf, promptsOf, saidIn, textOf } from './request.js'
import { schemaSample } from './schema-sample.js'
import { chooseStep, type Refusal, replyOf, type Script, type Step } from './script.js'
import { anthropic } from './wires/anthropic.js'
import { chat } from './wires/chat.js'
import { gemini } from './wires/gemini.js'
import { responses } from './wires/responses.js'
import type { Wire } from './wires/wire.js'

const WIRES: readonly Wire[] = [anthropic, responses, chat, gemini]

/** One request, as the log keeps it. */
export interface Logged {
  readonly wire: string
  readonly path: string
  /** `side`: asked by the program for itself (a title, a check), not for the conversation. */
  readonly kind: 'main' | 'side'
  /** Which rule and step answered. */
  readonly rule: string
  readonly model: string
  readonly prompt: string
  /** Rounds of tool calls since that prompt. */
  readonly round: number
  /** Every prompt in the history, oldest first. */
  readonly prompts: readonly string[]
  /** One line per piece of each message. */
  readonly digest: readonly string[]
  /** Each piece in full: texts, calls and results, in their order. */
  readonly said: readonly string[]
  /** Everything that the model was given to read: the system prompt and the texts of all messages. */
  readonly read: string
}

/** Side requests of programs that offer tools with them all the same. */
const TITLE = /^Generate a concise, single-line task title|^Summarize the user's primary intent/i

/**
 * A model of our own on loopback that says what a script tells it, in the four protocols that the programs speak:
 * Anthropic's Messages, OpenAI's Responses and Chat Completions, Google's generateContent.
 */
export class ModelServer implements AsyncDisposable {
  readonly #server: Server
  readonly #gates = new Map<string, Gate>()
  readonly #failures = new Map<string, number>()
  readonly #log: Logged[] = []
  /** Requests that no protocol knows, as `METHOD /path`. */
  readonly unknown: string[] = []
  script: Script
  #count = 0

  private constructor(script: Script) {
    this.script = script
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        this.unknown.push(`${request.method} ${request.url}: ${String(error)}`)
        if (!response.headersSent) json(response, 500, { error: { message: String(error) } })
        else response.destroy()
      })
    })
  }

  static async start(script: Script): Promise<ModelServer> {
    const server = new ModelServer(script)
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get port(): number {
    const address = this.#server.address()
    return typeof address === 'object' && address ? address.port : 0
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** What the conversations asked, oldest first; the programs' own requests are left out. */
  get requests(): readonly Logged[] {
    return this.#log.filter((entry) => entry.kind === 'main')
  }

  get allRequests(): readonly Logged[] {
    return this.#log
  }

  /** Lets replies behind this gate go on, also those still to come. */
  release(name: string): void {
    this.#gate(name).open()
  }

  /** Waits until a request stands before the gate. */
  arrival(name: string): Promise<void> {
    return this.#gate(name).arrival
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #gate(name: string): Gate {
    const gate = this.#gates.get(name) ?? new Gate()
    this.#gates.set(name, gate)
    return gate
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString('utf8')
    const path = new URL(incoming.url ?? '/', 'http://model').pathname
    const wire = incoming.method === 'POST' ? WIRES.find((one) => one.matches(path)) : undefined
    if (!wire) return this.#serveRest(incoming.method ?? '', path, text, response)
    const body: unknown = JSON.parse(text)
    if (!isObject(body)) return json(response, 400, wire.error(400, 'not an object'))
    const request = wire.read(body, path)
    const { prompt, round } = positionOf(request)
    const kind = request.schema || request.tools.length === 0 || TITLE.test(prompt) ? 'side' : 'main'
    const { name, step } = kind === 'side' ? sideStep(request) : chooseStep(this.script, request)
    const { model } = request
    const told = { digest: digestOf(request), said: saidIn(request), read: textOf(request) }
    const seen = { prompts: promptsOf(request), ...told }
    this.#log.push({ wire: wire.name, path, kind, rule: name, model, prompt, round, ...seen })
    await this.#answer(response, wire, request, name, step)
  }

  async #answer(response: ServerResponse, wire: Wire, request: ModelRequest, rule: string, step: Step): Promise<void> {
    if (step.gate) await this.#gate(step.gate).pass(response)
    if (step.error) {
      const failed = this.#failures.get(rule) ?? 0
      this.#failures.set(rule, failed + 1)
      if (failed < (step.error.times ?? Number.POSITIVE_INFINITY)) return refuse(response, wire, step.error)
    }
    const reply = replyOf(step, request, String(++this.#count).padStart(4, '0'))
    if (!request.isStream) return json(response, 200, wire.document(reply))
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' })
    for (const { event, data } of wire.stream(reply)) {
      const line = typeof data === 'string' ? data : JSON.stringify(data)
      response.write(`${event ? `event: ${event}\n` : ''}data: ${line}\n\n`)
    }
    response.end()
  }

  /** What programs ask beside: which models there are, how long a text is, whether anybody is there. */
  #serveRest(method: string, path: string, text: string, response: ServerResponse): void {
    const length = Math.ceil(text.length / 4)
    if (path.endsWith('/count_tokens')) json(response, 200, { input_tokens: length })
    else if (path.endsWith(':countTokens')) json(response, 200, { totalTokens: length })
    else if (path.endsWith('/models')) json(response, 200, { object: 'list', data: [] })
    else if (method === 'HEAD') json(response, 200, {})
    else {
      this.unknown.push(`${method} ${path}`)
      json(response, 404, { error: { message: `no such path: ${path}` } })
    }
  }
}

const sideStep = (request: ModelRequest): { name: string; step: Step } => ({
  name: 'side',
  step: { text: request.schema ? JSON.stringify(schemaSample(request.schema)) : 'A title' },
})

function refuse(response: ServerResponse, wire: Wire, { status, message, facts, headers }: Refusal): void {
  const body = wire.error(status, message)
  const error = isObject(body) && isObject(body.error) ? { ...body, error: { ...body.error, ...facts } } : body
  json(response, status, error, headers)
}

function json(response: ServerResponse, status: number, value: unknown, more?: Readonly<Record<string, string>>): void {
  // Programs retry for minutes when they may; one that retries all the same need not wait in between.
  const refused = status >= 400 ? { 'x-should-retry': 'false', ...(more ?? { 'retry-after-ms': '20' }) } : {}
  const headers = { 'content-type': 'application/json', ...refused }
  response.writeHead(status, headers).end(JSON.stringify(value))
}

class Gate {
  readonly arrival: Promise<void>
  #arrived: () => void = () => undefined
  #isOpen = false
  readonly #waiting: (() => void)[] = []

  constructor() {
    this.arrival = new Promise((resolve) => {
      this.#arrived = resolve
    })
  }

  open(): void {
    this.#isOpen = true
    for (const go of this.#waiting.splice(0)) go()
  }

  async pass(response: ServerResponse): Promise<void> {
    this.#arrived()
    if (this.#isOpen) return
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve)
      response.on('close', () => resolve())
    })
  }
}
