import { createHash, randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'

const MOST_BYTES = 64 * 1024 * 1024
const TEXT = 1
const CLOSE = 8
const PING = 9
const PONG = 10

/** A WebSocket of text messages over a Unix socket: Node 20 has none of its own. Only what a client needs. */
export class UnixWebSocket implements Disposable {
  #buffered = Buffer.alloc(0)
  #parts: Buffer[] = []
  readonly #messages: string[] = []
  #ended: Error | undefined
  #wake: () => void = () => {}

  private constructor(readonly socket: Socket) {
    socket.on('data', (data) => this.#take(data))
    socket.on('error', (error) => this.#end(error))
    socket.on('close', () => this.#end(new Error('the connection was closed')))
  }

  static async open(path: string, signal: AbortSignal): Promise<UnixWebSocket> {
    signal.throwIfAborted()
    const socket = connect(path)
    const stop = (): void => {
      socket.destroy(signal.reason instanceof Error ? signal.reason : new Error('aborted'))
    }
    signal.addEventListener('abort', stop, { once: true })
    socket.once('close', () => signal.removeEventListener('abort', stop))
    const rest = await handshake(socket)
    const web = new UnixWebSocket(socket)
    web.#take(rest)
    return web
  }

  send(text: string): void {
    this.#write(TEXT, Buffer.from(text))
  }

  /** Message by message, in order; throws when the connection ends. */
  async *messages(): AsyncGenerator<string> {
    for (;;) {
      const next = this.#messages.shift()
      if (next !== undefined) yield next
      else if (this.#ended) throw this.#ended
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  [Symbol.dispose](): void {
    if (!this.socket.destroyed) this.#write(CLOSE, Buffer.alloc(0))
    this.socket.destroySoon()
  }

  #end(error: Error): void {
    this.#ended ??= error
    this.#wake()
  }

  #take(data: Buffer): void {
    this.#buffered = Buffer.concat([this.#buffered, data])
    for (let frame = frameIn(this.#buffered); frame; frame = frameIn(this.#buffered)) {
      this.#buffered = this.#buffered.subarray(frame.end)
      if (frame.kind === PING) this.#write(PONG, frame.payload)
      else if (frame.kind === CLOSE) this.socket.destroySoon()
      else if (frame.kind !== PONG) this.#parts.push(frame.payload)
      if (frame.isLast && frame.kind < CLOSE) {
        this.#messages.push(Buffer.concat(this.#parts).toString('utf8'))
        this.#parts = []
      }
    }
    const held = this.#parts.reduce((sum, part) => sum + part.length, this.#buffered.length)
    if (held > MOST_BYTES) this.socket.destroy(new Error('a message is longer than 64 MB'))
    this.#wake()
  }

  /** What a client sends is masked, as the protocol wants it. */
  #write(kind: number, payload: Buffer): void {
    const mask = randomBytes(4)
    const masked = payload.map((byte, at) => byte ^ (mask[at % 4] ?? 0))
    this.socket.write(Buffer.concat([headOf(kind, payload.length), mask, masked]))
  }
}

function headOf(kind: number, length: number): Buffer {
  if (length < 126) return Buffer.from([0x80 | kind, 0x80 | length])
  const head = Buffer.alloc(length < 65_536 ? 4 : 10)
  head[0] = 0x80 | kind
  head[1] = 0x80 | (length < 65_536 ? 126 : 127)
  if (length < 65_536) head.writeUInt16BE(length, 2)
  else head.writeBigUInt64BE(BigInt(length), 2)
  return head
}

interface Frame {
  readonly kind: number
  readonly isLast: boolean
  readonly payload: Buffer
  /** Where the next frame begins. */
  readonly end: number
}

/** The first frame, when all of it is there. Servers do not mask theirs. */
function frameIn(data: Buffer): Frame | undefined {
  if (data.length < 2) return undefined
  const short = (data[1] ?? 0) & 0x7f
  const start = short === 127 ? 10 : short === 126 ? 4 : 2
  if (data.length < start) return undefined
  const length = short === 127 ? Number(data.readBigUInt64BE(2)) : short === 126 ? data.readUInt16BE(2) : short
  if (data.length < start + length) return undefined
  const first = data[0] ?? 0
  return {
    kind: first & 0x0f,
    isLast: (first & 0x80) !== 0,
    payload: data.subarray(start, start + length),
    end: start + length,
  }
}

/** Asks for the WebSocket protocol; what came after the answer is returned. */
async function handshake(socket: Socket): Promise<Buffer> {
  const key = randomBytes(16).toString('base64')
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  socket.write(
    `GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\n\r\n`,
  )
  return await new Promise((resolve, reject) => {
    let head = Buffer.alloc(0)
    const fail = (error?: Error): void => reject(error ?? new Error('the connection was closed'))
    const take = (data: Buffer): void => {
      head = Buffer.concat([head, data])
      const end = head.indexOf('\r\n\r\n')
      if (end < 0 && head.length < 16_384) return
      socket.off('data', take).off('error', fail).off('close', fail)
      const text = head.subarray(0, Math.max(end, 0)).toString('latin1')
      const isAccepted = /^HTTP\/1\.1 101 /.test(text) && text.includes(accept)
      if (isAccepted) resolve(head.subarray(end + 4))
      else {
        socket.destroy()
        reject(new Error(`it does not speak WebSocket: ${text.split('\r\n', 1)[0]}`))
      }
    }
    socket.on('data', take).once('error', fail).once('close', fail)
  })
}
