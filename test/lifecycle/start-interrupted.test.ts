import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { workshop } from './workshop.js'

const WHO = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']

async function shopWithRepository() {
  const shop = await workshop()
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', shop.project, ...WHO, ...args], { encoding: 'utf8', env: { PATH: process.env.PATH } })
  git('init', '--quiet')
  git('commit', '--quiet', '--allow-empty', '-m', 'first')
  const places = `${shop.project}.worktrees`
  const left = async () => ({
    agents: (await shop.home.roster.agents()).map(({ address }) => address),
    groups: (await shop.home.roster.groups()).map(({ path }) => path),
    branches: git('for-each-ref', '--format=%(refname)', 'refs/heads/skein').trim(),
    worktrees: git('worktree', 'list', '--porcelain').match(/^worktree /gm)?.length,
    directories: existsSync(places) ? readdirSync(places) : [],
    runs: (await shop.agents.runs()).length,
  })
  return { ...shop, left }
}

const NOTHING = { agents: [], groups: [], branches: '', worktrees: 1, directories: [], runs: 0 }

it.each(['resolve', 'environment', 'command', 'end-before', 'settings', 'session'] as const)(
  'a start with a worktree that is interrupted before "%s" leaves nothing',
  async (step) => {
    const { agents, left, project, log } = await shopWithRepository()
    const ending = new AbortController()
    const onStep = (next: string): void => {
      if (next === step) ending.abort()
    }
    const starting = agents.start({ agent: 'web/toast', cwd: project, worktree: true, onStep, signal: ending.signal })
    await expect(starting).rejects.toMatchObject({ code: 'interrupted' })
    expect(await left()).toEqual(NOTHING)
    expect(log()).toEqual([])
  },
)

it('a start that is interrupted once its program runs leaves the agent up, in its worktree', async () => {
  const { agents, left, project } = await shopWithRepository()
  const ending = new AbortController()
  const onStep = (next: string): void => {
    if (next === 'wait') ending.abort()
  }
  await agents.start({ agent: 'toast', cwd: project, worktree: true, onStep, signal: ending.signal })
  expect(await left()).toMatchObject({ agents: ['toast'], worktrees: 2, runs: 1 })
})

it('an agent that is down and whose start is interrupted stays as it was', async () => {
  const { agents, project, log } = await shopWithRepository()
  const { agent } = await agents.start({ agent: 'toast', cwd: project })
  await agents.stop('toast')
  const begun = log().length
  const signal = AbortSignal.abort()
  await expect(agents.start({ agent: 'toast', cwd: project, signal })).rejects.toMatchObject({ code: 'interrupted' })
  expect(log()).toHaveLength(begun)
  expect(await agents.list()).toMatchObject([{ status: 'stopped', session_id: agent.session_id }])
})
