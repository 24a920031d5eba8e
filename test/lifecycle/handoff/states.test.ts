import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { beforeCompaction } from '../../../src/lifecycle/handoff/before-compaction.js'
import { AgentRuns } from '../../../src/lifecycle/index.js'
import { answerHook } from '../../../src/lifecycle/prime/answer-hook.js'
import { scratch } from '../../home/scratch.js'
import { fixture } from '../../tools/recorded-pane.js'
import { contextOf } from '../context.js'
import { eventually, type Workshop, workshop } from '../workshop.js'

/** A workshop whose agent `toast` has a role with these settings and has answered one prompt. */
async function running(role: string, options: Parameters<typeof workshop>[0] = {}) {
  const root = scratch()
  writeFileSync(join(root, 'config.toml'), `[roles.hand]\n${role}\n`)
  const shop = await workshop({ root, ...options })
  await shop.agents.start({ agent: 'toast', cwd: shop.project, role: 'hand' })
  await shop.agents.send('toast', 'hello', { wait: true, timeoutMs: 60_000 })
  const [view] = await shop.agents.list()
  return { ...shop, session: view?.session_id ?? '', pid: view?.pid ?? 0 }
}

const prompts = (shop: Workshop) => () => shop.log().map(({ prompt }) => String(prompt))
const isBegun = (all: string[]): boolean => all.some((prompt) => prompt.includes('handoff'))

it.each([
  ['in the middle of a turn', 'forever', 'running'],
  ['while it asks for a permission', 'ask rm -rf x', 'waiting'],
])('a handoff %s ends that turn; the successor inherits no question', async (_when, prompt, status) => {
  const shop = await running('')
  const { agents, home, session, pid } = shop
  await agents.send('toast', prompt)
  await eventually(
    () => agents.list(),
    ([one]) => one?.status === status,
  )
  const { to } = await agents.handoff({ agent: 'toast', message: 'carry on' })
  await eventually(prompts(shop), isBegun)
  const [after] = await eventually(
    () => agents.list(),
    ([one]) => one?.status !== 'starting',
  )
  expect(after).toMatchObject({ session_id: to })
  expect(after).not.toHaveProperty('asks')
  expect(() => process.kill(pid, 0)).toThrow()
  expect(await home.sessions.get(session)).toMatchObject({ outcome: 'handoff' })
})

it('what is saved for an agent that does not run is there for its next session', async () => {
  const shop = await running('')
  const { agents, home } = shop
  await agents.stop('toast')
  const { mail } = await agents.handoff({ target: 'toast', message: 'later' })
  await agents.start({ agent: 'toast' })
  const agent = await home.roster.agent('toast')
  expect((await home.work.hooked(agent)).mail).toMatchObject([{ id: mail, body: expect.stringContaining('> later') }])
  expect((await new AgentRuns(home, contextOf([])).read(agent.id))?.handoff).toMatchObject({ mail, kind: 'auto' })
})

it('each message that is saved for an agent that does not run waits for it; what was only collected is replaced', async () => {
  const { agents, home } = await running('')
  await agents.stop('toast')
  await agents.handoff({ target: 'toast', message: 'look at the tests' })
  await agents.handoff({ target: 'toast' })
  await agents.handoff({ target: 'toast', message: 'and at the docs' })
  const { mail } = await home.work.hooked(await home.roster.agent('toast'))
  expect(mail.map(({ body }) => body.split('\n')[0])).toEqual(['> look at the tests', '> and at the docs'])
})

it('of an agent that does not run another tool is refused, and what to do is said', async () => {
  const { agents } = await running('')
  await agents.stop('toast')
  await expect(agents.handoff({ target: 'toast', tool: 'mute' })).rejects.toMatchObject({
    code: 'agent-not-running',
    next: expect.stringContaining('skein start --agent toast'),
  })
})

it('of a role that ends with its work a handoff defers it, keeps the message, and says what is not saved', async () => {
  const shop = await running('handoff = "done"')
  const { agents, home, project, session } = shop
  const agent = await home.roster.agent('toast')
  const [hooked, named] = [await home.work.add({ title: 'on its hook' }), await home.work.add({ title: 'named' })]
  await home.work.hook(hooked.id, agent)
  execFileSync('git', ['init', '-q'], { cwd: project })
  writeFileSync(join(project, 'half'), 'done')
  const asked = { agent: 'toast', target: named.id, subject: 'Out of context', message: 'The parser is next' }
  expect(await agents.handoff({ ...asked, dryRun: true })).toMatchObject({
    is_done: false,
    unsaved: ['1 untracked file'],
  })
  expect(await home.work.show(named.id)).toMatchObject({ status: 'open' })
  const handed = await agents.handoff(asked)
  expect(handed).toMatchObject({ kind: 'done', is_done: true, from: session, unsaved: ['1 untracked file'] })
  for (const { id } of [hooked, named])
    expect(await home.work.show(id)).toMatchObject({ status: 'deferred', reason: 'Out of context' })
  expect(await home.sessions.get(session)).toMatchObject({ outcome: 'done' })
  expect(await home.work.hooked(agent)).toEqual({ work: [], mail: [] })
  expect((await home.work.inbox(agent)).mail).toMatchObject([
    { id: handed.mail, subject: 'Out of context', body: '> The parser is next' },
  ])
  expect((await agents.list())[0]?.status).toBe('stopped')
  const again = await agents.handoff({ target: 'toast', message: 'And the lexer' })
  expect(again.how).toContain(`mail ${again.mail} is in its inbox; nothing else was changed`)
  expect(await home.events.read({ type: 'done' })).toHaveLength(1)
})

it('a message that is too long is refused before anything changes, whatever the role', async () => {
  for (const role of ['', 'handoff = "done"']) {
    const { agents, home, session } = await running(role)
    await expect(agents.handoff({ agent: 'toast', message: 'x'.repeat(1024 * 1024) })).rejects.toMatchObject({
      code: 'bad-input',
      message: 'The message has 1048576 characters; at most 16000 are kept',
    })
    expect(await home.sessions.get(session)).not.toHaveProperty('outcome')
    expect((await home.work.inbox(await home.roster.agent('toast'))).mail).toEqual([])
  }
})

const compaction = async ({ home }: Workshop, detached: string[][]): Promise<void> => {
  await beforeCompaction({ home, context: contextOf([]) }, { agent: 'toast' }, (args) => void detached.push([...args]))
}

it('before a compaction: off does nothing, auto saves, cycle hands off beside the process that asks', async () => {
  const detached: string[][] = []
  const off = await running('precompact = "off"')
  await compaction(off, detached)
  expect((await off.home.work.hooked(await off.home.roster.agent('toast'))).mail).toEqual([])
  const auto = await running('precompact = "auto"')
  await compaction(auto, detached)
  expect((await auto.home.work.hooked(await auto.home.roster.agent('toast'))).mail).toMatchObject([
    { kind: 'handoff', subject: 'Handoff: compaction' },
  ])
  expect(detached).toEqual([])
  const cycle = await running('precompact = "cycle"')
  const { id } = await cycle.home.roster.agent('toast')
  await compaction(cycle, detached)
  expect(detached).toEqual([
    ['--profile', 'default', 'handoff', `--agent=${id}`, '--cycle', '--reason=compaction', '--yes'],
  ])
})

it.each(['PreCompact-manual', 'PreCompact-auto'])('what Claude Code reports before a compaction: %s', async (name) => {
  const shop = await running('precompact = "cycle"')
  const agent = await shop.home.roster.agent('toast')
  const detached: (readonly string[])[] = []
  let hasWaited = false
  await answerHook(
    { event: 'PreCompact', isText: false },
    {
      context: contextOf([]),
      env: { SKEIN_AGENT: 'toast' },
      cwd: shop.project,
      input: async () => fixture('claude', 'hooks', `${name}.json`),
      detach: (args) => void detached.push(args),
      untilEnded: async () => {
        hasWaited = true
      },
      open: async () => shop.home,
    },
  )
  const { mail } = await shop.home.work.hooked(agent)
  // Who types /compact wants the conversation compacted, not restarted as it was and told to go on.
  const isByHand = name === 'PreCompact-manual'
  expect(detached.map((args) => args.includes('--cycle'))).toEqual(isByHand ? [] : [true])
  expect(hasWaited).toBe(!isByHand) // else its turn could end before it is restarted
  expect(mail.map(({ subject }) => subject)).toEqual(isByHand ? ['Handoff: compaction'] : [])
})

it('a conversation that is full again at once after a cycle is only saved, so that it does not restart forever', async () => {
  const shop = await running('precompact = "cycle"')
  const { agents, home, session } = shop
  await agents.handoff({ agent: 'toast', kind: 'cycle', reason: 'compaction' })
  const [before] = await agents.list()
  const detached: string[][] = []
  await compaction(shop, detached)
  expect(detached).toEqual([])
  expect((await agents.list())[0]).toMatchObject({ pid: before?.pid, session_id: session })
  const { mail } = await home.work.hooked(await home.roster.agent('toast'))
  expect(mail).toHaveLength(1)
  expect((await home.events.read({ type: 'handoff' })).map(({ payload }) => payload.kind).sort()).toEqual([
    'auto',
    'cycle',
  ])
})

it('what is collected in a directory that is no repository, in a bare one, and among ten thousand new files is said', async () => {
  const { agents, project } = await running('')
  const body = async (): Promise<string> =>
    (await agents.handoff({ agent: 'toast', collect: true, dryRun: true })).body ?? ''
  expect(await body()).toContain('No state of git: not a git repository')
  execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: project })
  mkdirSync(join(project, 'new'))
  for (let at = 0; at < 10_000; at += 1) writeFileSync(join(project, `file-${at}`), '')
  const many = await body()
  expect(many).toContain('Branch: main, without a commit')
  expect(many).toContain('Untracked: 10000')
  expect(many).toContain('and 9995 more')
  expect(many.length).toBeLessThan(2_000)
  execFileSync('git', ['config', 'core.bare', 'true'], { cwd: project })
  expect(await body()).toContain('No state of git: this operation must be run in a work tree')
  expect(existsSync(join(project, '.git', 'index.lock'))).toBe(false)
})
