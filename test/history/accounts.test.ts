import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { environmentFor, placeOfConversation } from '../../src/lifecycle/run/account.js'
import { readSeance } from '../../src/lifecycle/seance/read.js'
import { openTestHome, scratch } from '../home/scratch.js'

const FIXTURES = join(import.meta.dirname, '..', 'fixtures')
const CODEX = 'rollout-2026-11-15T09-58-46-01a1dea5-22e0-77f2-b9d7-977ec2c1c576.jsonl'
const NOW = { ms: Date.UTC(2026, 10, 16) }
/** Of each tool: a log, where its account keeps it, and the session it is of. */
const ACCOUNTS = [
  {
    tool: 'claude',
    log: 'claude/2.1.325/print-5turns-resumed.jsonl',
    to: 'projects/-srv/22222222-2222-4222-8222-222222222222.jsonl',
    session: '22222222',
  },
  { tool: 'codex', log: `codex/0.166.0/${CODEX}`, to: `sessions/2026/11/15/${CODEX}`, session: '01a1dea5' },
] as const

it.each(ACCOUNTS)(
  'a session of $tool under an account is ingested, priced, read in a seance and found by a recovery',
  async ({ tool, log, to, session }) => {
    const root = scratch()
    const directory = join(root, 'accounts', 'work')
    const place = join(directory, to)
    mkdirSync(dirname(place), { recursive: true })
    copyFileSync(join(FIXTURES, log), place)
    writeFileSync(join(root, 'config.toml'), `[accounts.work]\nconfig_dir = "${directory}"\ntool = "${tool}"\n`)
    const { home } = await openTestHome(root, NOW)
    expect(await home.history.ingest()).toMatchObject({ read: 1 })
    const found = await home.sessions.find(session)
    expect(found).toMatchObject({ tool })
    expect((await home.history.cost({ by: 'session' })).total.calls).toBeGreaterThan(0)
    expect(await readSeance(home, found.id)).toMatchObject({ from: 'log', session: { id: found.id } })
    // What a restart, a recovery and a look ask the program's runner: is the conversation there?
    const parts = { runners: (await home.programs.runners()).all, environment: await home.programs.environment() }
    const environment = environmentFor(parts, { tool, cwd: found.cwd ?? '/srv', account: 'work' })
    const runner = parts.runners.find(({ name }) => name === tool)
    expect(Object.values(environment.env)).toContain(directory)
    expect(await runner?.hasConversation?.(found.id, environment)).toBe(true)
    expect(await placeOfConversation(parts, { tool, cwd: '/srv' }, found.id)).toMatchObject({ account: 'work' })
    rmSync(place)
    expect(await readSeance(home, found.id)).toMatchObject({ from: 'archive' })
    expect(readFileSync(join(root, 'config.toml'), 'utf8')).toContain(directory)
    await home[Symbol.asyncDispose]()
  },
)
