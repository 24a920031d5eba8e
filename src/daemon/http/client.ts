import type { IncomingMessage } from 'node:http'
import { type ErrorCode, SkeinError } from '../../model/index.js'
import { type DaemonPlace, isTrusted } from '../place.js'
import { API_VERSION, type DaemonRecord, livingDaemon } from '../record.js'

/** A daemon that does not answer within this time is treated as if there were none: everything works without it. */
const ANSWER_MS = 2_000
const MAX_ANSWER_BYTES = 32 * 1024 * 1024

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

  get(path: string, options: { timeoutMs?: number } = {}): Promise<unknown> {
    return this.#ask('GET', path, undefined, options.timeoutMs)
  }

  post(path: string, body: unknown = {}, options: { timeoutMs?: number } = {}): Promise<unknown> {
    return this.#ask('POST', path, body, options.timeoutMs)
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

  async #ask(method: string, path: string, body: unknown, timeoutMs = ANSWER_MS): Promise<unknown> {
    const until = performance.now() + timeoutMs
    for (;;) {
      try {
        return await this.#askOnce(method, path, body, until - performance.now())
      } catch (error) {
        // The queue at its door is full, which is over in a moment.
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > until) throw error
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
  }

  #askOnce(method: string, path: string, body: unknown, timeoutMs: number): Promise<unknown> {
    const content = body === undefined ? undefined : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const asked = http().request({
        socketPath: this.record.socket,
        method,
        path,
        agent: false,
        headers: {
          host: 'skein',
          ...(content === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(content) }),
        },
      })
      const deadline = setTimeout(() => asked.destroy(notAnswering()), timeoutMs)
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
  const { error } = (value ?? {}) as { error?: { code?: string; message?: string; next?: string } }
  throw new SkeinError(
    (error?.code ?? 'daemon-unreachable') as ErrorCode,
    error?.message ?? `The daemon answered with ${status}`,
    error?.next ?? 'See: skein daemon logs',
  )
}

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
