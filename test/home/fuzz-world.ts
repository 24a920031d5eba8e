import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { expect, onTestFinished } from 'vitest'
import { NoticeBook } from '../../src/daemon/notices/notice-book.js'
import { readRecord } from '../../src/daemon/record.js'
import { readSegment } from '../../src/daemon/statusline.js'
import { type Home, openHome } from '../../src/home/index.js'
import { openAgents } from '../../src/lifecycle/index.js'
import { type AgentId, SkeinError } from '../../src/model/index.js'
import { contextOf } from '../lifecycle/context.js'
import { fakeTool } from '../lifecycle/fake-tool.js'
import { profileDirectory } from './scratch.js'

export const SESSIONS = ['one', 'two', 'three', 'four', 'fork', 'old']
const AT = '2026-01-17T08:00:00.000Z'

async function open(root: string): Promise<Home> {
  return openHome({
    root,
    configFile: join(root, 'config.toml'),
    surroundings: { home: root, env: {}, zone: 'UTC' },
    context: contextOf([]),
  })
}

/** A home with at least one of every JSON file that Skein keeps. */
async function buildWorld(root: string): Promise<void> {
  const home = await open(root)
  const kim = await home.roster.add({ address: 'web/kim', tool: 'fake', role: 'crew' })
  const lee = await home.roster.add({ address: 'ops/night/lee', tool: 'codex', project_path: '/srv' })
  const gone = await home.roster.add({ address: 'gone', tool: 'claude' })
  await home.sessions.start({ id: 'old', started_at: AT as never })
  await home.sessions.end('old', { outcome: 'done', ended_at: AT as never })
  await home.sessions.archive({ olderThanDays: 1 })
  await home.sessions.start({ id: 'one', agent: 'web/kim', title: 'first', cwd: '/srv', commits: ['abc'] })
  await home.sessions.handoff('one', { id: 'two', subject: 'go on' })
  await home.sessions.step('two', { step_ref: 'build.1', state: 'started' })
  await home.sessions.step('two', { step_ref: 'build.1', state: 'completed' })
  await home.sessions.start({ id: 'three', agent: 'ops/night/lee', work_unit: 'w-1' })
  await home.sessions.start({ id: 'fork', forked_from: { session: 'one', turn: 2 } })
  await home.sessions.start({ id: 'four', parent_id: 'three', title: 'fourth' })
  await home.sessions.update('three', { branch: 'main', model: 'opus' })
  await home.events.append({ type: 'mail', agent: 'web/kim', payload: { subject: 'hello', to: 'lee' } })
  await home.events.append({ type: 'mail', payload: { body: 'x'.repeat(70_000) } })
  for (let n = 0; n < 60; n += 1) await home.events.append({ type: 'nudge', session: 'three', payload: { n } })
  await home.roster.rename('web/kim', 'kimi')
  await home.roster.remove(gone.id)
  await home.events.prune()
  await home[Symbol.asyncDispose]()
  const again = await open(root)
  await again.roster.update(lee.id, { role: 'witness' })
  await again[Symbol.asyncDispose]()
  const profile = profileDirectory(root)
  const write = (path: string, value: unknown): void => {
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, `${JSON.stringify(value)}\n`)
  }
  write(join(profile, 'agents', `${kim.id}.json`), runOf(kim.id, root))
  write(join(profile, 'agents', `${lee.id}.json`), { ...runOf(lee.id, root), run: undefined, archived_at: AT })
  write(join(profile, 'agents', 'removed', `${gone.id}.json`), { v: 1, agent: gone, run: runOf(gone.id, root) })
  write(join(root, 'run', 'default.json'), {
    v: 1,
    pid: 4_194_000,
    version: '0.1.0',
    api: 1,
    socket: '/x',
    started_at: AT,
  })
  write(join(root, 'run', 'default.notices.json'), { [kim.id]: 'waiting:1' })
  write(join(root, 'project-policies.json'), { '/srv/.skein/privacy.yaml': 'tools: {}' })
  const purges = [
    { kind: 'session', session: 'secret', logs: [{ path: '/x', part: '' }], n: 1, added_at: AT, finished: true },
    { kind: 'pattern', source: 'hunter2+', n: 2, added_at: AT, finished: true },
  ]
  write(join(root, 'purged.json'), { v: 1, generation: 2, purges })
  writeFileSync(join(root, 'config.toml'), '[daemon]\nautostart = false\n')
  mkdirSync(join(profile, 'spool'), { recursive: true })
  const header = JSON.stringify({ v: 1, agent: kim.id, run: 'r1', tool: 'fake', pid: 77 })
  for (const n of [1, 2])
    writeFileSync(join(profile, 'spool', `${n}.msg`), `${header}\n{"event":"stop","session":"one"}`)
}

function runOf(agent: AgentId, root: string): object {
  const evidence = { source: 'hook', at: AT, status: 'idle', rule: 'hook:Stop' }
  const run = { id: 'r1', socket: { path: join(root, 'no.sock') }, tmux_session: 'web/kim', pane: '%1', pid: 4_194_001 }
  return {
    v: 1,
    agent,
    recipe: { tool: 'fake', cwd: '/', args: ['--x'], env_names: [] },
    binding: { session: 'one', since: AT, how: 'chosen', is_confirmed: true, log: '/nowhere/one.jsonl' },
    run: { ...run, process_start: 5, started_at: AT, port: 4_000, how: 'new', ended_at: AT },
    status: { status: 'stopped', since: AT, source: 'process', reason: 'exited' },
    told: [evidence],
    sample: { ...evidence, source: 'pane' },
    requests: [{ id: 'q', tool: 'Bash', what: 'ls', kind: 'permission' }],
    background: { count: 1, at: AT },
    finished_at: AT,
  }
}

/** Every file of JSON in a home, by its place there. */
export function jsonFiles(root: string): string[] {
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(json|json\.bak(\.\d)?|gz|msg)$/.test(name) && statSync(join(root, name)).isFile())
    .map((name) => `/${name}`)
    .sort()
}

export const contentOf = (path: string): string =>
  path.endsWith('.gz') ? gunzipSync(readFileSync(path)).toString() : readFileSync(path, 'utf8')
export const put = (path: string, text: string): void =>
  writeFileSync(path, path.endsWith('.gz') ? gzipSync(text) : Buffer.from(text))

/** Everything that looks at a home, and one change. What a user can be told is told; anything else is our fault. */
async function useEverything(root: string): Promise<string[]> {
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error
      return undefined
    }
  }
  const home = await open(root)
  try {
    const { sessions } = await home.sessions.query({ limit: 1_000 })
    for (const { id } of sessions) await attempt(() => home.sessions.tree(id))
    await attempt(() => home.sessions.chain('one'))
    const shown = [
      await home.roster.agents(),
      await home.roster.groups(),
      await home.events.read(),
      await home.events.feed(),
      await home.events.stats(),
      await home.events.decay(),
      await home.index.check(),
    ]
    expect(JSON.stringify(shown).length).toBeGreaterThan(0)
    const agents = openAgents({
      home,
      context: contextOf([]),
      environment: { home: root, env: { PATH: process.env.PATH ?? '' } },
      socket: { path: join(root, 'no.sock') },
      runners: [fakeTool()],
    })
    await attempt(() => agents.list())
    await attempt(() => agents.undoRemove(undefined))
    await agents[Symbol.asyncDispose]()
    const place = { record: join(root, 'run', 'default.json'), statusline: join(root, 'run', 'default.statusline') }
    readRecord(place)
    readSegment(place, profileDirectory(root))
    new NoticeBook(join(root, 'run', 'default.notices.json')).isNew('x' as AgentId, 'y')
    await attempt(() => home.sessions.start({ id: 'fresh', title: 'after' }))
    await attempt(() => home.sessions.update('three', { branch: 'other' }))
    await attempt(() => home.roster.update('ops/night/lee', { role: 'lead' }))
    await attempt(() => home.events.prune({ auto: true }))
    return (await home.sessions.query({ limit: 1_000 })).sessions.map(({ id }) => id)
  } finally {
    await home[Symbol.asyncDispose]()
  }
}

export interface World {
  root: string
  /** As it was built. */
  pristine: string
}

/** In memory where there is such a place: thousands of homes are written. */
export async function world(): Promise<World> {
  const base = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'skein-fuzz-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const pristine = join(base, 'pristine')
  await buildWorld(pristine)
  return { pristine, root: join(base, 'home') }
}

export function renewed({ root, pristine }: World): void {
  rmSync(root, { recursive: true, force: true })
  cpSync(pristine, root, { recursive: true })
}

export const forget = (root: string, ...names: string[]): void => {
  for (const name of names) rmSync(join(profileDirectory(root), name), { recursive: true, force: true })
}

/** The round is the seed: what it did is in the message. */
export async function lookAt(here: World, round: number, done: readonly string[]): Promise<string[]> {
  try {
    return await useEverything(here.root)
  } catch (error) {
    throw new Error(`round ${round}: ${done.join(', ')}: ${(error as Error).stack}`)
  }
}
