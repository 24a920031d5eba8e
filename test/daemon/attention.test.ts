import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LogFile, newestLines } from '../../src/daemon/log-file.js'
import { nextOf, noticeOf } from '../../src/daemon/notices/attention.js'
import { NoticeBook } from '../../src/daemon/notices/notice-book.js'
import { compareVersions } from '../../src/daemon/record.js'
import { segmentOf } from '../../src/daemon/segment.js'
import { readSegment } from '../../src/daemon/statusline.js'
import { lookEveryMs } from '../../src/daemon/watch/look-schedule.js'
import type { AgentRun } from '../../src/lifecycle/index.js'
import { type AgentId, type AgentStatus, instantOf } from '../../src/model/index.js'
import { scratch } from '../home/scratch.js'

const seen = (address: string, status: Partial<AgentStatus>, minutesAgo = 5) => ({
  address: address as never,
  status: 'idle' as const,
  since: instantOf(Date.UTC(2026, 0, 17, 12) - minutesAgo * 60_000),
  source: 'hook' as const,
  ...status,
})

describe('the agent to go to', () => {
  it('needs an answer, before it has failed, before it has finished; and has waited longest among those', () => {
    const agents = [
      seen('done', { status: 'waiting', waiting_for: 'finished' }, 90),
      seen('late', { status: 'waiting', waiting_for: 'question' }, 3),
      seen('first', { status: 'waiting', waiting_for: 'permission' }, 30),
      seen('broken', { status: 'error' }, 60),
      seen('busy', { status: 'running' }, 100),
    ]
    const order: string[] = []
    for (let left = agents; left.length > 0; ) {
      const next = nextOf(left)
      if (!next) break
      order.push(next.address)
      left = left.filter((agent) => agent !== next)
    }
    expect(order).toEqual(['first', 'late', 'broken', 'done'])
  })

  it('is none that was archived', () => {
    expect(nextOf([{ ...seen('old', { status: 'error' }), archived_at: instantOf(0) }])).toBeUndefined()
  })
})

describe('a notice', () => {
  it('shows no secret that a command had, and nothing that a screen could act on', () => {
    const reason =
      'permission prompt: curl -H "Authorization: Bearer sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789"\n\x1b[2J\u202e'
    const notice = noticeOf(seen('a', { status: 'waiting', waiting_for: 'permission', reason, token: 't' }))
    expect(notice?.body).not.toMatch(/sk-ant-api03|[\x00-\x1f\u202e]/)
    expect(notice).toMatchObject({ kind: 'waiting', key: 't' })
  })

  it('is new once, also for who reads the book later', () => {
    const file = join(scratch(), 'notices.json')
    const agent = 'a1' as AgentId
    const book = new NoticeBook(file)
    expect(book.isNew(agent, 'wait-1')).toBe(true)
    book.note([{ agent, key: 'wait-1' }])
    expect([book, new NoticeBook(file)].map((one) => one.isNew(agent, 'wait-1'))).toEqual([false, false])
    expect(new NoticeBook(file).isNew(agent, 'wait-2')).toBe(true)
    writeFileSync(file, '{"a1": ')
    expect(new NoticeBook(file).isNew(agent, 'wait-1')).toBe(true)
  })
})

describe('the segment', () => {
  it('counts who waits, who failed and who works, of what there is any of', () => {
    const agents = ['waiting', 'waiting', 'running', 'starting', 'running', 'idle', 'stopped'].map((status) => ({
      status,
    }))
    expect(segmentOf(agents)).toBe('!2 ▶3')
    expect(segmentOf([...agents, { status: 'error' }])).toBe('!2 ✗1 ▶3')
    expect(segmentOf([{ status: 'waiting', archived_at: 'x' }, { status: 'idle' }])).toBe('')
  })

  it('is counted from what is stored when no daemon lives, whatever it left behind', () => {
    const root = scratch()
    const place = { statusline: join(root, 's'), record: join(root, 'r') }
    writeFileSync(place.statusline, '!9')
    writeFileSync(place.record, JSON.stringify({ pid: 4_000_000, version: '1', api: 1, socket: 's', started_at: 'x' }))
    mkdirSync(join(root, 'agents'))
    writeFileSync(join(root, 'agents', 'a.json'), JSON.stringify({ v: 1, status: { status: 'waiting' } }))
    writeFileSync(join(root, 'agents', 'b.json'), '{ damaged')
    expect(readSegment(place, root)).toBe('!1')
    expect(readSegment(place, join(root, 'nowhere'))).toBe('')
  })
})

describe('looking by itself', () => {
  const run = { run: {} } as Pick<AgentRun, 'run'>
  const every = (status: Partial<AgentStatus>) => lookEveryMs({ ...run, status: seen('a', status) }) ?? 0
  it('is seldom where programs tell, more often where only the screen does, and never where nothing runs', () => {
    expect(every({ source: 'registry', status: 'running' })).toBe(every({ source: 'hook', status: 'idle' }))
    expect(every({ source: 'hook', status: 'running' })).toBeLessThan(every({ source: 'hook', status: 'idle' }))
    expect(every({ source: 'pane', status: 'running' })).toBeLessThan(every({ source: 'hook', status: 'running' }))
    expect(lookEveryMs({ status: seen('a', { status: 'error' }) })).toBeUndefined()
  })
})

it('versions are compared number by number, and one that leads to a release comes before it', () => {
  const sorted = ['0.9.0', '0.10.0-alpha', '0.10.0-beta', '0.10.0', '0.10.1', '1.0.0', '2.0.0']
  fc.assert(
    fc.property(fc.nat(sorted.length - 1), fc.nat(sorted.length - 1), (a, b) => {
      expect(Math.sign(compareVersions(sorted[a] ?? '', sorted[b] ?? ''))).toBe(Math.sign(a - b))
    }),
  )
})

it('the log is bounded, private, one line per piece of news, and read across its turn', () => {
  const path = join(scratch(), 'log')
  using log = new LogFile(path, { now: () => 0 })
  for (let at = 0; at < 3_000; at += 1) log.write(`news ${at}\nof \x1b[31m${'x'.repeat(500)}`)
  const sizes = [path, `${path}.1`].map((file) => (existsSync(file) ? statSync(file).size : 0))
  expect(Math.max(...sizes)).toBeLessThanOrEqual(512 * 1024)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const last = newestLines(path, 1_500)
  expect(last).toHaveLength(
    readFileSync(path, 'utf8').split('\n').length - 1 + readFileSync(`${path}.1`, 'utf8').split('\n').length - 1 < 1_500
      ? last.length
      : 1_500,
  )
  expect(last.at(-1)).toMatch(/^1970-01-01T00:00:00.000Z news 2999 of {2}\[31mx/)
})
