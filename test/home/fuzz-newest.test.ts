import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openHome } from '../../src/home/index.js'
import { BudgetBook } from '../../src/lifecycle/budget/budget-book.js'
import { openAgents } from '../../src/lifecycle/index.js'
import { CapturedTurns } from '../../src/lifecycle/turns/captured-edges.js'
import { commitTurns, pushTurns } from '../../src/lifecycle/turns/commit-turns.js'
import { TurnBranches } from '../../src/lifecycle/turns/turn-branch.js'
import { type AgentId, type Instant, type SessionId, SkeinError } from '../../src/model/index.js'
import { contextOf } from '../lifecycle/context.js'
import { fakeTool } from '../lifecycle/fake-tool.js'
import { mutated } from '../support/mutations.js'
import { FUZZ_SEED, generator } from '../support/random.js'

/** More rounds, and others, by SKEIN_FUZZ_ROUNDS and SKEIN_FUZZ_SEED. */
const ROUNDS = Number(process.env.SKEIN_FUZZ_ROUNDS) || 10
const FIRST_SEED = FUZZ_SEED || 120_036
const SESSION = 'one' as SessionId
const CONFIG = `[daemon]
autostart = false
[turns]
commit = true
push = true
[roles]
preset = "gastown"
root = "/srv/town"
[roles.crew]
shutdown_order = 3
`

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd, encoding: 'utf8' }).trim()

async function open(root: string) {
  const surroundings = { home: root, env: { PATH: process.env.PATH ?? '', HOME: root }, zone: 'UTC' }
  const context = contextOf([])
  const home = await openHome({ root, configFile: join(root, 'config.toml'), surroundings, context })
  const agents = openAgents({
    home,
    context,
    environment: { home: root, env: surroundings.env },
    socket: { path: join(root, 'no.sock') },
    runners: [fakeTool()],
  })
  return { home, agents }
}

/** A home with snapshots, a branch of turns, budgets, a checkpoint, the note of a fork that was cut off and what retention did. */
async function build(root: string): Promise<AgentId> {
  const project = join(root, 'project')
  mkdirSync(project, { recursive: true })
  git(project, 'init', '-q', '-b', 'main')
  writeFileSync(join(project, 'a.txt'), 'a\n')
  git(project, 'add', '.')
  git(project, 'commit', '-q', '-m', 'first')
  execFileSync('git', ['init', '-q', '--bare', join(root, 'origin.git')])
  git(project, 'remote', 'add', 'origin', join(root, 'origin.git'))
  writeFileSync(join(root, 'config.toml'), CONFIG)
  const { home, agents } = await open(root)
  const { id } = await home.roster.add({ address: 'web/kim', tool: 'fake', project_path: project })
  await home.sessions.start({ id: SESSION, agent: 'web/kim', cwd: project })
  await home.sessions.start({ id: 'two', title: 'second' })
  for (const moment of ['prompt', 'stop'] as const) {
    writeFileSync(join(project, 'b.txt'), `${moment}\n`)
    await home.snapshots.capture({ directory: project, session: SESSION, moment })
  }
  // As after a moment in which nothing was written.
  for (const store of readdirSync(home.paths.snapshots).filter((name) => name.endsWith('.git')))
    writeFileSync(join(home.paths.snapshots, store, 'skein/pins.json'), '{"v":1,"packs":[],"loose":{"ab":1}}')
  const made = await home.snapshots.makeBranch(project, 'skein/session/fuzz')
  const since = new Date(0).toISOString() as Instant
  const branches = new TurnBranches(home.paths.agents)
  branches.write(id, { v: 1, branch: made.branch, directory: project, since, done: {}, turns: 0 })
  await commitTurns(home, id, SESSION, () => Date.now())
  await pushTurns(home, id, () => Date.now())
  await agents.writeCheckpoint('web/kim', { notes: 'half way' })
  const captured = new CapturedTurns(home.paths.snapshots)
  captured.set(id, { prompt: since, stop: since })
  captured.save(() => true)
  await new BudgetBook(home).set({
    target: { kind: 'all' },
    per: 'day',
    hard: { tokens: 1_000_000 },
    set_at: since,
    set_by: 'ada',
  })
  await home.events.prune({ auto: true })
  mkdirSync(join(home.paths.agents, 'forks'), { recursive: true })
  const note = {
    v: 1,
    id: 'gone',
    pid: 4_194_001,
    process_start: 5,
    directory: join(root, 'no-tree'),
    files: [join(root, 'no-log')],
  }
  const sum = createHash('sha256').update(JSON.stringify(note)).digest('hex')
  writeFileSync(join(home.paths.agents, 'forks', 'gone.json'), JSON.stringify({ ...note, sum }))
  await agents[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
  return id
}

/** All that reads or writes these files. What a user can be told is told; anything else is our fault. */
async function useAll(root: string, id: AgentId, did: string[]): Promise<string[]> {
  const { home, agents } = await open(root)
  const attempt = async (what: string, work: () => Promise<unknown>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof SkeinError)) throw new Error(`${what}: ${(error as Error).stack}`)
      did.push(what)
    }
  }
  const project = join(root, 'project')
  const now = (): number => Date.now()
  try {
    await attempt('list', () => agents.list({ all: true }))
    await attempt('why', () => agents.why('web/kim'))
    await attempt('checkpoint', () => agents.readCheckpoint('web/kim'))
    await attempt('roles', () => home.programs.roles())
    await attempt('turns', () => home.programs.turns('web' as never))
    await attempt('budgets', async () => new BudgetBook(home).read())
    writeFileSync(join(project, 'b.txt'), 'after\n')
    await attempt('captured', async () => new CapturedTurns(home.paths.snapshots).save(() => true))
    await attempt('capture', () => home.snapshots.capture({ directory: project, session: SESSION, moment: 'stop' }))
    await attempt('commit', () => commitTurns(home, id, SESSION, now))
    await attempt('push', () => pushTurns(home, id, now))
    await attempt('snapshots', () => home.snapshots.list(SESSION))
    await attempt('stats', () => home.snapshots.stats())
    await attempt('verify', () => home.snapshots.verify({ full: false }))
    await attempt('collect', () => home.snapshots.collect({ onlyDue: false }))
    await attempt('coded turns', () => home.history.codedTurns(SESSION))
    await attempt('prune', () => home.events.prune({ auto: true }))
    await attempt('retention', () => home.events.stats())
    return (await home.sessions.query({ limit: 100 })).sessions.map((one) => one.id)
  } finally {
    await agents[Symbol.asyncDispose]()
    await home[Symbol.asyncDispose]()
  }
}

/** Files of Skein's own, in the profile and in the stores of snapshots; objects of git are git's. */
const own = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((name) => /(^config\.toml|\.json|refs\/skein\/.*\/\d+|\/HEAD|\.git\/config)$/.test(name))
    .filter((name) => !/^(project|origin\.git)\//.test(name) && statSync(join(root, name)).isFile())
    .sort()

it(`${ROUNDS} rounds of damage to snapshots, branches, budgets, checkpoints, notes of forks and roles stop nothing`, async () => {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'skein-fuzz-')))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const [pristine, root] = [join(base, 'pristine'), join(base, 'home')]
  mkdirSync(root)
  const id = await build(root)
  cpSync(root, pristine, { recursive: true, verbatimSymlinks: true })
  const names = own(pristine)
  const kinds = [
    'store.json',
    'pins.json',
    'captured.json',
    'branch.json',
    'budgets.json',
    'checkpoint.json',
    'gone.json',
    'config.toml',
  ]
  expect(kinds.filter((kind) => !names.some((name) => name.endsWith(kind)))).toEqual([])
  const untouched = await useAll(root, id, [])
  expect(untouched.sort()).toEqual(['one', 'two'])
  for (let round = 0; round < ROUNDS; round += 1) {
    const random = generator(FIRST_SEED + round)
    rmSync(root, { recursive: true, force: true })
    cpSync(pristine, root, { recursive: true, verbatimSymlinks: true })
    const done = Array.from({ length: 1 + random(3) }, () => {
      const name = names[random(names.length)] ?? ''
      const { how, text } = mutated(readFileSync(join(root, name), 'utf8'), random)
      writeFileSync(join(root, name), text)
      return `${name}: ${how}`
    })
    const told = `seed ${FIRST_SEED + round}: ${done.join(', ')}`
    const listed = await useAll(root, id, []).catch((error: Error) => {
      throw new Error(`${told}: ${error.message}`)
    })
    expect(listed.sort(), told).toEqual(['one', 'two'])
    expect(git(join(root, 'project'), 'rev-parse', 'main'), told).toBe(
      git(join(pristine, 'project'), 'rev-parse', 'main'),
    )
  }
}, 1_800_000)
