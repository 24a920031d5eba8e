import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type AgentRun, AgentRuns } from '../../src/lifecycle/index.js'
import { type Agent, instantOf, parseSessionId } from '../../src/model/index.js'
import type { PaneId } from '../../src/terminal/index.js'
import { openTestHome, profileDirectory, scratch } from '../home/scratch.js'
import { contextOf } from './context.js'

const NOW = instantOf(Date.UTC(2026, 0, 17, 8))
const SESSION = parseSessionId('11111111-1111-4111-8111-111111111111')

function stopped(agent: Agent): AgentRun {
  return {
    v: 1,
    agent: agent.id,
    recipe: { tool: 'claude', cwd: '/srv/web' },
    status: { status: 'stopped', since: NOW, source: 'process' },
  }
}

async function store(root = scratch()) {
  const { home, warnings } = await openTestHome(root)
  const agent = await home.roster.add({ address: 'web/toast', tool: 'claude' })
  return { root, home, warnings, agent, runs: new AgentRuns(home, contextOf(warnings)) }
}

it('a change is in the journal and in a file of its owner alone', async () => {
  const { root, home, agent, runs } = await store()
  await using _ = home
  await runs.update(agent, () => ({ next: stopped(agent), events: [{ type: 'agent_acked' }], result: undefined }))
  expect(await runs.all()).toEqual([stopped(agent)])
  const path = join(profileDirectory(root), 'agents', `${agent.id}.json`)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(await home.events.read({ type: 'agent_acked' })).toMatchObject([{ agent: 'web/toast' }])
})

it('a change that fails changes nothing', async () => {
  const { home, agent, runs } = await store()
  await using _ = home
  await runs.update(agent, () => ({ next: stopped(agent), result: undefined }))
  await expect(runs.update(agent, () => Promise.reject(new Error('no tmux')))).rejects.toThrow('no tmux')
  expect(await runs.read(agent.id)).toEqual(stopped(agent))
})

it('changes of one agent come one after the other, however long each takes', async () => {
  const { home, agent, runs } = await store()
  await using _ = home
  const other = new AgentRuns(home, contextOf([]))
  await runs.update(agent, () => ({ next: stopped(agent), result: undefined }))
  const adding = (of: AgentRuns) =>
    of.update(agent, async (current) => {
      await new Promise((resolve) => setTimeout(resolve, 5))
      const args = [...(current?.recipe.args ?? []), 'x']
      return { next: { ...stopped(agent), recipe: { ...stopped(agent).recipe, args } }, result: undefined }
    })
  await Promise.all(Array.from({ length: 10 }, (_unused, n) => adding(n % 2 ? runs : other)))
  expect((await runs.read(agent.id))?.recipe.args).toHaveLength(10)
})

it('a second process that wants to start an agent is told who is in its way', async () => {
  const { home, agent, runs } = await store()
  await using _ = home
  using _held = await runs.hold(agent.id, 'state')
  await expect(runs.update(agent, () => undefined, { waitMs: 30 })).rejects.toMatchObject({ code: 'agent-busy' })
})

it('a damaged file is set aside, and how the agent runs is read from the journal', async () => {
  const { root, home, agent, runs, warnings } = await store()
  await using _ = home
  const binding = { session: SESSION, since: NOW, how: 'chosen' as const, is_confirmed: true }
  const run = {
    id: 'r1',
    socket: { name: 'skein' },
    tmux_session: 'toast',
    pane: '%1' as PaneId,
    pid: 4711,
    started_at: NOW,
    port: 1,
  }
  const { recipe } = stopped(agent)
  const payload = { agent_id: agent.id, recipe, run, binding, how: 'new' }
  await runs.update(agent, () => ({
    next: stopped(agent),
    events: [{ type: 'agent_started', payload }],
    result: undefined,
  }))
  const cleared = { agent_id: agent.id, session: 'after-clear', how: 'clear' }
  await home.events.append({ type: 'identity_rebind', agent: agent.address, payload: cleared })
  const directory = join(profileDirectory(root), 'agents')
  writeFileSync(join(directory, `${agent.id}.json`), '{"v":1,"agent":')

  expect(await runs.read(agent.id)).toMatchObject({ recipe, run, binding: { session: 'after-clear', how: 'clear' } })
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toContain('could not be read and was kept as')
  const [kept = ''] = readdirSync(directory).filter((name) => name.includes('damaged'))
  expect(readFileSync(join(directory, kept), 'utf8')).toBe('{"v":1,"agent":')
  expect(await runs.read(agent.id)).toMatchObject({ run })
  expect(warnings).toHaveLength(1)
})

it('a file of a newer Skein is left alone', async () => {
  const { root, home, agent, runs } = await store()
  await using _ = home
  const directory = join(profileDirectory(root), 'agents')
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, `${agent.id}.json`), JSON.stringify({ ...stopped(agent), v: 2 }))
  await expect(runs.read(agent.id)).rejects.toMatchObject({ code: 'newer-format' })
  expect(readdirSync(directory)).toEqual([`${agent.id}.json`])
})
