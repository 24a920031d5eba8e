import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  branchTo,
  ConversationStore,
  loadSessionStore,
  updateSessionStore,
  withSessionStoreLock,
} from '../../src/conversations/index.js'
import { BACKENDS, scratch } from './scratch.js'

const worker = (name: string) => fileURLToPath(new URL(`../workers/${name}.mjs`, import.meta.url))

/** Runs a worker; resolves with what it printed when it ends well. */
function run(name: string, args: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [worker(name), ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let out = ''
    let err = ''
    child.stdout.on('data', (chunk) => (out += chunk))
    child.stderr.on('data', (chunk) => (err += chunk))
    child.on('error', reject)
    child.on('close', (code) => (code === 0 ? resolve(out) : reject(new Error(`${name} ended with ${code}: ${err}`))))
  })
}

/** A process that holds the lock of the store; resolves once it does. */
async function holder(storePath: string, holdMs: number) {
  const child = spawn(process.execPath, [worker('hold-store-lock'), storePath, String(holdMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise((resolve) => child.stdout.once('data', resolve))
  return child
}

const PROCESSES = 8
const UPDATES = 200
const workers = (directory: string, backend: string, mode: string) =>
  Promise.all(
    Array.from({ length: PROCESSES }, (_, n) =>
      run('update-conversations', [directory, backend, mode, `p${n}`, String(UPDATES)]),
    ),
  )

describe.each(BACKENDS)('eight processes on the %s backend', (backend) => {
  it('lose none of 200 updates each of different keys', async () => {
    const directory = scratch()
    await workers(directory, backend, 'different')
    using store = new ConversationStore({ directory, backend })
    const rows = await store.open('main').list()
    expect(rows.length).toBe(PROCESSES * UPDATES)
    expect(rows.every(({ key, entry }) => key === `agent:main:discord:dm:${entry.label}`)).toBe(true)
  })

  it('lose none of 200 updates each of one key, and see every conflict as an error with the current revision', async () => {
    const directory = scratch()
    using store = new ConversationStore({ directory, backend })
    await store.open('main').patch('agent:main:discord:dm:shared', { inputTokens: 0 }, { onMissing: 'create' })
    const printed = await workers(directory, backend, 'same')
    const row = await store.open('main').get('agent:main:discord:dm:shared')
    expect(row?.entry.inputTokens).toBe(PROCESSES * UPDATES)
    const conflicts = printed.reduce((sum, text) => sum + JSON.parse(text).conflicts, 0)
    console.log(`${backend}: ${PROCESSES} x ${UPDATES} updates of one key, ${conflicts} conflicts reported, 0 lost`)
  })
})

describe.each(BACKENDS)('a process killed -9 in the middle of its work on the %s backend', (backend) => {
  it('has lost nothing that was acknowledged, and the next one goes on', async () => {
    const directory = scratch()
    let last = 0
    for (let time = 0; time < 6; time++) {
      const child = spawn(process.execPath, [worker('patch-until-killed'), directory, backend], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      let printed = ''
      const far = new Promise<void>((resolve) => {
        child.stdout.on('data', (chunk) => {
          printed += chunk
          if (printed.split('\n').length > 10 + 3 * time) resolve()
        })
      })
      await far
      child.kill('SIGKILL')
      await new Promise((resolve) => child.once('close', resolve))
      last = Number(printed.trimEnd().split('\n').at(-1))
      using store = new ConversationStore({ directory, backend })
      const main = store.open('main')
      const key = 'agent:main:discord:dm:u1'
      const tokens = (await main.get(key))?.entry.inputTokens ?? 0
      expect(tokens).toBeGreaterThanOrEqual(last)
      expect(tokens).toBeLessThanOrEqual(last + 1)
      await main.append(key, { role: 'user', content: 'after' })
      const transcript = await main.transcript(key)
      expect(transcript?.skippedLines).toEqual([])
      expect(transcript && branchTo(transcript).length).toBe(transcript?.entries.length)
      const rounds = transcript?.entries.map(({ message }) => Number(String(message?.content).split(' ')[0])) ?? []
      expect(rounds.slice(rounds.lastIndexOf(1))).toEqual(
        expect.arrayContaining(Array.from({ length: last }, (_, n) => n + 1)),
      )
    }
  })
})

describe('the lock of a store', () => {
  it('of a holder killed -9 is taken over at once', async () => {
    const path = join(scratch(), 'sessions.json')
    const child = await holder(path, 600_000)
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('close', resolve))
    expect(existsSync(`${path}.lock`)).toBe(true)
    // That its process is gone is enough: by its age alone the lock would hold for an hour.
    await withSessionStoreLock(path, async () => undefined, { timeoutMs: 60_000, staleMs: 3_600_000 })
    await updateSessionStore(path, (store) => {
      store['agent:main:main'] = { sessionId: 's', updatedAt: 1 }
    })
    expect(loadSessionStore(path)['agent:main:main']?.sessionId).toBe('s')
    expect(existsSync(`${path}.lock`)).toBe(false)
  })

  it('is not taken from a living holder, however old the lock is', async () => {
    const path = join(scratch(), 'sessions.json')
    const child = await holder(path, 4_000)
    const before = readFileSync(`${path}.lock`, 'utf8')
    const robbing = withSessionStoreLock(path, async () => 'robbed', { timeoutMs: 1_500, staleMs: 10 })
    await expect(robbing).rejects.toMatchObject({
      code: 'store-locked',
      message: expect.stringContaining(`process ${child.pid}`),
    })
    expect(readFileSync(`${path}.lock`, 'utf8')).toBe(before)
    const after = await withSessionStoreLock(path, async () => child.exitCode ?? 'still exiting', { staleMs: 10 })
    expect(['still exiting', 0]).toContain(after) // the holder let go by itself
  })

  it('goes to one of many that find the same dead holder, never to two', async () => {
    const path = join(scratch(), 'sessions.json')
    const child = await holder(path, 600_000)
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('close', resolve))
    const directory = join(path, '..')
    await Promise.all(Array.from({ length: 6 }, (_, n) => run('count-under-lock', [directory, String(n), '50'])))
    expect(Number(readFileSync(join(directory, 'count'), 'utf8'))).toBe(300)
  })

  it('names pid and start time, and is readable by its owner only', async () => {
    const path = join(scratch(), 'sessions.json')
    await withSessionStoreLock(path, async () => {
      const lock = JSON.parse(readFileSync(`${path}.lock`, 'utf8'))
      expect(lock).toMatchObject({ pid: process.pid, startedAt: expect.any(Number), createdAt: expect.any(String) })
      if (process.platform === 'linux') expect(lock.starttime).toBeGreaterThan(0)
    })
    expect(existsSync(`${path}.lock`)).toBe(false)
  })
})
