import type { IncomingMessage } from 'node:http'
import { type ErrorCode, SkeinError } from '../../model/index.js'
import { type Fields, type Operation, queryOf, type Values } from '../../operations/index.js'
import { type DaemonPlace, isTrusted } from '../place.js'
import { API_VERSION, type DaemonRecord, livingDaemon } from '../record.js'

/** A daemon that does not answer within this time is treated as if there were none: everything works without it. */
const ANSWER_MS = 2_000
const MAX_ANSWER_BYTES = 32 * 1024 * 1024
/** What the head of a request can hold, less its other lines. */
const MAX_QUERY = 12 * 1024

/** Asked for only where a daemon was found: it takes as long to load as everything else of a small command. */
const http = () => process.getBuiltinModule('node:http')

/** One message of the live stream. */
export interface StreamMessage {
  event: string
  /** The journal's id of it; absent for what can be missed. */
  id?: string
  data: unknown
}

/**
 * Talks to a running daemon. Finding out that there is none takes two small reads and no waiting; a socket that is not this
 * user's own, or speaks another version, is no daemon.
 */
export class DaemonClient {
  private constructor(readonly record: DaemonRecord) {}

  static find(place: Pick<DaemonPlace, 'record'>, userId: number | undefined): DaemonClient | undefined {
    const record = livingDaemon(place)
    if (record?.api !== API_VERSION || !isTrusted(record.socket, userId)) return undefined
    return new DaemonClient(record)
  }

  get(path: string, options: AskOptions = {}): Promise<unknown> {
    return this.#ask({ method: 'GET', path }, options)
  }

  post(path: string, body: unknown = {}, options: AskOptions = {}): Promise<unknown> {
    return this.#ask({ method: 'POST', path, body }, options)
  }

  /** Runs an operation. What changes something may take as long as it takes. */
  async call<Declared extends Fields, Result extends object>(
    { name, does }: Pick<Operation<Declared, Result>, 'name' | 'does'>,
    input: Readonly<Record<string, unknown>>,
    options: AskOptions = {},
  ): Promise<Result> {
    // Of this API's version, which was checked before it is asked.
    const query = does === 'reads' ? `${queryOf(input)}` : undefined
    if (query !== undefined && query.length <= MAX_QUERY)
      return (await this.get(`/v1/${name}?${query}`, options)) as Result
    const limits = does === 'reads' ? options : { timeoutMs: Number.POSITIVE_INFINITY, ...options }
    return (await this.post(`/v1/${name}`, input, limits)) as Result
  }

  /**
   * The same for who can also do it without a daemon. Undefined when it was not done: the daemon is gone, does not answer, or is too old
   * to know the operation. A change that was sent and not answered is an error: it may have been made.
   */
  async tryCall<Declared extends Fields, Result extends object>(
    operation: Operation<Declared, Result>,
    input: Values<Declared>,
    options: AskOptions,
  ): Promise<{ result: Result } | undefined> {
    const isRead = operation.does === 'reads'
    if (!isRead && !(await this.#answers())) return undefined
    try {
      return { result: await this.call(operation, input, options) }
    } catch (error) {
      if (error instanceof NoSuchPath || (isRead && isUnreachable(error))) return undefined
      if (isUnreachable(error)) throw unsure(operation.name, error)
      throw error
    }
  }

  #answers(): Promise<boolean> {
    return this.get('/v1/health').then(
      () => true,
      () => false,
    )
  }

  /**
   * The live stream, from behind `after` on, or from now. It ends when the signal aborts or the daemon goes; whoever wants
   * more asks again with the last id.
   */
  async *events({ after, signal }: { after?: string; signal: AbortSignal }): AsyncGenerator<StreamMessage> {
    const path = after === undefined ? '/v1/events' : `/v1/events?after=${encodeURIComponent(after)}`
    let rest = ''
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        http()
          .request({ socketPath: this.record.socket, path, signal, headers: { host: 'skein' } }, resolve)
          .on('error', reject)
          .end()
      })
      for await (const chunk of response.setEncoding('utf8')) {
        const frames = (rest + String(chunk)).split('\n\n')
        rest = frames.pop() ?? ''
        for (const frame of frames) {
          const message = parseFrame(frame)
          if (message) yield message
        }
      }
    } catch (error) {
      if (!signal.aborted && !isGone(error)) throw error
    }
  }

  async #ask(asked: Asked, { timeoutMs = ANSWER_MS, actor }: AskOptions): Promise<unknown> {
    const until = performance.now() + timeoutMs
    for (;;) {
      try {
        return await this.#askOnce(asked, actor, until - performance.now())
      } catch (error) {
        // The queue at its door is full, which is over in a moment.
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > until) throw error
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }

  #askOnce({ method, path, body }: Asked, actor: string | undefined, timeoutMs: number): Promise<unknown> {
    const content = body === undefined ? undefined : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const asked = http().request({
        socketPath: this.record.socket,
        method,
        path,
        agent: false,
        headers: {
          host: 'skein',
          ...(actor === undefined ? {} : { 'x-skein-actor': encodeURIComponent(actor) }),
          ...(content === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
        },
      })
      const deadline = Number.isFinite(timeoutMs)
        ? setTimeout(() => asked.destroy(notAnswering()), timeoutMs)
        : undefined
      asked.on('error', (error) => {
        clearTimeout(deadline)
        reject(isGone(error) ? notAnswering(error) : error)
      })
      asked.on('response', (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => {
          text += chunk
          if (text.length > MAX_ANSWER_BYTES) asked.destroy(notAnswering())
        })
        response.on('error', (error) => reject(isGone(error) ? notAnswering(error) : error))
        response.on('end', () => {
          clearTimeout(deadline)
          try {
            resolve(answerOf(response.statusCode ?? 0, text))
          } catch (error) {
            reject(error)
          }
        })
      })
      asked.end(content)
    })
  }
}

function answerOf(status: number, text: string): unknown {
  const value: unknown = text === '' ? undefined : JSON.parse(text)
  if (status < 400) return value
  const { error } = (value ?? {}) as { error?: Partial<ErrorFacts> }
  const Kind = status === 404 && error?.code === 'bad-input' ? NoSuchPath : SkeinError
  throw new Kind(
    (error?.code ?? 'daemon-unreachable') as ErrorCode,
    error?.message ?? `The daemon answered with ${status}`,
    error?.next ?? 'See: skein daemon logs',
    { details: error?.details ?? [] },
  )
}

interface ErrorFacts {
  code: string
  message: string
  next: string
  details: string[]
}

interface Asked {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: unknown
}

interface AskOptions {
  /** How long an answer may take. */
  readonly timeoutMs?: number
  /** Who changes are recorded for; the daemon itself when nobody is named. */
  readonly actor?: string
}

/** The daemon has no such path: another version has. */
class NoSuchPath extends SkeinError {}

const isUnreachable = (error: unknown): boolean => error instanceof SkeinError && error.code === 'daemon-unreachable'

const unsure = (operation: string, cause: unknown): SkeinError =>
  new SkeinError(
    'daemon-unreachable',
    `The daemon ended before it answered: ${operation} may have been done or not`,
    'Look before you repeat it: skein list, skein events tail',
    { cause },
  )

function parseFrame(frame: string): StreamMessage | undefined {
  let event = 'message'
  let id: string | undefined
  const data: string[] = []
  for (const line of frame.split('\n')) {
    if (line.startsWith('event: ')) event = line.slice(7)
    else if (line.startsWith('id: ')) id = line.slice(4)
    else if (line.startsWith('data: ')) data.push(line.slice(6))
  }
  if (data.length === 0) return undefined
  return { event, ...(id === undefined ? {} : { id }), data: JSON.parse(data.join('\n')) }
}

const GONE = new Set(['ECONNREFUSED', 'ECONNRESET', 'ENOENT', 'EPIPE', 'EACCES', 'ABORT_ERR'])
const isGone = (error: unknown): boolean => GONE.has((error as NodeJS.ErrnoException).code ?? '')

const notAnswering = (cause?: unknown): SkeinError =>
  new SkeinError('daemon-unreachable', 'The daemon does not answer', 'See: skein daemon status', { cause })
