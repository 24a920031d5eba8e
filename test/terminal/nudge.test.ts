import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startTimeOf } from '../../src/disk/index.js'
import { attend } from '../../src/terminal/index.js'
import { Scratch } from './scratch.js'

/** A program by this name that prints a line when it is nudged. */
async function listener(directory: string, name: string): Promise<{ child: ChildProcess; nudged: () => number }> {
  const path = join(directory, name)
  const script = `process.on('SIGCHLD', () => console.log('nudged')); setInterval(() => {}, 1000); console.log('ready')`
  writeFileSync(path, `#!${process.execPath}\n${script}\n`)
  chmodSync(path, 0o700)
  const child = spawn(path, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let printed = ''
  child.stdout?.on('data', (data) => {
    printed += String(data)
  })
  await once(child.stdout ?? child, 'data')
  return { child, nudged: () => printed.split('nudged').length - 1 }
}

it('a tmux server is nudged for as long as somebody looks, and only that very process', async () => {
  await using scratch = new Scratch()
  const [server, other, shell] = await Promise.all(
    ['tmux-one', 'tmux-two', 'shell'].map((name) => listener(scratch.path, name)),
  )
  const pidOf = (one: typeof server): number => one?.child.pid ?? 0
  const start = startTimeOf(pidOf(server))
  const attended = [
    attend({ pid: pidOf(server), ...(start === undefined ? {} : { starttime: start }) }),
    // Its pid was another process's when it was recorded.
    attend({ pid: pidOf(other), starttime: 1 }),
    attend({ pid: pidOf(shell) }),
  ]
  await expect.poll(() => server?.nudged(), { timeout: 30_000 }).toBeGreaterThan(1)
  for (const one of attended) one[Symbol.dispose]()
  expect([other?.nudged(), shell?.nudged()]).toEqual([0, 0])
})
