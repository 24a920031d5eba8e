import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ensureDaemon } from '../../src/daemon/index.js'
import { LogIntake } from '../../src/daemon/intake/log-intake.js'
import { BINARY, run } from '../cli/binary.js'
import { scratchHome, until } from './scratch.js'

const FRAGILE = join(import.meta.dirname, '..', 'workers', 'fragile-intake.mjs')

function begun(how: 'die' | 'hang'): { intake: LogIntake; said: string[] } {
  const said: string[] = []
  const ending = new AbortController()
  const intake = new LogIntake({
    argv: [FRAGILE, how, '/logs/good-1.jsonl', '/logs/bad.jsonl', '/logs/good-2.jsonl'],
    home: { path: tmpdir(), inode: undefined },
    signal: ending.signal,
    say: (line) => said.push(line),
    stuckMs: 300,
    backOffMs: 10,
  })
  const running = intake.run()
  onTestFinished(async () => {
    ending.abort()
    await running
  })
  return { intake, said }
}

describe('a log that', () => {
  it.each(['die', 'hang'] as const)(
    'makes its reader %s is named and passed over; the others are read',
    async (how) => {
      const { intake, said } = begun(how)
      await until(() => intake.state.state === 'waiting')
      const { set_aside, restarts } = intake.state
      expect(set_aside.map(({ path }) => path)).toEqual(['/logs/bad.jsonl'])
      expect(set_aside[0]?.reason).toMatch(how === 'die' ? /SIGABRT/ : /hung/)
      expect(restarts).toBe(2)
      expect(said.at(-1)).toContain('/logs/bad.jsonl is skipped')
    },
    60_000,
  )
})

const SESSION = '11111111-1111-4111-8111-111111111111'
const line = (n: number): string =>
  `${JSON.stringify({
    ...{ type: 'user', uuid: `u${n}`, parentUuid: n === 1 ? null : `u${n - 1}`, sessionId: SESSION, cwd: '/srv' },
    ...{ timestamp: new Date(1_790_000_000_000 + n).toISOString(), message: { role: 'user', content: `prompt ${n}` } },
  })}\n`

interface Health {
  pid: number
  event_loop: { max_ms: number; p99_ms: number }
  ingest: { state: string; restarts: number; set_aside: unknown[] }
}

it('the daemon has logs read by another process, and has it started again when it was killed', async () => {
  const { root, access } = scratchHome()
  const log = join(root, 'user', '.claude', 'projects', '-srv', `${SESSION}.jsonl`)
  mkdirSync(dirname(log), { recursive: true })
  writeFileSync(log, line(1))
  const env = { ...access.env, HOME: join(root, 'user'), SKEIN_HOME: root }
  const { client } = await ensureDaemon({ ...access, env })
  const health = async (): Promise<Health> => (await client.get('/v1/health')) as Health
  const turns = async (): Promise<number> => {
    const { stdout } = await run(process.execPath, [BINARY, 'turns', SESSION, '--json'], {
      env: { PATH: process.env.PATH ?? '', HOME: join(root, 'user'), SKEIN_HOME: root },
    })
    return stdout === '' ? 0 : ((JSON.parse(stdout).turns as unknown[] | undefined)?.length ?? 0)
  }
  await until(async () => (await health()).ingest.state === 'waiting')
  await until(async () => (await turns()) === 1)
  const children = readFileSync(`/proc/${client.record.pid}/task/${client.record.pid}/children`, 'utf8')
  const reader = Number(children.trim().split(' ')[0])
  process.kill(reader, 'SIGKILL')
  await until(async () => (await health()).ingest.restarts === 1)
  appendFileSync(log, line(2))
  await until(async () => (await health()).ingest.state === 'waiting')
  await until(async () => (await turns()) === 2)
  const now = await health()
  expect(now).toMatchObject({ pid: client.record.pid, ingest: { set_aside: [] } })
  expect(now.event_loop.max_ms).toBeGreaterThanOrEqual(0)
}, 120_000)
