import { connect, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { ensureDaemon } from '../../src/daemon/index.js'
import { pause, scratchHome, until } from './scratch.js'

function dial(path: string): Promise<Socket> {
  return new Promise((resolve) => {
    const socket = connect(path)
    socket.on('error', () => resolve(socket))
    socket.on('connect', () => resolve(socket))
  })
}

/** What comes back for these bytes until the other side hangs up. */
async function answerTo(path: string, bytes: string): Promise<string> {
  const socket = await dial(path)
  let text = ''
  socket.setEncoding('latin1').on('data', (chunk: string) => (text += chunk))
  const closed = new Promise((resolve) => socket.on('close', resolve))
  socket.write(bytes)
  await closed
  return text
}

it('requests that are too large, broken or never finished are refused, and everybody else is served', async () => {
  const { access } = scratchHome()
  const { client } = await ensureDaemon(access)
  const { socket } = client.record
  expect(await answerTo(socket, `GET /v1/health HTTP/1.1\r\nhost: x\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`)).toMatch(
    /^HTTP\/1.1 4/,
  )
  expect(await answerTo(socket, 'NONSENSE\r\n\r\n')).toMatch(/^HTTP\/1.1 400/)
  const large = 'z'.repeat(400_000)
  const post = `POST /v1/report HTTP/1.1\r\nhost: x\r\ncontent-length: ${large.length}\r\n\r\n${large}`
  expect(await answerTo(socket, post)).toMatch(/^HTTP\/1.1 413/)
  expect(await answerTo(socket, 'POST /v1/report HTTP/1.1\r\nhost: x\r\ncontent-length: 4\r\n\r\n{{{{')).toMatch(/400/)
  expect(await answerTo(socket, 'GET /v1/agents/%ff HTTP/1.1\r\nhost: x\r\n\r\n')).toMatch(/^HTTP\/1.1 400/)
  // Left open: they end by the daemon's patience, not by ours.
  const half = await dial(socket)
  half.write('GET /v1/health HTTP/1.1\r\nhost:')
  const slow = await dial(socket)
  slow.write('POST /v1/report HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{')
  expect(await client.get('/v1/health')).toMatchObject({ pid: client.record.pid })
  for (const one of [half, slow]) one.destroy()
})

it('a thousand connections that ask for nothing do not keep others out, and cost little', async () => {
  const { access } = scratchHome()
  const { client } = await ensureDaemon(access)
  const sockets: Socket[] = []
  for (let at = 0; at < 1_000; at += 1) sockets.push(await dial(client.record.socket))
  const health = await client.get('/v1/health')
  expect(health).toMatchObject({ pid: client.record.pid })
  expect((health as { memory_bytes: number }).memory_bytes).toBeLessThan(150e6)
  expect((health as { connections: number }).connections).toBeLessThanOrEqual(256)
  for (const socket of sockets) socket.destroy()
  await until(async () => ((await client.get('/v1/health')) as { connections: number }).connections === 1 || pause(50))
})

it('more readers of the live stream than there is place for are told so', async () => {
  const { access } = scratchHome()
  const { client } = await ensureDaemon(access)
  const ask = 'GET /v1/events HTTP/1.1\r\nhost: x\r\n\r\n'
  const readers = await Promise.all(Array.from({ length: 64 }, () => dial(client.record.socket)))
  await Promise.all(
    readers.map(
      (reader) =>
        new Promise<void>((resolve) => {
          reader.once('data', () => resolve())
          reader.write(ask)
        }),
    ),
  )
  expect(await answerTo(client.record.socket, ask)).toMatch(/64 readers already follow the stream/)
  for (const reader of readers) reader.destroy()
})
