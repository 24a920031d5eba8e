import { execFileSync } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ConversationStore } from '../../src/conversations/index.js'
import { FileLock, makeDirectory } from '../../src/disk/index.js'
import type { Erasable, ErasableStores } from '../../src/erasure/index.js'
import { Sweep } from '../../src/erasure/index.js'
import { wordStores } from '../../src/home/word-stores.js'
import { spoolCommand } from '../../src/journal/index.js'
import { AgentRuns, BudgetBook } from '../../src/lifecycle/index.js'
import type { Context, Instant } from '../../src/model/index.js'
import { Forgetter } from '../../src/privacy/index.js'
import { ProfileStore, profilePaths } from '../../src/store/index.js'
import { describeErasable, type ErasableCase } from '../contracts/erasable.js'
import { filesUnder, fillHome, NOW, SESSION, whereIs } from './worded-home.js'

const WORDS = 'Wombat-4242-burrow'
const CONTEXT: Context = {
  clock: { now: () => NOW.ms },
  random: { bytes: randomBytes, uuid: randomUUID },
  warn: () => {},
  progress: () => {},
  actor: 'tester',
  host: 'here',
}

/** Filled once, by every way in which Skein writes words, and copied for each test. */
let template: string
const copies: string[] = []

beforeAll(async () => {
  template = mkdtempSync(join(tmpdir(), 'skein-words-'))
  await using home = await fillHome(template, WORDS)
  const agent = await home.roster.agent('web/toast')
  await new AgentRuns(home, CONTEXT).update(agent, () => ({
    next: {
      v: 1,
      agent: agent.id,
      recipe: { tool: 'claude', cwd: '/srv/web', args: ['--with', WORDS] },
      status: { status: 'stopped', since: '2026-11-14T00:00:00.000Z' as Instant, source: 'process' },
    },
    result: undefined,
  }))
  makeDirectory(join(home.paths.agents, agent.id))
  writeFileSync(join(home.paths.agents, agent.id, 'prompt'), `Use ${WORDS}\n`, { mode: 0o600 })
  makeDirectory(home.paths.spool)
  execFileSync('sh', ['-c', spoolCommand(home.paths.spool, { agent: agent.id, run: 'r', tool: 'claude' })], {
    input: JSON.stringify({ prompt: `It is ${WORDS}` }),
  })
  await new BudgetBook(home).set({
    target: { kind: 'group', path: `lab/${WORDS}` },
    per: 'day',
    hard: { tokens: 1 },
    set_at: '2026-11-14T00:00:00.000Z' as Instant,
    set_by: 'tester',
  })
  using store = new ConversationStore({ directory: join(home.directory, 'conversations'), backend: 'files' })
  const other = store.open('other')
  await other.receive('agent:other:discord:dm:bob', { text: `hi ${WORDS}`, from: 'bob' })
  await other.patch('agent:other:discord:dm:bob', { label: `Bob ${WORDS}` })
}, 60_000)

afterAll(() => {
  for (const path of [template, ...copies]) rmSync(path, { recursive: true, force: true })
})

function copyOfTemplate(): string {
  const root = mkdtempSync(join(tmpdir(), 'skein-words-'))
  copies.push(root)
  cpSync(template, root, { recursive: true, verbatimSymlinks: true })
  return root
}

interface OpenStores extends ErasableStores {
  root: string
}

function openStores(): OpenStores {
  const root = copyOfTemplate()
  const profile = new ProfileStore(profilePaths(root, 'default'), CONTEXT, { readOnly: false })
  const { stores } = wordStores(root, 'default', profile, { executable: 'git', searchPath: process.env.PATH ?? '' })
  return { root, stores, [Symbol.asyncDispose]: () => profile[Symbol.asyncDispose]() }
}

const holding = (root: string, text: string): string[] => [
  ...new Set(whereIs(root, text).map((place) => place.replace(/ \(packed\)$| block \d+$/, ''))),
]

const named = (stores: readonly Erasable[], name: string): Erasable => {
  const store = stores.find((one) => one.name === name)
  if (!store) throw new Error(`No store ${name} is registered`)
  return store
}

/** A store that is registered and not here fails below. */
const CASES: readonly Omit<ErasableCase, 'open' | 'words'>[] = [
  {
    name: 'journal',
    session: 'first',
    derived: {
      is: (path) => /\/index[^/]*\.db/.test(path),
      reason: 'the index is derived anew from what is left, and old ones are removed',
    },
  },
  { name: 'archive', session: SESSION },
  { name: 'history', session: SESSION },
  { name: 'text', session: SESSION },
  { name: 'agents' },
  { name: 'spool' },
  { name: 'budgets' },
  { name: 'conversations' },
]

for (const one of CASES)
  describeErasable({
    ...one,
    words: WORDS,
    open: async () => {
      const home = openStores()
      const { root, stores } = home
      return {
        root,
        store: named(stores, one.name),
        files: () => filesUnder(join(root, 'profiles')),
        holding: (text) => holding(root, text),
        [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
      }
    },
  })

describe('the list of stores', () => {
  it('has each of them in this suite', async () => {
    await using home = openStores()
    // Snapshots have theirs in test/snapshots/erasure.test.ts: their files are git's.
    expect(home.stores.map(({ name }) => name)).toEqual([...CASES.map(({ name }) => name), 'snapshots'])
  })

  it('claims every file that holds words, once', async () => {
    await using home = openStores()
    const claims = holding(home.root, WORDS).map((path) => ({
      path: path.slice(home.root.length),
      stores: home.stores.filter((store) => store.owns(path)).map(({ name }) => name),
    }))
    expect(claims.length).toBeGreaterThan(15)
    // Written by no code of ours: the test put it there.
    const strange = '/profiles/default/cache/page.html'
    expect(claims.filter(({ path, stores }) => path !== strange && stores.length !== 1)).toEqual([])
  })

  it('claims every place where a profile keeps something, but those that never hold words', async () => {
    await using home = openStores()
    // A beat is the name of a command of ours.
    const { directory: _, lock: __, autoPrune: ___, beats: ____, ...places } = profilePaths(home.root, 'default')
    const unclaimed = Object.values(places).filter((path) => {
      const candidates = [path, join(path, 'anything')]
      return !home.stores.some((store) => candidates.some((one) => store.owns(one)))
    })
    expect(unclaimed).toEqual([])
  })

  it('leaves a purge without the name of any store', () => {
    const purge = join(import.meta.dirname, '..', '..', 'src', 'purge')
    const named = readdirSync(purge).flatMap((file) => {
      const text = readFileSync(join(purge, file), 'utf8')
      const imports = [...text.matchAll(/from '\.\.\/(\w+)\//g)].map(([, room]) => room)
      const files = /(?:history|text|index)\.db|roster\.json|sessions\.json|\.jsonl|\.sealed|\.pack\b/.exec(text)
      const rooms = imports.filter((room) =>
        ['archive', 'ingest', 'conversations', 'history', 'index'].includes(room ?? ''),
      )
      return [...rooms, ...(files ?? [])].map((what) => `${file}: ${what}`)
    })
    expect(named).toEqual([])
  })
})

describe('erasing beside a writer', () => {
  const sweepOf = (root: string): Sweep =>
    new Sweep({ root, forgetter: new Forgetter([], [WORDS]), sessions: new Set(), dryRun: false, generation: 1 })

  it('waits for whoever is changing an agent, and keeps the change', async () => {
    await using home = openStores()
    const { agents } = profilePaths(home.root, 'default')
    const file = readdirSync(agents).find((name) => name.endsWith('.json')) ?? ''
    const held = await new FileLock(join(agents, `${basename(file, '.json')}.state.lock`)).hold(1_000)
    const erasing = named(home.stores, 'agents').erase(sweepOf(home.root))
    await new Promise((resolve) => setTimeout(resolve, 50))
    const run = JSON.parse(readFileSync(join(agents, file), 'utf8')) as object
    writeFileSync(join(agents, file), JSON.stringify({ ...run, acked_at: '2026-11-15T00:00:00.000Z' }))
    held[Symbol.dispose]()
    await erasing
    const after = JSON.parse(readFileSync(join(agents, file), 'utf8')) as Record<string, unknown>
    expect(after).toMatchObject({ acked_at: '2026-11-15T00:00:00.000Z', recipe: { args: ['--with', '[PURGED]'] } })
  })

  it('does not bring back a message that is taken meanwhile', async () => {
    await using home = openStores()
    const { spool } = profilePaths(home.root, 'default')
    const message = readdirSync(spool).find((name) => name.endsWith('.msg')) ?? ''
    const held = await new FileLock(join(spool, '.lock')).hold(1_000)
    const erasing = named(home.stores, 'spool').erase(sweepOf(home.root))
    await new Promise((resolve) => setTimeout(resolve, 50))
    rmSync(join(spool, message))
    held[Symbol.dispose]()
    await erasing
    expect(readdirSync(spool).filter((name) => name.endsWith('.msg'))).toEqual([])
  })
})
