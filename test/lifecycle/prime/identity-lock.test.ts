import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { thisPlace } from '../../../src/disk/index.js'
import { type IdentityLock, lockFor } from '../../../src/lifecycle/prime/identity-lock.js'
import { type Instant, parseSessionId } from '../../../src/model/index.js'

const AT = '2026-01-17T01:00:00.000Z' as Instant
const SESSION = parseSessionId('11111111-1111-4111-8111-111111111111')
const claim = (pid: number) => ({ pid, session: SESSION, at: AT })

function taken(verdict: ReturnType<typeof lockFor>): IdentityLock {
  if (verdict.kind === 'held') throw new Error(`held by ${verdict.by.pid}`)
  return verdict.lock
}

it('the lock belongs to the program, and is free as soon as that process is gone', async () => {
  const program = spawn('sleep', ['60'])
  await once(program, 'spawn')
  const lock = taken(lockFor(undefined, claim(program.pid ?? 0)))
  expect(lock).toMatchObject({ pid: program.pid, session: SESSION, at: AT })
  expect(lock.process_start).toBeGreaterThan(0)
  expect(lockFor(lock, claim(process.pid))).toEqual({ kind: 'held', by: lock })
  expect(taken(lockFor(lock, claim(program.pid ?? 0)))).toMatchObject({ pid: program.pid })
  program.kill('SIGKILL')
  await once(program, 'exit')
  expect(taken(lockFor(lock, claim(process.pid)))).toMatchObject({ pid: process.pid })
})

it('another process that got the same number, or the time before a restart, holds nothing', () => {
  const reused: IdentityLock = { pid: process.pid, process_start: 1, place: thisPlace(), at: AT }
  expect(lockFor(reused, claim(process.ppid)).kind).toBe('taken')
  expect(lockFor(reused, claim(process.pid)).kind).toBe('taken')
  const before: IdentityLock = { pid: process.pid, place: { ...thisPlace(), boot: 'another' }, at: AT }
  expect(lockFor(before, claim(process.ppid)).kind).toBe('taken')
})

it('a holder that cannot be seen from here is taken to live', () => {
  const elsewhere: IdentityLock = { pid: 2, place: { host: 'elsewhere', machine: 'another' }, at: AT }
  expect(lockFor(elsewhere, claim(process.pid)).kind).toBe('held')
})
