import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { ensureDaemon, stopDaemon } from '../../src/daemon/index.js'
import type { Snapshot } from '../../src/home/index.js'
import { instantOf, parseSessionId } from '../../src/model/index.js'
import { Herd } from './herd.js'
import { pause, until } from './scratch.js'
import { working } from './working-agent.js'

const IDENTITY = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']

/** A repository with one commit that goes away with the test. */
function repository(): string {
  const root = mkdtempSync(join(tmpdir(), 'skein-captured-'))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  writeFileSync(join(root, 'a.txt'), 'one\n')
  const env = { PATH: process.env.PATH, HOME: root, GIT_CONFIG_NOSYSTEM: '1' }
  for (const args of [
    ['init', '-q'],
    ['add', 'a.txt'],
    [...IDENTITY, 'commit', '-qm', 'one'],
  ])
    execFileSync('git', args, { cwd: root, env })
  return root
}

const taken = (herd: Herd, session: string, count: number): Promise<Snapshot[]> =>
  until(async () => {
    const snapshots = await herd.home.snapshots.list(session)
    return snapshots.length >= count && snapshots
  })

const SESSION = '11111111-1111-4111-8111-111111111111'

it('captures the code at every prompt and every end of a turn, without anybody waiting for it', async () => {
  const herd = await Herd.make()
  const root = repository()
  const toast = await working(herd, 'web/toast', { cwd: root, session: SESSION, args: ['--token', 'hunter2hunter2'] })
  await ensureDaemon(herd.access)
  herd.says(toast, { hook_event_name: 'UserPromptSubmit', prompt: 'go', permission_mode: 'plan' })
  const [prompt] = await taken(herd, SESSION, 1)
  writeFileSync(join(root, 'a.txt'), 'one\ntwo\n')
  writeFileSync(join(root, 'new.txt'), 'new\n')
  herd.finishes(toast)
  const [, stop] = await taken(herd, SESSION, 2)
  if (!prompt || !stop) throw new Error('a snapshot is missing')
  expect([prompt.moment, stop.moment, prompt.exact, stop.exact]).toEqual(['prompt', 'stop', true, true])
  expect(prompt.start).toMatchObject({ tool: 'claude', permission_mode: 'plan', settings_hash: expect.any(String) })
  expect(JSON.stringify(prompt.start)).not.toContain('hunter2')
  expect(await herd.home.snapshots.changes(prompt, stop)).toEqual([
    { path: 'a.txt', status: 'changed', added: 1, removed: 0 },
    { path: 'new.txt', status: 'added', added: 1, removed: 0 },
  ])
  // A question that is answered in the middle of a turn begins no other.
  await pause(2_100)
  herd.works(toast)
  await taken(herd, SESSION, 3)
  execFileSync('git', [...IDENTITY, 'commit', '-qam', 'two'], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: root },
  })
  herd.asks(toast)
  await until(async () => (await herd.statusOf(toast))?.status === 'waiting')
  herd.says(toast, { hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } })
  await until(async () => (await herd.statusOf(toast))?.status === 'running')
  herd.finishes(toast)
  const all = await taken(herd, SESSION, 4)
  expect(all.map(({ moment }) => moment)).toEqual(['prompt', 'stop', 'prompt', 'stop'])
  // What was committed in a turn belongs to the session.
  await until(async () => (await herd.home.sessions.get(SESSION))?.commits?.includes(all[3]?.head ?? ''))
}, 60_000)

it('a daemon that was killed during a turn leaves its end to the next one, which marks what it cannot know', async () => {
  const herd = await Herd.make()
  const root = repository()
  const toast = await working(herd, 'web/toast', { cwd: root, session: SESSION, args: ['--token', 'hunter2hunter2'] })
  const { client } = await ensureDaemon(herd.access)
  herd.works(toast)
  await taken(herd, SESSION, 1)
  const { pid } = (await client.get('/v1/health')) as { pid: number }
  process.kill(pid, 'SIGKILL')
  writeFileSync(join(root, 'a.txt'), 'changed in the turn\n')
  const endedMs = Date.now() + 50
  await pause(100)
  herd.says(toast, { hook_event_name: 'Stop' }, endedMs)
  await pause(100)
  writeFileSync(join(root, 'later.txt'), 'a person\n')
  await ensureDaemon(herd.access)
  const [, stop] = await taken(herd, SESSION, 2)
  expect(stop).toMatchObject({ moment: 'stop', exact: false, late: ['later.txt'] })
  expect(Date.parse(stop?.as_of ?? '')).toBeLessThanOrEqual(endedMs + 1)
  // Once more nothing is new.
  await stopDaemon(herd.access)
  await ensureDaemon(herd.access)
  await pause(1_000)
  expect(await herd.home.snapshots.list(SESSION)).toHaveLength(2)
}, 60_000)

it('a turn that is cut off by a handoff ends there: what a person writes later is not its work', async () => {
  const herd = await Herd.make()
  const root = repository()
  const toast = await working(herd, 'web/toast', { cwd: root, session: SESSION })
  await ensureDaemon(herd.access)
  herd.works(toast)
  await taken(herd, SESSION, 1)
  writeFileSync(join(root, 'a.txt'), 'one\ntwo\n')
  const next = '22222222-2222-4222-8222-222222222222'
  await herd.home.sessions.start({ id: next, agent: 'web/toast' })
  await herd.runs.update(toast, (run) => {
    if (!run?.binding) return undefined
    const binding = { ...run.binding, session: parseSessionId(next), since: instantOf(Date.now()) }
    return { next: { ...run, binding }, result: undefined }
  })
  const [, stop] = await taken(herd, SESSION, 2)
  expect(stop?.moment).toBe('stop')
  writeFileSync(join(root, 'person.txt'), 'mine\n')
  await pause(2_100)
  herd.works(toast)
  await taken(herd, next, 1)
  const writers = async (name: string) => (await herd.home.history.blame(join(root, name))).writers
  expect(await writers('person.txt')).toMatchObject([{ kind: 'edit' }])
  expect(await writers('a.txt')).toEqual(
    expect.arrayContaining([expect.objectContaining({ kind: 'turn', session: SESSION })]),
  )
}, 60_000)

it('keeps no code of a group whose settings say so, and goes on with others', async () => {
  const herd = await Herd.make()
  herd.settings('[notify]\nby = []\n[groups.secret]\nsnapshots = false\n')
  const [hidden, open] = [repository(), repository()]
  const other = '22222222-2222-4222-8222-222222222222'
  const spy = await working(herd, 'secret/spy', { cwd: hidden, session: SESSION, args: ['--token', 'hunter2hunter2'] })
  const toast = await working(herd, 'web/toast', { cwd: open, session: other, args: ['--token', 'hunter2hunter2'] })
  await ensureDaemon(herd.access)
  herd.works(spy)
  herd.works(toast)
  await taken(herd, other, 1)
  herd.finishes(spy)
  herd.finishes(toast)
  await taken(herd, other, 2)
  expect(await herd.home.snapshots.list(SESSION)).toEqual([])
}, 60_000)

it('an agent whose program dies in the middle of a turn leaves what it had done', async () => {
  const herd = await Herd.make()
  const root = repository()
  const toast = await working(herd, 'web/toast', { cwd: root, session: SESSION, args: ['--token', 'hunter2hunter2'] })
  await ensureDaemon(herd.access)
  herd.works(toast)
  await taken(herd, SESSION, 1)
  writeFileSync(join(root, 'a.txt'), 'half done\n')
  process.kill((await herd.runs.read(toast.id))?.run?.pid ?? 0, 'SIGKILL')
  const [prompt, stop] = await taken(herd, SESSION, 2)
  if (!prompt || !stop) throw new Error('a snapshot is missing')
  expect(stop.moment).toBe('stop')
  expect(await herd.home.snapshots.changes(prompt, stop)).toHaveLength(1)
  expect(instantOf(Date.parse(stop.as_of)) > prompt.as_of).toBe(true)
}, 60_000)
