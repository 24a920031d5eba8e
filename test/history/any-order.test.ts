import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Home } from '../../src/home/index.js'
import { openTestHome, scratch } from '../home/scratch.js'

const FIXTURES = join(import.meta.dirname, '..', 'fixtures')
const CODEX = join('codex', '0.166.0')
const PI = join('pi', '0.87.1')

/** Logs of forks and of what they were forked from, by where their tools keep them. */
const FORKED: Readonly<Record<string, string>> = {
  ...codexLog('2026-11-15T09-58-46-01a1dea5-22e0-77f2-b9d7-977ec2c1c576'),
  ...codexLog('2026-11-15T09-59-36-01a1dea5-e62b-7f03-a5f9-8782a934459a'),
  ...codexLog('2026-11-15T10-00-02-27b7c1ac-a859-4e3a-8d1d-2f867bdecb5a'),
  ...piLog('2026-11-15T10-04-36-893Z_my-session.01.jsonl'),
  ...piLog('2026-11-15T10-04-40-138Z_01a1deaa-8749-77be-9f6f-bc23029d0286.jsonl'),
  ...piLog('tree.jsonl'),
  ...piLog('forkFrom.jsonl'),
}

function codexLog(name: string): Record<string, string> {
  return { [`.codex/sessions/2026/11/15/rollout-${name}.jsonl`]: join(FIXTURES, CODEX, `rollout-${name}.jsonl`) }
}

function piLog(name: string): Record<string, string> {
  return { [`.pi/agent/sessions/--srv--/${name}`]: join(FIXTURES, PI, name) }
}

/** What is known of every session, whichever log was read first. */
async function told(home: Home): Promise<unknown> {
  const { sessions } = await home.sessions.query({ limit: 100 })
  sessions.sort((a, b) => (a.id < b.id ? -1 : 1))
  const turns = await Promise.all(
    sessions.map(async ({ id }) => [id, await home.history.counts(id), (await home.history.turns(id)).turns.length]),
  )
  const { hits } = await home.history.search({ text: 'turn', limit: 200 })
  const found = hits.map(({ session, turn }) => `${session} ${turn}`).sort()
  return { sessions, turns, found, cost: await home.history.cost({ by: 'session' }) }
}

async function toldAfter(batches: readonly (readonly string[])[]): Promise<unknown> {
  const root = scratch()
  const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 16) })
  for (const batch of batches) {
    for (const path of batch) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      copyFileSync(FORKED[path] ?? path, join(root, path))
    }
    await home.history.ingest()
  }
  const said = await told(home)
  await home[Symbol.asyncDispose]()
  return said
}

describe('forks', () => {
  it('are told the same in whatever order their logs come', async () => {
    const all = Object.keys(FORKED)
    const expected = await toldAfter([all])
    const order = fc.tuple(fc.shuffledSubarray(all, { minLength: all.length }), fc.integer({ min: 1, max: 3 }))
    const property = fc.asyncProperty(order, async ([paths, size]) => {
      const batches = paths.flatMap((_, at) => (at % size === 0 ? [paths.slice(at, at + size)] : []))
      expect(await toldAfter(batches)).toEqual(expected)
    })
    await fc.assert(property, {
      numRuns: 12,
      examples: all.map((last) => [[[...all.filter((one) => one !== last), last], 1]]),
    })
  })

  it('know where they began also when the log of their origin is written to the end after them', async () => {
    const [origin = '', fork = ''] = Object.keys(FORKED)
    const root = scratch()
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 16) })
    mkdirSync(dirname(join(root, origin)), { recursive: true })
    const bytes = readFileSync(FORKED[origin] ?? '')
    writeFileSync(join(root, origin), bytes.subarray(0, 50_000))
    copyFileSync(FORKED[fork] ?? '', join(root, fork))
    await home.history.ingest()
    writeFileSync(join(root, origin), bytes)
    await home.history.ingest()
    expect(await told(home)).toEqual(await toldAfter([[origin, fork]]))
    await home[Symbol.asyncDispose]()
  })
})

it('a fork keeps the history that it shared with a session whose log is gone', async () => {
  const [origin = '', fork = ''] = Object.keys(FORKED)
  const root = scratch()
  const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 16) })
  for (const path of [origin, fork]) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    copyFileSync(FORKED[path] ?? '', join(root, path))
  }
  await home.history.ingest()
  const id = '01a1dea5-e62b-7f03-a5f9-8782a934459a'
  const prompts = async (): Promise<string[]> => (await home.history.turns(id)).turns.map(({ prompt }) => prompt)
  const before = await prompts()
  expect(before).toHaveLength(6)
  rmSync(join(root, origin))
  await home.history.ingest()
  expect(await prompts()).toEqual(before)
  expect((await home.sessions.get(id))?.forked_from).toMatchObject({ turn: 5 })
  await home[Symbol.asyncDispose]()
})

describe('what follows a session', () => {
  const IDS = ['a', 'b', 'c', 'd'].map((letter) => `${letter.repeat(8)}-1111-4111-8111-111111111111`)
  const started = Date.UTC(2026, 10, 15)

  /** Four sessions of Claude Code, each cleared to begin the next. */
  function cleared(root: string): void {
    const project = join(root, '.claude', 'projects', '-srv')
    mkdirSync(project, { recursive: true })
    const typed = IDS.flatMap((sessionId, at) =>
      ['hello', '/clear'].map((display, n) => ({
        display,
        project: '/srv',
        sessionId,
        timestamp: started + at * 60_000 + n * 9_000,
      })),
    )
    writeFileSync(join(root, '.claude', 'history.jsonl'), typed.map((line) => `${JSON.stringify(line)}\n`).join(''))
    for (const [at, sessionId] of IDS.entries()) {
      const timestamp = new Date(started + at * 60_000).toISOString()
      const line = { type: 'user', uuid: `u${at}`, parentUuid: null, sessionId, timestamp, cwd: '/srv' }
      const message = { role: 'user', content: `question ${at}` }
      writeFileSync(join(project, `${sessionId}.jsonl`), `${JSON.stringify({ ...line, message })}\n`)
    }
  }

  async function chainsAfter(order: readonly string[], ms: number): Promise<unknown> {
    const root = scratch()
    cleared(root)
    const { home } = await openTestHome(root, { ms })
    for (const session of order) await home.history.ingest({ session })
    await home.history.ingest()
    expect((await home.index.check()).problems).toEqual([])
    const said = await told(home)
    expect(await home.sessions.chain(IDS[3] ?? '')).toMatchObject([{ sessions: IDS.map((id) => ({ id })) }])
    await home[Symbol.asyncDispose]()
    return said
  }

  it.each([
    ['long ago', started + 86_400_000],
    ['now', started + 300_000],
  ])('is in its chain in whatever order their logs are read, %s', async (_, ms) => {
    const expected = await chainsAfter([], ms)
    const order = fc.shuffledSubarray(IDS)
    const property = fc.asyncProperty(order, async (ids) => {
      expect(await chainsAfter(ids, ms)).toEqual(expected)
    })
    await fc.assert(property, { numRuns: 10, examples: [[[...IDS].reverse()]] })
  })
})

it('a copy is told to be one also when it was read before what it was copied from', async () => {
  const [one, two] = ['11111111', '22222222'].map((start) => `${start}-1111-4111-8111-111111111111`) as [string, string]
  const root = scratch()
  const project = join(root, '.claude', 'projects', '-srv')
  mkdirSync(project, { recursive: true })
  const write = (session: string, entries: number, fromMs: number): void =>
    writeFileSync(
      join(project, `${session}.jsonl`),
      Array.from({ length: entries }, (_, at) => {
        const line = { type: 'user', uuid: `u${at}`, parentUuid: at ? `u${at - 1}` : null, sessionId: session }
        const message = { role: 'user', content: `question ${at}` }
        return `${JSON.stringify({ ...line, timestamp: new Date(fromMs + at).toISOString(), message })}\n`
      }).join(''),
    )
  write(one, 1, Date.now())
  await wait(30)
  const born = Date.now()
  write(one, 3, born)
  await wait(30)
  write(two, 4, born)
  const { home } = await openTestHome(root, { ms: Date.now() })
  await home.history.ingest({ session: two })
  expect((await home.sessions.get(two))?.forked_from).toBeUndefined()
  await home.history.ingest()
  expect((await home.sessions.get(two))?.forked_from).toEqual({ session: one, turn: 3 })
  expect((await home.sessions.get(one))?.forked_from).toBeUndefined()
  await home[Symbol.asyncDispose]()
})
