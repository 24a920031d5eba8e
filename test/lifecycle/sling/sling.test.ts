import { execFile, execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { finishCutSling } from '../../../src/lifecycle/index.js'
import { scratch } from '../../home/scratch.js'
import { bundled } from '../bundled.js'
import { fakeTool } from '../fake-tool.js'
import { partsOf } from '../handoff/parts.js'
import { eventually, type Workshop, workshop } from '../workshop.js'

const git = (cwd: string, ...args: string[]): string =>
  execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', '-C', cwd, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: cwd },
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()

interface Shop extends Workshop {
  repo: string
  unit: (title?: string) => Promise<string>
}

/** A workshop with a group `web` and a repository. */
async function shopWithRepository(options: Parameters<typeof workshop>[0] = {}): Promise<Shop> {
  const shop = await workshop(options)
  const repo = realpathSync(shop.project)
  git(repo, 'init', '-q', '-b', 'main')
  writeFileSync(join(repo, 'README.md'), 'hello\n')
  git(repo, 'add', '.')
  git(repo, 'commit', '-q', '-m', 'first')
  await shop.home.roster.createGroup('web')
  return { ...shop, repo, unit: async (title = 'Fix the login') => (await shop.home.work.add({ title })).id }
}

const killable = bundled(fileURLToPath(new URL('killed-sling.ts', import.meta.url)))
const FAKE_AGENT = fileURLToPath(new URL('../../workers/fake-agent.mjs', import.meta.url))

const refusal = async (doing: Promise<unknown>): Promise<{ code?: string; message?: string }> =>
  doing.then(
    () => ({}),
    ({ code, message }) => ({ code, message }),
  )

/** It was told to begin: it works, or has replied already. */
const AT_WORK = expect.stringMatching(/^(running|waiting|idle)$/)
const promptsOf = (shop: Shop): unknown[] => shop.log().flatMap(({ prompt }) => prompt ?? [])

/** Everything that a sling could leave behind. */
async function state({ home, repo, agents }: Shop): Promise<unknown> {
  return {
    agents: (await agents.list({ all: true })).map(({ address, status }) => [address, status]),
    work: (await home.work.list()).map(({ id, status, agent }) => [id, status, agent]),
    worktrees: git(repo, 'worktree', 'list', '--porcelain'),
    branches: git(repo, 'branch', '--list', '--format=%(refname:short) %(objectname)'),
    events: (await home.events.read({ type: 'sling' })).length,
  }
}

describe('sling', () => {
  it('makes an agent with a worktree, hooks the unit before it starts, and says so in the journal', async () => {
    const shop = await shopWithRepository()
    const work = await shop.unit()
    const receipt = await shop.agents.sling({ work, group: 'web', repo: shop.repo })
    expect(receipt).toMatchObject({ is_new: true, branch: `skein/${work}`, work: { status: 'hooked' } })
    expect(receipt.agent).toMatchObject({ address: 'web/ash', role: 'worker', status: AT_WORK })
    expect(receipt.how).toContain('prompt received')
    await expect(shop.agents.sling({ work, group: 'web', repo: shop.repo })).rejects.toMatchObject({
      code: 'work-taken',
      next: `It runs: skein attach web/ash , or take it off: skein work unhook ${work}`,
    })
    expect(promptsOf(shop)).toEqual([
      expect.stringMatching(/^\[SKEIN\] .* • assigned\n\nRun `skein prime` and begin work/),
    ])
    expect(git(receipt.worktree ?? '', 'branch', '--show-current')).toBe(`skein/${work}`)
    expect(readFileSync(join(receipt.worktree ?? '', 'README.md'), 'utf8')).toBe('hello\n')
    expect((await shop.home.work.hooked(receipt.agent)).work.map(({ id }) => id)).toEqual([work])
    const types = (await shop.home.events.read()).map(({ type }) => type)
    expect(types.indexOf('hook')).toBeLessThan(types.indexOf('agent_started'))
    const [sling] = await shop.home.events.read({ type: 'sling' })
    expect(sling?.payload).toMatchObject({ work_unit: work, target: 'web/ash', group: 'web', role: 'worker' })
    expect((await shop.home.events.read({ type: 'spawn' })).map(({ agent }) => agent)).toContain('web/ash')
    const { session_id: session = '' } = receipt.agent
    expect((await shop.home.sessions.find(session)).work_unit).toBe(work)
  })

  it('gives the next unit to an agent that has nothing to do, and to none that works or has changes', async () => {
    const shop = await shopWithRepository()
    const first = await shop.agents.sling({ work: await shop.unit('1'), group: 'web', repo: shop.repo })
    const second = await shop.agents.sling({ work: await shop.unit('2'), group: 'web' })
    expect(second.agent.address).toBe('web/birch') // the first one works
    for (const { agent, work } of [first, second]) {
      await shop.agents.stop(agent.address)
      await shop.home.work.close(work.id, { status: 'done' })
    }
    writeFileSync(join(first.worktree ?? '', 'half-done.txt'), 'x')
    const third = await shop.agents.sling({ work: await shop.unit('3'), group: 'web' })
    expect(third).toMatchObject({ is_new: false })
    expect(third.agent.address).toBe('web/birch')
    expect(readFileSync(join(first.worktree ?? '', 'half-done.txt'), 'utf8')).toBe('x')
  })

  it('undoes everything when the program does not come up', async () => {
    const shop = await shopWithRepository({
      runners: [{ ...fakeTool(), prepare: () => ({ argv: ['/bin/sh', '-c', 'exit 3'], env: {}, files: [] }) }],
    })
    const work = await shop.unit()
    const before = await state(shop)
    const { code, message } = await refusal(shop.agents.sling({ work, group: 'web', repo: shop.repo }))
    expect(code).toBe('agent-died')
    expect(message).toContain('3')
    expect(await state(shop)).toEqual(before)
    expect(readdirSync(`${shop.repo}.worktrees`)).toEqual([])
    expect(shop.warnings.filter((line) => line.includes('undone'))).toEqual([])
  })

  it('refuses, and changes nothing: a parked group, a full one, a full machine, a unit that is taken or done, no repository', async () => {
    const root = scratch()
    const config = join(root, 'config.toml')
    const shop = await shopWithRepository({ root })
    const taken = await shop.unit('taken')
    const done = await shop.unit('done')
    const work = await shop.unit('free')
    const kim = await shop.home.roster.add({ address: 'lab/kim', tool: 'fake' })
    await shop.home.work.hook(taken, kim)
    await shop.home.work.close(done, { status: 'done' })
    await shop.home.roster.createGroup('web/ui')
    await shop.home.roster.parkGroup('web', { parked: true, reason: 'release freeze' })
    const before = await state(shop)
    const tried = async (request: Partial<Parameters<Shop['agents']['sling']>[0]>): Promise<string | undefined> => {
      const { code } = await refusal(shop.agents.sling({ work, group: 'lab', repo: shop.repo, ...request }))
      expect(await state(shop)).toEqual(before)
      return code
    }
    expect(await tried({ group: 'web' })).toBe('group-parked')
    expect(await tried({ group: 'web/ui' })).toBe('group-parked')
    expect(await tried({ group: 'nowhere' })).toBe('group-not-found')
    expect(await tried({ work: taken })).toBe('work-taken')
    expect(await tried({ work: done })).toBe('illegal-transition')
    expect(await tried({ work: 'w-none' })).toBe('work-not-found')
    expect(await tried({ repo: root })).toBe('bad-input')
    writeFileSync(config, '[groups."lab"]\nmax_running = 0\n')
    expect(await tried({})).toBe('group-full')
    writeFileSync(config, '[work]\nmin_free_memory = "900TB"\n')
    expect(await tried({})).toBe('machine-full')
    writeFileSync(config, '[groups."lab"]\nmax_runing = 3\n')
    expect(await tried({})).toBe('bad-config')
  })

  it('looks first whether whoever keeps the work answers, and changes nothing where not', async () => {
    const first = await shopWithRepository()
    const before = await first.home.roster.agents()
    const beads = join(first.root, '.beads')
    mkdirSync(beads)
    writeFileSync(join(beads, 'metadata.json'), '{}')
    const broken = join(first.root, 'bd')
    writeFileSync(broken, '#!/bin/sh\necho "Error: the store is locked" >&2\nexit 1\n', { mode: 0o755 })
    const settings = `provider = "beads"\nbeads_dir = "${beads}"\nbeads_program = "${broken}"`
    writeFileSync(join(first.root, 'config.toml'), `[work]\n${settings}\n`)
    const { agents, home } = await first.again()
    const { code, message } = await refusal(agents.sling({ work: 'bd-1', group: 'web', repo: first.repo }))
    expect(code).toBe('work-provider')
    expect(message).toContain('the store is locked')
    expect(await home.roster.agents()).toEqual(before)
    expect(existsSync(`${first.repo}.worktrees`)).toBe(false)
    expect(await home.events.read({ type: 'sling' })).toEqual([])
  })

  it('nothing else starts in a parked group either, until it is unparked', async () => {
    const shop = await shopWithRepository()
    await shop.agents.start({ agent: 'web/kim', cwd: shop.repo })
    await shop.agents.stop('web/kim')
    await shop.home.roster.parkGroup('web', { parked: true })
    const before = await state(shop)
    expect((await refusal(shop.agents.start({ agent: 'web/kim' }))).code).toBe('group-parked')
    expect((await refusal(shop.agents.start({ agent: 'web/new', cwd: shop.repo }))).code).toBe('group-parked')
    expect((await refusal(shop.agents.restart('web/kim'))).code).toBe('group-parked')
    expect(await state(shop)).toEqual(before)
    await shop.home.roster.parkGroup('web', { parked: false })
    expect((await shop.agents.start({ agent: 'web/kim' })).agent.status).toBe('idle')
  })

  it('repairs a worktree that lost its place, makes one again that is gone, and moves a ruined one aside', async () => {
    const shop = await shopWithRepository()
    const first = await shop.agents.sling({ work: await shop.unit('1'), group: 'web', repo: shop.repo })
    const directory = first.worktree ?? ''
    const unmounted = join(shop.root, 'unmounted')
    git(shop.repo, 'worktree', 'add', '--quiet', '--detach', unmounted)
    renameSync(unmounted, `${unmounted}.disk`)
    const next = async (): Promise<string> => {
      await shop.agents.stop('web/ash')
      for (const { id } of (await shop.home.work.hooked(first.agent)).work) {
        await shop.home.work.close(id, { status: 'done' })
      }
      return shop.unit()
    }
    const sound = (): string => git(directory, 'rev-parse', '--show-toplevel')
    let work = await next()
    rmSync(join(directory, '.git'))
    const repaired = await shop.agents.sling({ work, group: 'web', repo: shop.repo })
    expect([repaired.agent.address, sound()]).toEqual(['web/ash', directory])
    work = await next()
    rmSync(directory, { recursive: true })
    const made = await shop.agents.sling({ work, group: 'web', repo: shop.repo })
    expect([made.agent.address, sound()]).toEqual(['web/ash', directory])
    expect(git(shop.repo, 'worktree', 'list')).toContain(unmounted)
    work = await next()
    writeFileSync(join(directory, '.git'), 'gitdir: /nowhere\n')
    writeFileSync(join(directory, 'precious.txt'), 'mine')
    rmSync(join(shop.repo, '.git', 'worktrees'), { recursive: true })
    const replaced = await shop.agents.sling({ work, group: 'web', repo: shop.repo })
    expect([replaced.agent.address, sound()]).toEqual(['web/ash', directory])
    const aside = readdirSync(`${shop.repo}.worktrees`).find((name) => name.includes('damaged')) ?? ''
    expect(readFileSync(join(`${shop.repo}.worktrees`, aside, 'precious.txt'), 'utf8')).toBe('mine')
    expect(existsSync(join(directory, 'precious.txt'))).toBe(false)
  })

  it("runs no filter that the repository's configuration names, and those of the user's own", async () => {
    const shop = await shopWithRepository()
    const [trap, ran] = [join(shop.root, 'trap.sh'), join(shop.root, 'ran')]
    writeFileSync(trap, `#!/bin/sh\necho "$1" >> ${ran}\ncat\n`, { mode: 0o755 })
    writeFileSync(join(shop.repo, '.gitattributes'), '*.md filter=evil\n*.txt filter=own\n')
    writeFileSync(join(shop.repo, 'a.txt'), 'a\n')
    git(shop.repo, 'add', '.')
    git(shop.repo, 'commit', '-q', '-m', 'attributes')
    for (const how of ['clean', 'smudge']) git(shop.repo, 'config', `filter.evil.${how}`, `${trap} evil`)
    git(shop.repo, 'config', 'filter.evil.required', 'true')
    git(shop.repo, 'config', 'filter.own.smudge', `${trap} changed`)
    writeFileSync(join(shop.root, '.gitconfig'), `[filter "own"]\n\tsmudge = ${trap} own\n`)
    const { worktree = '' } = await shop.agents.sling({ work: await shop.unit(), group: 'web', repo: shop.repo })
    expect(readFileSync(join(worktree, 'README.md'), 'utf8')).toBe('hello\n')
    expect(existsSync(ran) ? readFileSync(ran, 'utf8').trim().split('\n') : []).toEqual(['own'])
  })
})

describe('a sling that is killed', () => {
  const killedAt = async (step: string): Promise<Shop & { work: string; before: unknown }> => {
    const shop = await shopWithRepository()
    const work = await shop.unit()
    const before = await state(shop)
    const args = [killable(), shop.root, step, FAKE_AGENT, work, shop.repo]
    const { signal, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 })
    expect({ signal, stdout, stderr }).toEqual({ signal: 'SIGKILL', stdout: '', stderr: '' })
    return { ...shop, work, before }
  }
  const look = async (shop: Shop): Promise<void> => {
    for (const agent of await shop.home.roster.agents()) await finishCutSling(await partsOf(shop), agent)
  }

  it.each(['marked', 'hooked', 'environment'])(
    'before its program runs (%s) is undone by the next look',
    async (step) => {
      const shop = await killedAt(step)
      await look(shop)
      expect(await state(shop)).toEqual(shop.before)
      await look(shop)
      expect((await shop.agents.sling({ work: shop.work, group: 'web', repo: shop.repo })).agent.address).toBe(
        'web/ash',
      )
    },
  )

  it('whose start had begun is undone as well; its agent is kept, stopped, for the next unit', async () => {
    const shop = await killedAt('session')
    await look(shop)
    const { agents, ...rest } = (await state(shop)) as Record<string, unknown>
    expect({ agents: [], ...rest }).toEqual(shop.before)
    expect(agents).toEqual([['web/ash', 'stopped']])
    const next = await shop.agents.sling({ work: shop.work, group: 'web', repo: shop.repo })
    expect(next).toMatchObject({ is_new: false, agent: { address: 'web/ash', status: AT_WORK } })
  })

  it.each(['record', 'wait', 'ready'])(
    'with its program running (%s) is finished by the next look, once',
    async (step) => {
      const shop = await killedAt(step)
      await look(shop)
      await look(shop)
      const agent = await shop.home.roster.agent('web/ash')
      expect((await shop.home.work.hooked(agent)).work.map(({ id }) => id)).toEqual([shop.work])
      expect((await shop.home.events.read({ type: 'sling' })).map(({ payload }) => payload)).toMatchObject([
        { work_unit: shop.work, target: 'web/ash', branch: `skein/${shop.work}` },
      ])
      const again = await refusal(shop.agents.sling({ work: shop.work, group: 'web', repo: shop.repo }))
      expect(again.code).toBe('work-taken')
      // Its first prompt is kept for whoever looks next.
      await shop.agents.wait('web/ash', { until: 'done', timeoutMs: 60_000 })
      expect(promptsOf(shop)).toEqual([expect.stringContaining('• assigned')])
    },
  )

  it.each(['chosen', 'hooked'])('is undone by the next sling of the same unit (%s)', async (step) => {
    const shop = await killedAt(step)
    const receipt = await shop.agents.sling({ work: shop.work, group: 'web', repo: shop.repo })
    expect(receipt.agent).toMatchObject({ address: 'web/ash', status: AT_WORK })
    expect((await shop.home.work.hooked(receipt.agent)).work.map(({ id }) => id)).toEqual([shop.work])
    expect((await shop.home.events.read({ type: 'sling' })).length).toBe(1)
  })
})

describe('eight processes that sling at once', () => {
  const eight = async (shop: Shop, works: readonly string[]): Promise<string[]> => {
    const outputs = await Promise.all(
      works.map((work) =>
        promisify(execFile)(process.execPath, [killable(), shop.root, 'never', FAKE_AGENT, work, shop.repo]),
      ),
    )
    return outputs.map(({ stdout }) => stdout.trim()).sort()
  }

  it('give one unit to one agent, and leave nothing else behind', async () => {
    const shop = await shopWithRepository()
    const work = await shop.unit()
    const said = await eight(shop, Array(8).fill(work))
    expect(said).toEqual(['got web/ash', ...Array(7).fill('refused work-taken')])
    expect((await shop.agents.list({ all: true })).map(({ address }) => address)).toEqual(['web/ash'])
    expect((await shop.home.events.read({ type: 'sling' })).length).toBe(1)
    expect(readdirSync(`${shop.repo}.worktrees`)).toEqual(['ash'])
  })

  it('start no more agents than the group may run', async () => {
    const shop = await shopWithRepository()
    writeFileSync(join(shop.root, 'config.toml'), '[groups."web"]\nmax_running = 2\n')
    const works: string[] = []
    for (let n = 0; n < 8; n += 1) works.push(await shop.unit(`Unit ${n}`))
    const said = await eight(shop, works)
    expect(said).toEqual(['got web/ash', 'got web/birch', ...Array(6).fill('refused group-full')])
    const hooked = (await shop.home.work.list({ status: ['hooked'] })).map(({ agent }) => agent)
    expect(hooked.sort()).toEqual(['web/ash', 'web/birch'])
  })
})

it('Gas Town defect 18: an agent that dies at its work is brought back by the program itself, with its work, and no mail is needed', async () => {
  const shop = await shopWithRepository()
  const work = await shop.unit()
  const { agent } = await shop.agents.sling({ work, group: 'web', repo: shop.repo })
  process.kill(Number(shop.tmux('display-message', '-p', '#{pid}')), 'SIGKILL')
  await eventually(
    () => shop.agents.list(),
    (seen) => seen.every(({ status }) => status === 'error' || status === 'stopped'),
  )
  expect((await shop.home.work.hooked(agent)).work.map(({ id }) => id)).toEqual([work])
  const [back] = await shop.agents.recover({ spacingMs: 0 })
  expect(back).toMatchObject({ outcome: 'resumed', agent: { address: agent.address, status: AT_WORK } })
  expect((await shop.home.work.hooked(agent)).work.map(({ id }) => id)).toEqual([work])
  expect(await shop.home.events.read({ type: 'mail' })).toEqual([])
})
