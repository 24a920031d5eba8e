import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { downNote, recoveryLine } from '../../src/cli/views/recovery-view.js'
import { lifeOf } from '../../src/disk/index.js'
import type { RecoveryReceipt } from '../../src/lifecycle/index.js'
import type { SessionId } from '../../src/model/index.js'
import type { ToolRunner } from '../../src/tools/index.js'
import { scratch } from '../home/scratch.js'
import { fakeTool } from './fake-tool.js'
import { eventually, type Workshop, workshop } from './workshop.js'

const NOW = { spacingMs: 0 }

const serverPid = ({ tmux }: Workshop): number => Number(tmux('display-message', '-p', '#{pid}'))
const outcomes = (receipts: readonly RecoveryReceipt[]): Record<string, string> =>
  Object.fromEntries(receipts.map(({ agent, outcome }) => [agent.address, outcome]))

/** The tmux server and everything in it goes, as in a reboot. */
async function crash(shop: Workshop): Promise<void> {
  process.kill(serverPid(shop), 'SIGKILL')
  await eventually(
    () => shop.agents.list(),
    // Without its terminal a program is in error at once, and down when it has ended.
    (seen) => seen.every(({ status, down }) => status === 'stopped' || (status === 'error' && down !== undefined)),
  )
}

/** Sessions of the programs that were started since, each with the process that has it. */
const started = (shop: Workshop, since: number) =>
  shop
    .log()
    .slice(since)
    .filter((line) => line.started !== undefined)

async function livingSessions(shop: Workshop): Promise<(string | undefined)[]> {
  return (await shop.agents.list()).flatMap((one) => (one.status === 'idle' ? [one.session_id] : [])).sort()
}

describe('after a dead tmux server', () => {
  it('every agent that was up comes back in its own conversation, as it was started, and what was stopped stays stopped', async () => {
    const shop = await workshop()
    await shop.agents.start({ agent: 'toast', cwd: shop.project, env: { GIVEN: 'a key' }, model: 'big', args: ['--x'] })
    for (const agent of ['butter', 'jam', 'quitter']) await shop.agents.start({ agent, cwd: shop.project })
    await shop.agents.stop('jam')
    await shop.agents.keys('quitter', ['C-d'])
    await eventually(
      () => shop.agents.list(),
      (seen) => seen.filter(({ status }) => status === 'stopped').length === 2,
    )
    const before = await shop.agents.list()
    await crash(shop)
    const down = await shop.agents.list()
    expect(downNote(down)).toBe('2 agents are down (the tmux server is gone). Bring them back: skein recover')
    const since = shop.log().length
    const planned = await shop.agents.recover({ ...NOW, dryRun: true })
    expect(outcomes(planned)).toEqual({ butter: 'resumed', toast: 'resumed' })
    expect(planned.map((one) => recoveryLine(one, { isPlan: true }))).toEqual(
      planned.map(
        ({ agent, session_id }) =>
          `${agent.address}: would resume ${session_id}: nothing was started (lost: the tmux server is gone)`,
      ),
    )
    expect(started(shop, since)).toEqual([])
    const back = await shop.agents.recover(NOW)
    expect(outcomes(back)).toEqual({ butter: 'resumed', toast: 'resumed' })
    for (const { agent, session_id, fell } of back) {
      expect(session_id).toBe(before.find(({ id }) => id === agent.id)?.session_id)
      expect(fell).toEqual({ how: 'lost', reason: 'the tmux server is gone' })
    }
    const session = before.find(({ address }) => address === 'toast')?.session_id
    expect(started(shop, since)).toContainEqual(
      expect.objectContaining({
        started: session,
        resumed: true,
        env: { GIVEN: 'a key' },
        args: ['--resume', session, '--model', 'big', '--x'],
      }),
    )
    expect(await shop.agents.recover(NOW)).toEqual([])
    expect(downNote(await shop.agents.list())).toBeUndefined()
    expect(outcomes(await shop.agents.recover({ ...NOW, agents: ['toast', 'jam'] }))).toEqual({
      jam: 'stopped',
      toast: 'up',
    })
    expect(started(shop, since)).toHaveLength(2)
  })

  it('receipts come in the order of the agents, each once, with all of them started together', async () => {
    const shop = await workshop()
    const names = ['a', 'b', 'c', 'd', 'e']
    for (const agent of names) await shop.agents.start({ agent, cwd: shop.project })
    await crash(shop)
    const since = shop.log().length
    const told: string[] = []
    const back = await shop.agents.recover({ ...NOW, tell: ({ agent }) => void told.push(agent.address) })
    expect(told).toEqual(names)
    expect(back.map(({ agent, outcome }) => [agent.address, outcome])).toEqual(names.map((name) => [name, 'resumed']))
    const sessions = started(shop, since).map((line) => line.started)
    expect(new Set(sessions).size).toBe(5)
    expect(sessions).toHaveLength(5)
  })

  it('an agent comes back with the environment of its last start, not with that of the process that brings it back', async () => {
    const shop = await workshop({ env: { GIVEN: 'from the shell' } })
    await shop.agents.start({ agent: 'toast', cwd: shop.project })
    await crash(shop)
    const bare = await workshop({ root: shop.root })
    const since = shop.log().length
    expect(outcomes(await bare.agents.recover(NOW))).toEqual({ toast: 'resumed' })
    expect(started(shop, since)).toMatchObject([{ env: { GIVEN: 'from the shell' } }])
  })

  it('a program that has outlived its terminal is ended before its conversation is resumed', async () => {
    const shop = await workshop()
    await shop.agents.start({ agent: 'toast', cwd: shop.project, args: ['--stubborn'] })
    const pid = (await shop.agents.runs())[0]?.run?.pid ?? 0
    process.kill(serverPid(shop), 'SIGKILL')
    await eventually(
      () => shop.agents.list(),
      ([one]) => one?.trouble === 'tmux-gone',
    )
    expect(lifeOf({ pid })).toBe('alive')
    expect(await shop.agents.recover(NOW)).toMatchObject([{ outcome: 'resumed', fell: { how: 'lost' } }])
    expect(lifeOf({ pid })).toBe('dead')
  })

  it('a program that has outlived its pane says so, cannot be attached to or doubled, and recover ends it', async () => {
    const shop = await workshop()
    await shop.agents.start({ agent: 'toast', cwd: shop.project, args: ['--stubborn'] })
    const pid = (await shop.agents.runs())[0]?.run?.pid ?? 0
    const since = shop.log().length
    shop.tmux('kill-pane', '-t', '=toast:')
    const [seen] = await eventually(
      () => shop.agents.list(),
      ([one]) => one?.status === 'error',
    )
    expect(seen).toMatchObject({ trouble: 'dead-pane', reason: expect.stringContaining(`process ${pid} still runs`) })
    const refused = { code: 'pane-gone', next: expect.stringContaining('skein recover toast') }
    await expect(shop.agents.attachCommand('toast', {})).rejects.toMatchObject(refused)
    await expect(shop.agents.start({ agent: 'toast', cwd: shop.project })).rejects.toMatchObject(refused)
    expect(lifeOf({ pid })).toBe('alive')
    expect(await shop.agents.recover(NOW)).toMatchObject([{ outcome: 'resumed', fell: { how: 'lost' } }])
    expect(lifeOf({ pid })).toBe('dead')
    expect(started(shop, since)).toHaveLength(1)
  })

  it('when two in a row cannot log in, the others are left down with the way out', async () => {
    const mute = fakeTool({ name: 'mute', tells: false })
    let isLoggedIn = true
    const failing = { status: 'error', trouble: 'auth', reason: 'Invalid API key', rule: 'mute/auth' } as const
    const runner: ToolRunner = { ...mute, readScreen: (seen) => (isLoggedIn ? mute.readScreen(seen) : failing) }
    const shop = await workshop({ runners: [runner] })
    for (const agent of ['a', 'b', 'c', 'd']) await shop.agents.start({ agent, cwd: shop.project, tool: 'mute' })
    await crash(shop)
    isLoggedIn = false
    const receipts = await shop.agents.recover({ spacingMs: 1 })
    const isStarted = ({ outcome }: RecoveryReceipt): boolean => outcome !== 'refused'
    expect(receipts.map(isStarted)).toEqual([true, true, false, false])
    const left = { reason: expect.stringContaining('could not log in') }
    expect(receipts.slice(2)).toMatchObject([left, left])
    isLoggedIn = true
    expect((await shop.agents.recover(NOW)).filter(isStarted)).toHaveLength(2)
  })

  it('two that recover at once double nobody, and one that is interrupted is continued by the next', async () => {
    const shop = await workshop()
    const names = ['a', 'b', 'c', 'd']
    for (const agent of names) await shop.agents.start({ agent, cwd: shop.project })
    await crash(shop)
    const since = shop.log().length
    const other = await shop.again()
    const ending = new AbortController()
    const first = shop.agents.recover({ spacingMs: 60_000, signal: ending.signal, tell: () => ending.abort() })
    await eventually(
      () => started(shop, since).length,
      (count) => count === 1,
    )
    const second = await other.agents.recover(NOW).catch((error) => error)
    expect(await first).toHaveLength(1)
    // Refused while the first one went on, or done by what it had left.
    const rest = second instanceof Error ? await other.agents.recover(NOW) : second
    expect(rest).toHaveLength(3)
    expect(started(shop, since)).toHaveLength(4)
    const both = await Promise.allSettled([shop.agents.recover(NOW), other.agents.recover(NOW)])
    expect(both.flatMap((one) => (one.status === 'fulfilled' ? one.value : []))).toEqual([])
    expect(started(shop, since)).toHaveLength(4)
    expect(new Set(await livingSessions(shop)).size).toBe(4)
  })

  it('a start whose maker was killed counts as down, and is brought back', async () => {
    const shop = await workshop()
    await shop.agents.start({ agent: 'toast', cwd: shop.project })
    const [stored] = await shop.agents.runs()
    await crash(shop)
    const { pane: _p, pid: _i, process_start: _s, server: _v, ended_at: _e, end: _n, ...launching } = stored?.run ?? {}
    const { run: _run, ...rest } = stored ?? {}
    writeFileSync(join(shop.home.paths.agents, `${stored?.agent}.json`), JSON.stringify({ ...rest, launching }))
    expect(await shop.agents.recover(NOW)).toMatchObject([
      { outcome: 'resumed', session_id: stored?.binding?.session, fell: { reason: 'its start was interrupted' } },
    ])
  })

  it.each(['recover', 'stop'] as const)(
    'what a start has left whose maker was killed before it recorded the run is ended: %s',
    async (command) => {
      const shop = await workshop()
      await shop.agents.start({ agent: 'toast', cwd: shop.project })
      const [stored] = await shop.agents.runs()
      await crash(shop)
      // A program may outlive its tmux server for a moment; the next start has recorded its end before it launches.
      const [down] = await eventually(
        async () => {
          await shop.agents.list()
          return shop.agents.runs()
        },
        ([one]) => one?.run?.ended_at !== undefined,
      )
      const { pane: _p, pid: _i, process_start: _s, server: _v, ended_at: _e, end: _n, ...same } = stored?.run ?? {}
      const launching = { ...same, id: 'the-next-run' }
      writeFileSync(join(shop.home.paths.agents, `${stored?.agent}.json`), JSON.stringify({ ...down, launching }))
      const env = { PATH: process.env.PATH, SKEIN_RUN: launching.id }
      const left = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore', env })
      const other = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore', env: { ...env, SKEIN_RUN: 'another' } })
      onTestFinished(() => void [left, other].map((one) => one.kill('SIGKILL')))
      if (command === 'stop') await shop.agents.stop('toast')
      else expect(outcomes(await shop.agents.recover(NOW))).toEqual({ toast: 'resumed' })
      expect([left, other].map(({ pid = 0 }) => lifeOf({ pid }))).toEqual(['dead', 'alive'])
    },
  )

  it('a stop of a run that counts as ended and lives, with an interrupted start beside it, ends both for good', async () => {
    const shop = await workshop()
    await shop.agents.start({ agent: 'toast', cwd: shop.project })
    const [stored] = await shop.agents.runs()
    const { pane: _p, pid = 0, process_start: _s, server: _v, ...same } = stored?.run ?? {}
    const launching = { ...same, id: 'the-next-run' }
    const file = join(shop.home.paths.agents, `${stored?.agent}.json`)
    const run = { ...stored?.run, ended_at: stored?.run?.started_at, end: { how: 'lost', reason: 'not seen' } }
    writeFileSync(file, JSON.stringify({ ...stored, run, launching }))
    const env = { PATH: process.env.PATH, SKEIN_RUN: launching.id }
    const left = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore', env })
    onTestFinished(() => void left.kill('SIGKILL'))
    await shop.agents.stop('toast', { graceMs: 500 })
    expect([pid, left.pid ?? 0].map((one) => lifeOf({ pid: one }))).toEqual(['dead', 'dead'])
    expect((await shop.agents.runs())[0]).not.toHaveProperty('launching')
    expect(await shop.agents.recover(NOW)).toEqual([])
    expect((await shop.agents.list())[0]?.status).toBe('stopped')
  })
})

describe('what cannot come back as it was is refused, and keeps its conversation', () => {
  const refusals: [string, (shop: Workshop, file: string) => void, RegExp, RegExp][] = [
    [
      'its directory is gone',
      ({ project }) => renameSync(project, `${project}-moved`),
      /^There is no directory .*project$/,
      /^Create it again, then: skein recover toast$/,
    ],
    [
      'its log was deleted',
      ({ root }) => writeFileSync(join(root, 'deleted'), ''),
      /^fake has no log of session \S+ any more: it was deleted$/,
      /skein turns \S+ \. .*skein restart toast --fresh$/,
    ],
    [
      'its conversation is open elsewhere',
      ({ root }) => writeFileSync(join(root, 'open'), ''),
      /^Session \S+ is open in another program$/,
      /^End that program, then: skein recover toast$/,
    ],
    [
      'the values of its variables are gone',
      (_, file) => rmSync(join(file.replace(/\.json$/, ''), 'env.json')),
      /^toast was started with GIVEN, whose values are gone$/,
      /^Give them again: skein restart toast --env GIVEN=…$/,
    ],
  ]
  it.each(refusals)('%s', async (_, spoil, message, next) => {
    const shop = await workshop({ runners: [withLogs()] })
    const { root, project, agents } = shop
    const file = await upAndSaid(shop)
    const [before] = await agents.runs()
    await crash(shop)
    spoil(shop, file)
    const since = shop.log().length
    const [receipt] = await agents.recover(NOW)
    expect(receipt).toMatchObject({ outcome: 'refused', session_id: before?.binding?.session })
    expect(receipt?.error?.message).toMatch(message)
    expect(receipt?.error?.next).toMatch(next)
    expect(started(shop, since)).toEqual([])
    const [after] = await agents.runs()
    expect([after?.binding, after?.recipe]).toEqual([before?.binding, before?.recipe])
    for (const path of ['deleted', 'open']) rmSync(join(root, path), { force: true })
    mkdirSync(project, { recursive: true })
  })

  it('its account is gone: its directory, or its description', async () => {
    const root = scratch()
    const directory = join(root, 'account')
    mkdirSync(directory)
    const account = { variable: 'FAKE_HOME', root: (of: string) => of }
    const runners = [{ ...fakeTool(), account, hasConversation: () => existsSync(directory) }]
    const accounts = { work: { tool: 'fake', directory, logs: directory } }
    const shop = await workshop({ root, runners, accounts })
    await shop.agents.start({ agent: 'toast', cwd: shop.project, account: 'work' })
    await shop.agents.send('toast', 'hello')
    const [before] = await shop.agents.runs()
    await crash(shop)
    const since = shop.log().length
    renameSync(directory, `${directory}-moved`)
    const [gone] = await shop.agents.recover(NOW)
    expect([gone?.outcome, gone?.error?.message, gone?.error?.next]).toEqual([
      'refused',
      `The directory of the account work is gone: ${directory}`,
      'Restore it, or correct config_dir in [accounts.work], then: skein recover toast',
    ])
    const other = await workshop({ root, runners })
    const [unknown] = await other.agents.recover(NOW)
    expect([unknown?.outcome, unknown?.error?.message]).toEqual(['refused', 'There is no account named "work"'])
    expect(started(shop, since)).toEqual([])
    renameSync(`${directory}-moved`, directory)
    expect(await shop.agents.recover(NOW)).toMatchObject([{ outcome: 'resumed', session_id: before?.binding?.session }])
  })

  it('its program is not installed any more: also a dry run says so, and what is left of it is not ended', async () => {
    const shop = await workshop()
    await shop.agents.start({ agent: 'toast', cwd: shop.project, args: ['--stubborn'] })
    const pid = (await shop.agents.runs())[0]?.run?.pid ?? 0
    onTestFinished(() => void (lifeOf({ pid }) === 'alive' && process.kill(pid, 'SIGKILL')))
    process.kill(serverPid(shop), 'SIGKILL')
    await eventually(
      () => shop.agents.list(),
      ([one]) => one?.trouble === 'tmux-gone',
    )
    const gone: ToolRunner = { ...fakeTool(), prepare: () => ({ argv: ['no-such-program'], env: {}, files: [] }) }
    const other = await workshop({ root: shop.root, runners: [gone] })
    for (const dryRun of [true, false]) {
      const [receipt] = await other.agents.recover({ ...NOW, dryRun })
      expect([dryRun, receipt?.outcome, receipt?.error?.message]).toEqual([
        dryRun,
        'refused',
        'toast did not start: the program of fake was not found',
      ])
      expect(receipt?.error?.next).toContain('Install it')
    }
    expect(lifeOf({ pid })).toBe('alive')
    expect(await shop.agents.recover(NOW)).toMatchObject([{ outcome: 'resumed' }])
    expect(lifeOf({ pid })).toBe('dead')
  })

  /** The fake tool, which keeps its logs where the test can take them away. */
  function withLogs(): ToolRunner {
    const tool = fakeTool()
    const has = (root: string, name: string): boolean => {
      try {
        rmSync(join(root, name))
        return true
      } catch {
        return false
      }
    }
    return {
      ...tool,
      hasConversation: (_, { home }) => !has(home, 'deleted'),
      openConversations: ({ home }) => ({ has: () => has(home, 'open') }) as unknown as ReadonlySet<SessionId>,
    }
  }

  async function upAndSaid({ agents, project, home }: Workshop): Promise<string> {
    const { agent } = await agents.start({ agent: 'toast', cwd: project, env: { GIVEN: 'a key' } })
    await agents.send('toast', 'hello')
    await agents.wait('toast', { until: 'done' })
    return join(home.paths.agents, `${agent.id}.json`)
  }

  it('a resume that fails at once', async () => {
    const shop = await workshop()
    await shop.agents.start({ agent: 'toast', cwd: shop.project })
    const [before] = await shop.agents.runs()
    await crash(shop)
    const file = join(shop.home.paths.agents, `${before?.agent}.json`)
    const [stored] = await shop.agents.runs()
    const broken = { ...stored, recipe: { ...stored?.recipe, args: ['--die', '3', '--because', 'of a test'] } }
    writeFileSync(file, JSON.stringify(broken))
    const [receipt] = await shop.agents.recover(NOW)
    expect(receipt).toMatchObject({ outcome: 'refused', reason: expect.stringContaining('exited 3') })
    expect(receipt?.error?.details).toContain('fake: cannot start, because of a test')
    expect(receipt && recoveryLine(receipt)).toMatch(
      / Its last lines are below\..*\n {2}fake: cannot start, because of a test$/,
    )
    expect((await shop.agents.runs())[0]?.binding?.session).toBe(before?.binding?.session)
    writeFileSync(file, JSON.stringify(stored))
    expect(await shop.agents.recover(NOW)).toMatchObject([{ outcome: 'resumed', session_id: before?.binding?.session }])
  })
})

describe('no agent ever resumes the conversation of another', () => {
  it('two agents in one directory, one that was cleared and one that ran a program of its own: each comes back to its own', async () => {
    const shop = await workshop()
    for (const agent of ['left', 'right', 'cleared', 'parent']) await shop.agents.start({ agent, cwd: shop.project })
    await shop.agents.send('cleared', 'clear')
    await shop.agents.send('parent', 'child')
    for (const agent of ['cleared', 'parent']) await shop.agents.wait(agent, { until: 'done' })
    const before = new Map<string, string | undefined>(
      (await shop.agents.list()).map(({ address, session_id }) => [address, session_id]),
    )
    expect(before.get('cleared')).toMatch(/-cleared$/)
    expect(before.get('parent')).not.toBe('child-session')
    await crash(shop)
    const since = shop.log().length
    const back = await shop.agents.recover(NOW)
    expect(new Map(back.map(({ agent, session_id }) => [agent.address, session_id]))).toEqual(before)
    expect(
      started(shop, since)
        .map((line) => line.started)
        .sort(),
    ).toEqual([...before.values()].sort())
  })

  it('a duplicated id is resumed by the agent whose session it is, and by no other', async () => {
    const shop = await workshop()
    for (const agent of ['toast', 'thief']) await shop.agents.start({ agent, cwd: shop.project })
    await crash(shop)
    const runs = await shop.agents.runs()
    const [toast, thief] = await Promise.all(['toast', 'thief'].map((name) => shop.home.roster.agent(name)))
    const own = runs.find(({ agent }) => agent === toast?.id)
    const stolen = { ...runs.find(({ agent }) => agent === thief?.id), binding: own?.binding }
    writeFileSync(join(shop.home.paths.agents, `${thief?.id}.json`), JSON.stringify(stolen))
    const since = shop.log().length
    const back = await shop.agents.recover(NOW)
    expect(outcomes(back)).toEqual({ thief: 'refused', toast: 'resumed' })
    expect(back.find(({ outcome }) => outcome === 'refused')?.error).toMatchObject({
      code: 'foreign-conversation',
      next: 'Begin another conversation: skein restart thief --fresh',
    })
    expect(started(shop, since).map((line) => line.started)).toEqual([own?.binding?.session])
  })

  it('a copied home is refused while the original still has the conversation, and a moved one is not', async () => {
    const shop = await workshop()
    await shop.agents.start({ agent: 'toast', cwd: shop.project })
    await crash(shop)
    const copy = join(scratch(), 'copy')
    cpSync(shop.root, copy, { recursive: true, filter: (path) => !path.endsWith('.sock') })
    const since = shop.log().length
    const copied = await workshop({ root: copy })
    expect(await copied.agents.recover(NOW)).toMatchObject([
      { outcome: 'refused', error: { code: 'foreign-conversation' } },
    ])
    await expect(copied.agents.restart('toast')).rejects.toMatchObject({ code: 'foreign-conversation' })
    expect(started(shop, since)).toEqual([])
    renameSync(shop.home.paths.agents, `${shop.home.paths.agents}-gone`)
    expect(outcomes(await copied.agents.recover(NOW))).toEqual({ toast: 'resumed' })
  })
})
