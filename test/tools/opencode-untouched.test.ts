import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { copyFileSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WatchedLogs } from '../../src/history/watched-logs.js'
import type { SessionId } from '../../src/model/index.js'
import { type Fact, foldSession, type LogRef, type Resume } from '../../src/tools/index.js'
import { scratchDirectory, toolNamed } from './log-file.js'

const opencode = toolNamed('opencode')
const RECORDED = join(import.meta.dirname, '..', 'fixtures', 'opencode', '1.18.33', 'opencode.db')
const WRITER = join(import.meta.dirname, '..', 'workers', 'write-opencode.mjs')
const SESSION = 'ses_e2154c061ffelF6LcwRvU0kKwo' as SessionId

/** opencode's part: another process, because SQLite shares its memory among the connections of one. */
async function running(): Promise<{
  path: string
  write: (sql: string) => Promise<void>
  close: () => Promise<void>
  kill: () => Promise<void>
}> {
  const path = join(scratchDirectory(), 'opencode.db')
  copyFileSync(RECORDED, path)
  const child = spawn(process.execPath, [WRITER, path], { stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return {
    path,
    async write(sql) {
      const done = once(child.stdout, 'data')
      child.stdin.write(`${sql}\n`)
      await done
    },
    async close() {
      child.stdin.end()
      await once(child, 'exit')
    },
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

/** Every file of a directory: its bytes and the moment it was changed. */
function look(path: string): string[] {
  return readdirSync(dirname(path)).map((name) => {
    const file = join(dirname(path), name)
    const { mtimeNs, size, ino } = statSync(file, { bigint: true })
    return `${name} ${ino} ${size} ${mtimeNs} ${createHash('sha1').update(readFileSync(file)).digest('hex')}`
  })
}

const ask = (id: string, at: number): string => {
  const message = JSON.stringify({ role: 'user', time: { created: at } })
  const part = JSON.stringify({ type: 'text', text: `prompt ${id}` })
  return `insert into message values ('${id}', '${SESSION}', ${at}, ${at}, '${message}');
    insert into part values ('prt_${id}', '${id}', '${SESSION}', ${at}, ${at}, '${part}');
    update session set time_updated = ${at} where id = '${SESSION}'`.replaceAll('\n', ' ')
}

function logOf(path: string): LogRef {
  const log = opencode.logAt(path, SESSION)
  if (!log) throw new Error('no log')
  return log
}

const promptsIn = (path: string): string[] =>
  foldSession([[...opencode.read(logOf(path))]]).turns.map(({ prompt }) => prompt)

const NOW = 1_794_800_000_000

describe('reading the database of opencode', () => {
  it('changes no byte and no time of any of its files, whoever has it open', async () => {
    const { path, write, kill, close: _ } = await running()
    const untouched = (): string[] => {
      const before = look(path)
      const prompts = promptsIn(path)
      opencode.identify(logOf(path))
      expect(look(path)).toEqual(before)
      return prompts
    }
    const recorded = untouched()
    await write(ask('msg_one', NOW))
    expect(untouched()).toEqual([...recorded, 'prompt msg_one']) // it is in the log alone
    await write('pragma wal_checkpoint(truncate)')
    expect(untouched()).toHaveLength(recorded.length + 1)
    await write(ask('msg_two', NOW + 1))
    await kill()
    expect(untouched()).toHaveLength(recorded.length + 2)
  })

  it('makes no file beside one that its program has closed', async () => {
    const { path, write, close } = await running()
    await write(ask('msg_one', NOW))
    await close()
    const before = look(path)
    expect(before).toHaveLength(1)
    expect(promptsIn(path)).toContain('prompt msg_one')
    expect(look(path)).toEqual(before)
  })

  it('says so when only its program could read the log beside it', async () => {
    const { path, write, kill } = await running()
    await write(ask('msg_one', NOW))
    await kill()
    rmSync(`${path}-shm`)
    const before = look(path)
    const [log] = opencode.logsIn?.(path) ?? []
    expect(() => [...opencode.read(log as LogRef)]).toThrow(/no shared memory/)
    expect(look(path)).toEqual(before)
  })

  it('wakes nobody who watches it; what opencode writes does', async () => {
    const { path, write } = await running()
    await using watched = new WatchedLogs('/nowhere')
    watched.watch([logOf(path)])
    const { signal } = new AbortController()
    for (let reading = 0; reading < 5; reading += 1) promptsIn(path)
    expect(await watched.next(1_500, signal)).toEqual([])
    await write(ask('msg_one', NOW))
    const noticed = await watched.next(30_000, signal)
    expect(noticed).toContainEqual(logOf(path))
    promptsIn(path)
    expect(await watched.next(1_500, signal)).toEqual([])
  })
})

/** A message that changed is counted each time it is read. */
function withoutCounts(facts: readonly Fact[]): object {
  const { counters: _, ...session } = foldSession([facts])
  return session
}

it('a session of opencode is told the same in slices, from any of their ends on, also when it changed meanwhile', async () => {
  const { path, write } = await running()
  for (let n = 0; n < 12; n += 1) await write(ask(`msg_${String(n).padStart(2, '0')}`, NOW + n))
  const whole = foldSession([[...opencode.read(logOf(path))]])
  const sliced = [...opencode.read(logOf(path), { checkpointBytes: 100 })]
  expect(foldSession([sliced])).toEqual(whole)
  const ends = sliced.flatMap((fact, at) =>
    fact.kind === 'checkpoint' ? [{ at, resume: JSON.stringify(fact.resume) }] : [],
  )
  expect(ends.length).toBeGreaterThan(5)
  await write(ask('msg_99', NOW + 99))
  await write(`update message set time_updated = ${NOW + 100} where id = 'msg_03'`)
  const now = withoutCounts([...opencode.read(logOf(path))])
  for (const { at, resume } of ends) {
    const rest = [...opencode.read(logOf(path), { from: JSON.parse(resume) as Resume })]
    expect(rest.some((fact) => fact.kind === 'restart')).toBe(false)
    expect(withoutCounts([...sliced.slice(0, at), ...rest])).toEqual(now)
  }
})
