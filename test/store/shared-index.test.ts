import { spawn } from 'node:child_process'
import { cpSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openTestHome, profileDirectory, scratch } from '../home/scratch.js'

const WORKER = join(import.meta.dirname, '..', 'workers', 'use-home.mjs')

function look(root: string): Promise<{ sessions: string[]; error?: unknown; warnings: string[] }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [WORKER, root, 'look'], { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.on('data', (text: Buffer) => {
      output += text.toString()
    })
    child.on('error', reject)
    child.on('close', () => resolve(JSON.parse(output)))
  })
}

it('a rebuild works while others keep the index open, and they see the same as before', async () => {
  const root = scratch()
  const { home: other } = await openTestHome(root)
  await other.sessions.start({ id: 'one', title: 'kept open' })
  const { home } = await openTestHome(root)
  await home.sessions.start({ id: 'two' })
  await home.index.rebuild()
  expect((await other.sessions.query({})).sessions).toHaveLength(2)
  await other.sessions.start({ id: 'three', title: 'kept open too' })
  expect((await home.sessions.query({ title: 'kept' })).sessions.map((session) => session.id).sort()).toEqual([
    'one',
    'three',
  ])
  expect((await home.index.check()).problems).toEqual([])
  await home[Symbol.asyncDispose]()
  await other[Symbol.asyncDispose]()
})

it('several processes that find the index damaged mend it once, and all get their answer', async () => {
  const root = scratch()
  const { home } = await openTestHome(root)
  for (let n = 0; n < 50; n += 1) await home.sessions.start({ id: `s${n}` })
  await home[Symbol.asyncDispose]()
  const generation = realpathSync(join(profileDirectory(root), 'index.db'))
  for (const side of ['-wal', '-shm']) rmSync(`${generation}${side}`, { force: true })
  writeFileSync(join(profileDirectory(root), 'index.db'), 'garbage'.repeat(5_000))
  const told = await Promise.all(Array.from({ length: 6 }, () => look(root)))
  expect(told.map(({ sessions, error }) => [sessions.length, error])).toEqual(Array(6).fill([50, undefined]))
  expect(told.flatMap(({ warnings }) => warnings)).toHaveLength(1)
  expect(readdirSync(profileDirectory(root)).filter((name) => name.includes('set-aside'))).toHaveLength(1)
})

it('a home that was copied has an index of its own, whatever the copy made of the link', async () => {
  const [root, copied] = [scratch(), scratch()]
  const { home } = await openTestHome(root)
  await home.sessions.start({ id: 'one' })
  await home[Symbol.asyncDispose]()
  cpSync(root, copied, { recursive: true }) // turns the link into one to the original
  const { home: copy } = await openTestHome(copied)
  await copy.sessions.start({ id: 'two' })
  expect((await copy.sessions.query({})).sessions).toHaveLength(2)
  expect((await copy.index.check()).problems).toEqual([])
  await copy[Symbol.asyncDispose]()
  const { home: again } = await openTestHome(root)
  expect((await again.sessions.query({})).sessions).toHaveLength(1)
  await again[Symbol.asyncDispose]()
})
