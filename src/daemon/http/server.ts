import { chmodSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { isTooDeep, SkeinError } from '../../model/index.js'
import { errorFacts } from '../../operations/index.js'
import { isPartMissing } from '../program-guard.js'

/** More than a user's programs need at once; beyond it, connections that ask for nothing are closed, oldest first. */
const MAX_CONNECTIONS = 256
const MAX_BODY_BYTES = 256 * 1024
const MAX_ACTOR = 200

/** One request, read and bounded. */
export interface Request {
  readonly method: string
  /** Decoded parts of the path. */
  readonly path: readonly string[]
  readonly query: URLSearchParams
  readonly lastEventId: string | undefined
  /** Who changes are recorded for, where the caller says so. */
  readonly actor: string | undefined
  /** The body as JSON; an empty object when there is none. */
  body(): Promise<Record<string, unknown>>
}

/** Answers with a document, or takes the response over (a stream) and returns nothing. */
export type Answer = (request: Request, response: ServerResponse) => Promise<object | undefined>

/**
 * HTTP on a Unix socket that its owner alone can open. Whoever connects is therefore the user; what is defended against is a
 * program gone wrong: unfinished requests, endless ones, too many of them.
 */
export class ApiServer implements AsyncDisposable {
  readonly #server: Server
  /** Connections in the order they came, with how many requests are being answered on each. */
  readonly #connections = new Map<Socket, number>()

  constructor(
    private readonly answer: Answer,
    private readonly onBug: (error: unknown) => void,
  ) {
    this.#server = createServer(
      {
        maxHeaderSize: 16 * 1024,
        headersTimeout: 5_000,
        requestTimeout: 10_000,
        keepAliveTimeout: 5_000,
        connectionsCheckingInterval: 2_500,
      },
      (request, response) => void this.#serve(request, response),
    )
    this.#server.on('connection', (socket) => this.#admit(socket))
    this.#server.on('clientError', (_, socket) => {
      if (!socket.writable) return void socket.destroy()
      const answer = 'HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'
      socket.end(answer, () => socket.destroy())
    })
  }

  /** What is in the way can only be left over: the caller holds the daemon's lock. */
  async listen(path: string): Promise<void> {
    rmSync(path, { force: true })
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen(path, () => {
        this.#server.off('error', reject)
        resolve()
      })
    })
    this.#server.on('error', this.onBug)
    chmodSync(path, 0o600)
  }

  get connections(): number {
    return this.#connections.size
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    for (const [socket, busy] of this.#connections) if (busy === 0) socket.destroy()
    const impatient = setTimeout(() => this.#server.closeAllConnections(), 500)
    await closed
    clearTimeout(impatient)
  }

  #admit(socket: Socket): void {
    this.#connections.set(socket, 0)
    socket.on('close', () => this.#connections.delete(socket))
    socket.on('error', () => socket.destroy())
    if (this.#connections.size <= MAX_CONNECTIONS) return
    const idle = [...this.#connections].find(([, busy]) => busy === 0)?.[0]
    const leaving = idle ?? socket
    this.#connections.delete(leaving)
    leaving.destroy()
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { socket } = incoming
    this.#count(socket, 1)
    response.on('close', () => this.#count(socket, -1))
    try {
      const document = await this.answer(requestOf(incoming), response)
      if (document !== undefined) send(response, 200, document)
    } catch (error) {
      if (!(error instanceof SkeinError)) this.onBug(error)
      if (response.headersSent) response.destroy()
      else send(response, ...failure(error))
    }
  }

  #count(socket: Socket, change: 1 | -1): void {
    const busy = this.#connections.get(socket)
    if (busy !== undefined) this.#connections.set(socket, busy + change)
  }
}

function requestOf(incoming: IncomingMessage): Request {
  const { pathname, searchParams } = target(incoming.url ?? '/')
  const lastEventId = incoming.headers['last-event-id']
  return {
    method: incoming.method ?? 'GET',
    path: pathname
      .split('/')
      .slice(1)
      .map((part) => decoded(part)),
    query: searchParams,
    lastEventId: typeof lastEventId === 'string' && lastEventId !== '' ? lastEventId : undefined,
    actor: actorIn(incoming.headers['x-skein-actor']),
    body: () => readBody(incoming),
  }
}

/** What comes before the path may be anything, and `//host` in the place of a path is none of ours. */
function target(url: string): URL {
  try {
    return new URL(url.startsWith('/') ? `http://skein${url}` : url)
  } catch {
    throw badRequest(`${JSON.stringify(url.slice(0, 80))} is not a path`)
  }
}

function decoded(part: string, where = 'the path'): string {
  try {
    return decodeURIComponent(part)
  } catch {
    throw badRequest(`${JSON.stringify(part.slice(0, 80))} in ${where} is not percent-encoded text`)
  }
}

/** Percent-encoded, since a header holds no letters beyond ASCII. */
function actorIn(header: string | string[] | undefined): string | undefined {
  if (typeof header !== 'string' || header === '') return undefined
  const actor = decoded(header, 'X-Skein-Actor')
  if (actor.length <= MAX_ACTOR && !/\p{Cc}/u.test(actor)) return actor
  throw badRequest('X-Skein-Actor is not the name of anybody', `Use at most ${MAX_ACTOR} characters`)
}

async function readBody(incoming: IncomingMessage): Promise<Record<string, unknown>> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of incoming) {
    if (!(chunk instanceof Buffer)) continue
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw new TooLarge()
    chunks.push(chunk)
  }
  if (size === 0) return {}
  let value: unknown
  try {
    value = JSON.parse(Buffer.concat(chunks).toString('utf8'))
  } catch {
    throw badRequest('The body is not JSON')
  }
  if (isTooDeep(value)) throw badRequest('The body is nested more than 200 levels deep')
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw badRequest('The body is not a JSON object')
}

export const badRequest = (message: string, next = 'See docs/API.md'): SkeinError =>
  new SkeinError('bad-input', message, next)

export class NotFound extends SkeinError {
  constructor(what: string) {
    super('bad-input', `There is no ${what}`, 'See docs/API.md')
  }
}

class TooLarge extends SkeinError {
  constructor() {
    super('bad-input', `The body is larger than ${MAX_BODY_BYTES / 1024} KB`, 'Send less')
  }
}

function failure(error: unknown): [status: number, document: object] {
  if (isPartMissing(error)) {
    const message = 'The program of the daemon was replaced while it ran'
    const next = 'It restarts by itself within seconds: try again. If it does not: skein daemon stop'
    return [503, { error: { code: 'daemon-failed', message, next } }]
  }
  if (!(error instanceof SkeinError)) {
    const next = 'See: skein daemon logs'
    return [500, { error: { code: 'bug', message: 'The daemon failed unexpectedly', next } }]
  }
  return [statusOf(error), { error: errorFacts(error) }]
}

function statusOf(error: SkeinError): number {
  if (error instanceof TooLarge) return 413
  if (error instanceof NotFound || error.code.endsWith('-not-found')) return 404
  if (error.code.startsWith('bad-') || error.code === 'usage' || error.code === 'ambiguous-id') return 400
  return 409
}

function send(response: ServerResponse, status: number, document: object): void {
  const text = JSON.stringify(document)
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...(status >= 400 ? { connection: 'close' } : {}), // an unread body must not be taken for the next request
  })
  response.end(text)
}
