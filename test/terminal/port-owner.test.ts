import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { isListenedOnBy } from '../../src/terminal/index.js'

it('tells the process that listens on a port from those that do not', async () => {
  const program = "const s=require('net').createServer().listen(0,'127.0.0.1',()=>console.log(s.address().port))"
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill())
  const [printed] = await once(child.stdout, 'data')
  const port = Number(String(printed))
  expect(isListenedOnBy(port, [child.pid ?? 0])).toBe(true)
  expect(isListenedOnBy(port, [process.pid])).toBe(false)
  expect(isListenedOnBy(port, [])).toBe(false)
  const server = createServer().listen(0, '::1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const address = server.address()
  const own = typeof address === 'object' && address ? address.port : 0
  expect(isListenedOnBy(own, [process.pid])).toBe(true)
  expect(isListenedOnBy(own, [child.pid ?? 0])).toBe(false)
})
