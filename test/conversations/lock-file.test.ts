import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LockFile } from '../../src/conversations/rows/lock-file.js'
import { thisProcess } from '../../src/disk/process-owner.js'
import { scratch } from './scratch.js'

const path = () => join(scratch(), 'x.lock')
const isTaken = (taken: unknown): boolean => taken instanceof LockFile
/** Makes the file look as if nobody had touched it for so long. */
const age = (file: string, seconds: number) =>
  utimesSync(file, Date.now() / 1000 - seconds, Date.now() / 1000 - seconds)

async function tryWith(content: string, ageSeconds: number): Promise<'taken' | 'refused'> {
  const file = path()
  writeFileSync(file, content)
  age(file, ageSeconds)
  const taken = await LockFile.take(file)
  if (!(taken instanceof LockFile)) return 'refused'
  taken[Symbol.dispose]()
  return 'taken'
}

describe('a lock that is there', () => {
  const self = thisProcess()
  it('of a living process is respected, however old, also when it was written by the original', async () => {
    expect(await tryWith(JSON.stringify(self), 86_400)).toBe('refused')
    expect(await tryWith(JSON.stringify({ pid: process.pid, startedAt: 1 }), 86_400)).toBe('refused')
    expect(await tryWith(JSON.stringify({ pid: 1, startedAt: 1 }), 86_400)).toBe('refused')
  })

  it('of a process that is gone is taken at once, also when its number came back to another', async () => {
    expect(await tryWith(JSON.stringify({ ...self, pid: 2 ** 22 - 1 }), 0)).toBe('taken')
    if (process.platform === 'linux') {
      expect(await tryWith(JSON.stringify({ ...self, starttime: (self.starttime ?? 0) + 1 }), 0)).toBe('taken')
    }
  })

  it('of another machine or container counts while it is touched, and goes stale when it is not', async () => {
    const elsewhere = JSON.stringify({ pid: 7, starttime: 1, place: 'another-host pid:[1]' })
    expect(await tryWith(elsewhere, 29)).toBe('refused')
    expect(await tryWith(elsewhere, 31)).toBe('taken')
  })

  it('that names no owner goes stale by age', async () => {
    for (const content of ['', 'garbage', '{}', '{"pid":-1}', '{"pid":"1"}', 'null']) {
      expect(await tryWith(content, 5)).toBe('refused')
      expect(await tryWith(content, 31)).toBe('taken')
    }
  })
})

describe('a lock that is taken', () => {
  it('is there whole from the first moment, and leaves nothing behind', async () => {
    const file = path()
    const lock = await LockFile.take(file)
    expect(isTaken(lock)).toBe(true)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject(thisProcess())
    if (lock instanceof LockFile) lock[Symbol.dispose]()
    expect(readdirSync(dirname(file))).toEqual([])
  })

  it('is not removed by its former owner once it belongs to another', async () => {
    const file = path()
    const lock = await LockFile.take(file)
    writeFileSync(file, JSON.stringify({ pid: 1, startedAt: 1 }))
    if (lock instanceof LockFile) lock[Symbol.dispose]()
    expect(existsSync(file)).toBe(true)
  })

  it('can be released twice', async () => {
    const file = path()
    const lock = await LockFile.take(file)
    if (!(lock instanceof LockFile)) throw new Error('not taken')
    lock[Symbol.dispose]()
    const next = await LockFile.take(file)
    lock[Symbol.dispose]()
    expect(isTaken(next)).toBe(true)
    expect(existsSync(file)).toBe(true)
  })
})
