import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { eventually, Scratch } from './scratch.js'

const WORKER = fileURLToPath(new URL('../workers/ask-tmux.mjs', import.meta.url))

/** A process that is connected to the server as the daemon is, and is killed while the server has something to write for it. */
async function leaveClient(scratch: Scratch): Promise<number> {
  const before = clientsOf(scratch)
  const owner = spawn(process.execPath, [WORKER, scratch.socket.path], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void owner.kill('SIGKILL'))
  await once(owner.stdout, 'data')
  const [client = 0] = clientsOf(scratch).filter((pid) => !before.includes(pid))
  const server = scratch.serverPid()
  process.kill(server, 'SIGSTOP')
  try {
    owner.stdin.write('x')
    await once(owner.stdout, 'data')
    owner.kill('SIGKILL')
    await once(owner, 'exit')
  } finally {
    process.kill(server, 'SIGCONT')
  }
  // The server has read what it was asked, and cannot let the client go.
  scratch.tmux('list-keys')
  return client
}

const clientsOf = (scratch: Scratch): number[] =>
  scratch.tmux('list-clients', '-F', '#{client_pid}').trim().split('\n').filter(Boolean).map(Number)

it('a control client whose owner was killed is ended by the next one that connects, and those of others stay', async () => {
  await using scratch = new Scratch()
  const terminal = await scratch.terminal()
  const { pane } = await scratch.create(terminal, 'one', ['sleep', '600'])
  const [own = 0] = clientsOf(scratch)
  const left = [await leaveClient(scratch)]
  left.push(await leaveClient(scratch)) // which has ended the first
  expect(clientsOf(scratch).sort()).toEqual([own, left[1]].sort())
  const next = await scratch.terminal()
  await next.panes()
  const now = clientsOf(scratch)
  expect(now).toHaveLength(2)
  expect(now).toContain(own)
  expect(now).not.toContain(left[1])
  expect((await terminal.pane(pane)).isDead).toBe(false)
})

it('a server whose last pane is closed ends though a control client was left behind', async () => {
  await using scratch = new Scratch()
  const terminal = await scratch.terminal({ kept: false })
  await scratch.create(terminal, 'one', ['sleep', '600'])
  const server = scratch.serverPid()
  const left = await leaveClient(scratch)
  await terminal.close('one')
  expect(clientsOf(scratch)).toEqual([left])
  await terminal.endIfEmpty()
  const isGone = (pid: number): boolean => {
    try {
      return !process.kill(pid, 0)
    } catch {
      return true
    }
  }
  await eventually('both have ended', () => (isGone(server) && isGone(left) ? true : undefined))
})

it('a client of a process that lives keeps its server', async () => {
  await using scratch = new Scratch()
  const terminal = await scratch.terminal({ kept: false })
  await scratch.create(terminal, 'one', ['sleep', '600'])
  const kept = await scratch.terminal()
  await kept.panes()
  await terminal.close('one')
  await terminal.endIfEmpty()
  expect(await kept.panes()).toEqual([])
  expect(clientsOf(scratch)).toHaveLength(1)
})
