import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { openTestHome, scratch } from '../home/scratch.js'
import { fillHome, logOf, NOW, SESSION, stateOf, turn, whereIs } from '../home/worded-home.js'
import { seededRandom, someTime } from '../support/random.js'

const WORKER = join(import.meta.dirname, '..', 'workers', 'purge.mjs')

describe('a purge that is interrupted', () => {
  const start = (...args: string[]): { child: ChildProcess; ended: Promise<unknown> } => {
    const child = spawn(process.execPath, [WORKER, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
    return { child, ended: new Promise((resolve) => child.on('exit', resolve)) }
  }

  it('is told of and finished by the next one, wherever it was killed', async () => {
    const root = scratch()
    const secret = 'Wombat-4242-burrow'
    const first = await fillHome(root, secret)
    const before = await stateOf(first)
    await first[Symbol.asyncDispose]()
    const random = seededRandom()
    let kills = 0
    for (let round = 0; round < 8; round += 1) {
      const { child, ended } = start(root, 'purge', secret)
      // From the moment on which it has written down what is to go.
      while (!existsSync(join(root, 'purge-unfinished')) && child.exitCode === null)
        await new Promise((resolve) => setTimeout(resolve, 5))
      await someTime(random, 400)
      child.kill('SIGKILL')
      if ((await ended) === null) kills += 1
    }
    expect(kills).toBeGreaterThan(0)
    const { home, warnings } = await openTestHome(root, NOW)
    onTestFinished(() => home[Symbol.asyncDispose]())
    const wasUnfinished = existsSync(join(root, 'purge-unfinished'))
    expect(warnings.some((warning) => warning.includes('skein purge --resume'))).toBe(wasUnfinished)
    expect((await home.privacy.purge({ resume: true })).proof).toMatchObject({ left: [], unreadable: [] })
    expect(existsSync(join(root, 'purge-unfinished'))).toBe(false)
    expect(whereIs(root, secret)).toEqual([])
    expect(await stateOf(home)).toEqual(before)
    expect(await home.index.check()).toMatchObject({ ok: true, unreadable_lines: 0 })
  })

  it('is not undone by an ingest that is running', async () => {
    const root = scratch()
    const secret = 'Wombat-4242-burrow'
    const home = await fillHome(root, secret)
    onTestFinished(() => home[Symbol.asyncDispose]())
    const { child, ended } = start(root, 'watch')
    await new Promise((resolve) => child.stdout?.once('data', resolve))
    let number = 10
    const writing = setInterval(() => {
      number += 1
      appendFileSync(
        logOf(root, SESSION),
        turn(SESSION, number, { prompt: `${number} ${secret}`, command: secret, result: secret }),
      )
    }, 20)
    await new Promise((resolve) => setTimeout(resolve, 300))
    const report = await home.privacy.purge({ secret })
    await new Promise((resolve) => setTimeout(resolve, 500))
    clearInterval(writing)
    child.kill('SIGTERM')
    expect(await ended).toBe(0)
    expect(report.proof).toMatchObject({ left: [] })
    await home.history.ingest()
    expect(whereIs(root, secret)).toEqual([])
    expect(await home.index.check()).toMatchObject({ ok: true })
    expect((await home.history.search({ text: String(number) })).hits.length).toBeGreaterThan(0)
  })
})
