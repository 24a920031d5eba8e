import { createHash } from 'node:crypto'
import { mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openTestHome, scratch } from '../home/scratch.js'

const SESSION = 'aaaaaaaa-0000-4000-8000-000000000001'
const sha256 = (path: string): string => createHash('sha256').update(path).digest('hex')

/** A user whose Gemini CLI kept a session of `directory` in a folder that is named after the hash of it alone. */
function withHashed(root: string, directory: string): string {
  const path = join(root, '.gemini', 'tmp', sha256(directory), 'chats', 'session-2026-01-01T00-00-aaaaaaaa.json')
  const call = {
    id: 'c1',
    name: 'run_shell_command',
    args: { command: 'make octopus' },
    status: 'success',
    timestamp: '2026-01-01T00:00:02.000Z',
    result: [],
  }
  const messages = [
    { id: '1', timestamp: '2026-01-01T00:00:01.000Z', type: 'user', content: 'hello' },
    { id: '2', timestamp: '2026-01-01T00:00:02.000Z', type: 'gemini', content: 'hi', toolCalls: [call] },
  ]
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify({ sessionId: SESSION, startTime: '2026-01-01T00:00:00.000Z', messages }))
  return path
}

describe("a session in one of Gemini's hashed folders", () => {
  it('has the directory of an agent, whose symbolic links are resolved', async () => {
    const root = scratch()
    const real = join(root, 'src', 'shop')
    mkdirSync(real, { recursive: true })
    symlinkSync(real, join(root, 'link'))
    withHashed(root, realpathSync(real))
    const { home } = await openTestHome(root)
    await home.roster.add({ address: 'shop', tool: 'gemini', project_path: join(root, 'link') })
    await home.history.ingest()
    expect(await home.sessions.get(SESSION)).toMatchObject({ cwd: realpathSync(real) })
    await home[Symbol.asyncDispose]()
  })

  it('gets it when the directory becomes known later, with the privacy policy of that directory', async () => {
    const root = scratch()
    const project = join(root, 'shop')
    mkdirSync(join(project, '.skein'), { recursive: true })
    writeFileSync(join(project, '.skein', 'privacy.yaml'), 'tools:\n  "*":\n    arguments: none\n    result: none\n')
    withHashed(root, project)
    const { home } = await openTestHome(root)
    await home.history.ingest()
    expect((await home.sessions.get(SESSION))?.cwd).toBeUndefined()
    expect((await home.history.search({ text: 'octopus' })).hits).toHaveLength(1)
    await home.roster.add({ address: 'shop', tool: 'claude', project_path: project })
    await home.history.ingest()
    expect(await home.sessions.get(SESSION)).toMatchObject({ cwd: project })
    expect((await home.history.search({ text: 'octopus' })).hits).toHaveLength(0)
    expect(await home.history.counts(SESSION)).toMatchObject({ turns: 1, tool_calls: 1 })
    await home[Symbol.asyncDispose]()
  })

  it('gets it from a log of another tool that is read in the same run, whatever the order', async () => {
    const root = scratch()
    withHashed(root, '/srv/shop')
    const log = join(root, '.claude', 'projects', '-srv-shop', '22222222-2222-4222-8222-222222222222.jsonl')
    mkdirSync(dirname(log), { recursive: true })
    const said = { role: 'user', content: 'hello' }
    const common = { sessionId: '22222222-2222-4222-8222-222222222222', cwd: '/srv/shop', uuid: 'u1' }
    writeFileSync(
      log,
      `${JSON.stringify({ type: 'user', ...common, timestamp: '2026-02-01T00:00:00.000Z', message: said })}\n`,
    )
    const { home } = await openTestHome(root)
    await home.history.ingest()
    expect(await home.sessions.get(SESSION)).toMatchObject({ cwd: '/srv/shop' })
    await home[Symbol.asyncDispose]()
  })

  it('gets it also when its log is gone by then, and none that has another hash', async () => {
    const root = scratch()
    const log = withHashed(root, '/srv/shop')
    const { home } = await openTestHome(root)
    await home.history.ingest()
    rmSync(log)
    await home.roster.add({ address: 'other', tool: 'claude', project_path: '/srv/other' })
    await home.history.ingest()
    expect((await home.sessions.get(SESSION))?.cwd).toBeUndefined()
    await home.sessions.start({ id: 'made-by-hand', cwd: '/srv/shop', tool: 'claude' })
    await home.history.ingest()
    expect(await home.sessions.get(SESSION)).toMatchObject({ cwd: '/srv/shop' })
    expect((await home.history.turns(SESSION)).turns).toHaveLength(1)
    await home[Symbol.asyncDispose]()
  })
})
