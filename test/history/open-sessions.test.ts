import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type RunningProcess, runningProcesses, startTimeOf } from '../../src/disk/index.js'
import { OpenSessions } from '../../src/history/open-sessions.js'
import type { FoundSession } from '../../src/ingest/index.js'
import { instantOf, parseSessionId } from '../../src/model/index.js'
import { openTestHome, scratch } from '../home/scratch.js'

const LOG = join(import.meta.dirname, '..', 'fixtures', 'claude', '2.1.325', 'print-5turns-resumed.jsonl')
const ID = '22222222-2222-4222-8222-222222222222'
const HOUR = 3_600_000
/** When the last record of the log was written. */
const LAST_MS = Math.max(
  ...[...readFileSync(LOG, 'utf8').matchAll(/"timestamp":"([^"]+)"/g)].map(([, at]) => Date.parse(at ?? '')),
)

/** A home beside a log of Claude Code. */
function withLog(text = readFileSync(LOG, 'utf8')): { root: string; log: string } {
  const root = scratch()
  const log = join(root, '.claude', 'projects', '-srv', `${ID}.jsonl`)
  mkdirSync(dirname(log), { recursive: true })
  writeFileSync(log, text)
  return { root, log }
}

function register(root: string, entry: Record<string, unknown>): string {
  const path = join(root, '.claude', 'sessions', `${entry.pid}.json`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify({ sessionId: ID, kind: 'interactive', ...entry }))
  return path
}

it('a session that its log told of first takes its place in a chain when it is said which one it continues', async () => {
  const { root } = withLog()
  const { home } = await openTestHome(root, { ms: LAST_MS + 1_000 })
  await home.history.ingest()
  expect(await home.sessions.get(ID)).toMatchObject({ source: 'log', chain_id: ID })
  const first = await home.sessions.start({ agent: 'worker', tool: 'claude' })
  await home.sessions.start({ id: ID, agent: 'worker', parent_id: first.id, link: 'clear', mayExist: true })
  expect(await home.sessions.get(ID)).toMatchObject({ parent_id: first.id, link: 'clear', chain_id: first.id })
  expect(await home.sessions.get(first.id)).toMatchObject({ outcome: 'clear', child_id: ID })
})

describe('a session of Claude Code that was run outside', () => {
  it('is left to the agent that took it up: no look at logs ends it', async () => {
    const { root } = withLog()
    const { home } = await openTestHome(root, { ms: LAST_MS + HOUR })
    await home.history.ingest()
    await home.roster.add({ address: 'web/shop', tool: 'claude' })
    await home.sessions.start({ id: ID, agent: 'web/shop', mayExist: true })
    await home.sessions.start({ id: ID, resume: true })
    writeFileSync(join(root, '.claude', 'projects', '-srv', `${ID}.jsonl`), `${readFileSync(LOG, 'utf8')}{}\n`)
    await home.history.ingest()
    const held = await home.sessions.find(ID)
    expect(held).toMatchObject({ source: 'log', agent: 'web/shop' })
    expect(held).not.toHaveProperty('outcome')
  })

  it('is active while its log has just grown, and over at the next look after that, without any change of the log', async () => {
    const { root } = withLog()
    const clock = { ms: LAST_MS + 1_000 }
    const { home } = await openTestHome(root, clock)
    await home.history.ingest()
    const found = await home.sessions.find(ID)
    expect(found).toMatchObject({ source: 'log' })
    expect(found).not.toHaveProperty('outcome')
    clock.ms = LAST_MS + 3 * 60_000
    await home.history.ingest()
    expect(await home.sessions.find(ID)).toMatchObject({
      outcome: 'exit',
      reason: 'no process has it open',
      ended_at: instantOf(LAST_MS),
    })
    await home[Symbol.asyncDispose]()
  })

  it('is active for as long as the process that registered it lives, however quiet its log is', async () => {
    const { root } = withLog()
    const child = spawn('sleep', ['1000'], { stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    const pid = child.pid ?? 0
    const path = register(root, { pid, procStart: String(startTimeOf(pid)), entrypoint: 'sdk-cli' })
    const clock = { ms: LAST_MS + 5 * HOUR }
    const { home } = await openTestHome(root, clock)
    await home.history.ingest()
    expect(await home.sessions.find(ID)).not.toHaveProperty('outcome')
    // The same number, another process: what is left behind by a kill -9 proves nothing.
    register(root, { pid, procStart: '1', entrypoint: 'cli' })
    await home.history.ingest()
    expect(await home.sessions.find(ID)).toMatchObject({ outcome: 'exit' })
    rmSync(path)
    await home[Symbol.asyncDispose]()
  })

  it('that was cut in the middle of a turn is lost, not left', async () => {
    const lines = readFileSync(LOG, 'utf8').trimEnd().split('\n')
    const lastPrompt = lines.findLastIndex((line) => /"type":"user"/.test(line) && !line.includes('tool_result'))
    const { root } = withLog(`${lines.slice(0, lastPrompt + 1).join('\n')}\n`)
    const { home } = await openTestHome(root, { ms: LAST_MS + HOUR })
    await home.history.ingest()
    expect(await home.sessions.find(ID)).toMatchObject({ outcome: 'lost' })
    await home[Symbol.asyncDispose]()
  })

  it('goes on when its log grows again', async () => {
    const { root, log } = withLog()
    const clock = { ms: LAST_MS + HOUR }
    const { home } = await openTestHome(root, clock)
    await home.history.ingest()
    expect(await home.sessions.find(ID)).toMatchObject({ outcome: 'exit' })
    const later = instantOf(clock.ms)
    const last =
      readFileSync(log, 'utf8')
        .trimEnd()
        .split('\n')
        .findLast((line) => line.includes('"type":"user"')) ?? ''
    const next = last
      .replace(/"timestamp":"[^"]+"/, `"timestamp":"${later}"`)
      .replace(/"uuid":"[^"]+"/, `"uuid":"${ID}"`)
    writeFileSync(log, `${next}\n`, { flag: 'a' })
    await home.history.ingest()
    expect(await home.sessions.find(ID)).not.toHaveProperty('outcome')
    await home[Symbol.asyncDispose]()
  })
})

describe('a session of a tool that registers nothing', () => {
  const NOW = Date.parse('2026-11-16T10:00:00Z')
  const found = (name: string, minutesAgo: number, facts: Partial<FoundSession> = {}): FoundSession => ({
    id: parseSessionId(name),
    path: `/logs/${name}`,
    tool: 'codex',
    news: { cwd: '/srv/shop' },
    last_at: instantOf(NOW - minutesAgo * 60_000),
    last_turn: 'completed',
    ...facts,
  })
  const running = (minutesAgo: number, facts: Partial<RunningProcess> = {}): RunningProcess => ({
    pid: 4711,
    names: ['node', 'codex'],
    cwd: '/srv/shop',
    startedAtMs: NOW - minutesAgo * 60_000,
    ...facts,
  })
  const open = (sessions: FoundSession[], ...processes: RunningProcess[]): string[] =>
    [...new OpenSessions({ home: '/nowhere', env: {} }, NOW, () => processes).among(sessions)].sort()

  it('is open while a process of the tool that can have written it works in its directory', () => {
    expect(open([found('a', 60)], running(90))).toEqual(['a'])
    expect(open([found('a', 60)])).toEqual([])
    expect(open([found('a', 60)], running(90, { cwd: '/srv/other' }))).toEqual([])
    expect(open([found('a', 60)], running(90, { names: ['claude'] }))).toEqual([])
  })

  it('is not open because of a process that began after its last record', () => {
    expect(open([found('a', 60)], running(30))).toEqual([])
  })

  it('of several in one directory, as many as there are processes are open: those used last', () => {
    const three = [found('a', 60), found('b', 50), found('c', 40)]
    expect(open(three, running(90))).toEqual(['c'])
    expect(open(three, running(90), running(80, { pid: 4712 }))).toEqual(['b', 'c'])
  })

  it('is open while its log grows, by whomever: in a container no process is seen', () => {
    expect(open([found('a', 1)])).toEqual(['a'])
    expect(open([found('a', 1, { tool: 'opencode' }), found('b', 3, { tool: 'pi' })])).toEqual(['a'])
  })
})

it('a running program is seen with its name, its directory and its start', () => {
  const directory = scratch()
  mkdirSync(directory, { recursive: true })
  const program = join(directory, 'gemini')
  copyFileSync('/bin/sleep', program)
  symlinkSync(program, join(directory, 'link'))
  const child = spawn(program, ['1000'], { cwd: directory, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  const seen = runningProcesses().find(({ pid }) => pid === child.pid)
  expect(seen).toMatchObject({ cwd: directory })
  expect(seen?.names).toContain('gemini')
  expect(Math.abs((seen?.startedAtMs ?? 0) - Date.now())).toBeLessThan(HOUR)
})
