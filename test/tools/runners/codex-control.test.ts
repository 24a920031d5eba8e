import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { answerCodex, codexControlSocket } from '../../../src/tools/codex/codex-control.js'

it('the daemon listens below the home of Codex', () => {
  expect(codexControlSocket({ home: '/home/ada', env: {} })).toBe(
    '/home/ada/.codex/app-server-control/app-server-control.sock',
  )
})

const THREAD = '01a1e02d-05fa-7280-ab82-2b77137af37f'

/** A server that speaks WebSocket as the daemon does: frames of any size, cut anywhere, with pings between them. */
class Daemon {
  readonly heard: Record<string, unknown>[] = []
  readonly #server: Server
  #buffer = Buffer.alloc(0)
  socket: Socket | undefined

  constructor(
    readonly path: string,
    readonly reply: (message: Record<string, unknown>, daemon: Daemon) => void,
    accepts = true,
  ) {
    this.#server = createServer((socket) => {
      this.socket = socket
      socket.on('error', () => {})
      socket.once('data', (head) => {
        const key = /Sec-WebSocket-Key: (.+)\r\n/.exec(head.toString())?.[1] ?? ''
        const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
        const answer = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`
        socket.write(accepts ? answer : 'HTTP/1.1 404 Not Found\r\n\r\n')
        socket.on('data', (data) => this.#take(data))
      })
    })
  }

  listen = () => new Promise<void>((resolve) => this.#server.listen(this.path, resolve))

  say(message: object): void {
    const payload = Buffer.from(JSON.stringify(message))
    const half = payload.length >> 1
    const bytes = Buffer.concat([
      frame(9, true, Buffer.from('hi')),
      frame(1, false, payload.subarray(0, half)),
      frame(0, true, payload.subarray(half)),
    ])
    for (let at = 0; at < bytes.length; at += 700) this.socket?.write(bytes.subarray(at, at + 700))
  }

  close(): void {
    this.socket?.destroy()
    this.#server.close()
  }

  #take(data: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, data])
    while (this.#buffer.length >= 2) {
      const short = (this.#buffer[1] ?? 0) & 0x7f
      const start = short === 126 ? 4 : 2
      const length = short === 126 ? this.#buffer.readUInt16BE(2) : short
      if (this.#buffer.length < start + 4 + length) return
      const mask = this.#buffer.subarray(start, start + 4)
      const payload = this.#buffer.subarray(start + 4, start + 4 + length).map((byte, at) => byte ^ (mask[at % 4] ?? 0))
      const kind = (this.#buffer[0] ?? 0) & 0x0f
      this.#buffer = this.#buffer.subarray(start + 4 + length)
      if (kind !== 1) continue
      const message: Record<string, unknown> = JSON.parse(Buffer.from(payload).toString())
      this.heard.push(message)
      this.reply(message, this)
    }
  }
}

function frame(kind: number, isLast: boolean, payload: Buffer): Buffer {
  const head = payload.length < 126 ? Buffer.alloc(2) : Buffer.alloc(payload.length < 65_536 ? 4 : 10)
  head[0] = (isLast ? 0x80 : 0) | kind
  if (payload.length < 126) head[1] = payload.length
  else if (payload.length < 65_536) {
    head[1] = 126
    head.writeUInt16BE(payload.length, 2)
  } else {
    head[1] = 127
    head.writeBigUInt64BE(BigInt(payload.length), 2)
  }
  return Buffer.concat([head, payload])
}

/** As codex 0.166.0 answered. */
function asCodex(status: object) {
  return (message: Record<string, unknown>, daemon: Daemon): void => {
    if (message.method === 'initialize') daemon.say({ id: message.id, result: { userAgent: 'x'.repeat(90_000) } })
    if (message.method === 'thread/resume') {
      daemon.say({ method: 'thread/status/changed', params: { threadId: 'another', status: { type: 'idle' } } })
      daemon.say({ id: 0, method: 'item/commandExecution/requestApproval', params: { threadId: 'another' } })
      daemon.say({ id: message.id, result: { thread: { id: THREAD, status } } })
      daemon.say({
        id: 7,
        method: 'item/commandExecution/requestApproval',
        params: { threadId: THREAD, command: 'touch x' },
      })
    }
    if (message.id === 7) daemon.say({ method: 'serverRequest/resolved', params: { threadId: THREAD, requestId: 7 } })
  }
}

const WAITING = { type: 'active', activeFlags: ['waitingOnApproval'] }

describe('answering through the daemon of Codex', () => {
  let directory: string
  let daemon: Daemon | undefined
  const path = () => join(directory, 's')
  async function start(reply: Daemon['reply'], accepts = true): Promise<Daemon> {
    daemon = new Daemon(path(), reply, accepts)
    await daemon.listen()
    return daemon
  }
  const answer = (decision: 'allow' | 'allow-always' | 'deny' = 'allow', ms = 5_000) =>
    answerCodex(path(), { session: THREAD, decision, signal: AbortSignal.timeout(ms) })

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'skein-ws-'))
  })
  afterEach(() => {
    daemon?.close()
    daemon = undefined
    rmSync(directory, { recursive: true, force: true })
  })

  it.each([
    ['allow', 'accept'],
    ['allow-always', 'acceptForSession'],
    ['deny', 'decline'],
  ] as const)('%s is told as %s, and confirmed', async (decision, word) => {
    const { heard } = await start(asCodex(WAITING))
    expect(await answer(decision)).toEqual({ receipt: 'the Codex daemon confirmed request 7' })
    expect(heard.filter((message) => 'result' in message)).toEqual([
      { jsonrpc: '2.0', id: 7, result: { decision: word } },
    ])
    expect(heard.map((message) => message.method)).toEqual(['initialize', 'initialized', 'thread/resume', undefined])
  })

  it('nothing is said where nothing is asked', async () => {
    const { heard } = await start(asCodex({ type: 'idle' }))
    await expect(answer()).rejects.toMatchObject({ code: 'nothing-asked' })
    expect(heard.some((message) => 'result' in message)).toBe(false)
  })

  it('an error of the daemon, a connection that ends, no confirmation and no daemon are told', async () => {
    const error = { message: 'no such thread' }
    await start((message, own) => own.say({ id: message.id, ...(message.id === 2 ? { error } : { result: {} }) }))
    await expect(answer()).rejects.toMatchObject({
      code: 'not-answered',
      message: 'Codex did not accept the answer: no such thread',
    })
    daemon?.close()
    await start((_, own) => own.socket?.destroy())
    await expect(answer()).rejects.toMatchObject({ code: 'not-answered' })
    daemon?.close()
    await start((message, own) => (message.id === 7 ? undefined : asCodex(WAITING)(message, own)))
    await expect(answer('allow', 300)).rejects.toMatchObject({ code: 'not-answered' })
    daemon?.close()
    await start(() => {}, false)
    await expect(answer()).rejects.toThrow('it does not speak WebSocket: HTTP/1.1 404 Not Found')
    daemon?.close()
    daemon = undefined
    rmSync(path(), { force: true })
    await expect(answer()).rejects.toMatchObject({ code: 'not-answered', message: expect.stringContaining('ENOENT') })
  })
})
