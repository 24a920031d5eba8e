import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fakeTool } from './fake-tool.js'
import { eventually, type Workshop, workshop } from './workshop.js'

/** Everything about agents that a refused command must not change. */
async function stateOf({ home, agents }: Workshop): Promise<unknown> {
  const files = readdirSync(home.paths.agents, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.endsWith('.lock') && statSync(join(home.paths.agents, name)).isFile())
    .sort()
  return {
    roster: await home.roster.agents(),
    groups: await home.roster.groups(),
    events: (await home.events.read({})).map(({ id }) => id),
    files: files.map((name) => [name, readFileSync(join(home.paths.agents, name), 'utf8')]),
    runs: await agents.runs(),
  }
}

const NO_TMUX = { PATH: '/nowhere' }

describe('a refused start changes nothing', () => {
  it('of an agent that exists: its tool, recipe, variables and conversation', async () => {
    const shop = await workshop()
    const { agents, project, root } = shop
    await agents.start({ agent: 'web/shop', cwd: project, model: 'opus', env: { KEY: 'one' } })
    await agents.stop('web/shop')
    const blind = await workshop({ root, env: NO_TMUX })
    const before = await stateOf(shop)
    const refused: [string, () => Promise<unknown>][] = [
      ['agent-exists', () => agents.start({ agent: 'web/shop', tool: 'mute' })],
      ['agent-exists', () => agents.spawn({ agent: 'web/shop', tool: 'mute' })],
      ['bad-input', () => agents.start({ agent: 'web/shop', cwd: join(root, 'missing'), title: 'New' })],
      ['bad-input', () => agents.start({ agent: 'web/shop', cwd: join(root, 'config.toml'), model: 'haiku' })],
      ['bad-input', () => agents.start({ agent: 'web/shop', group: 'back' })],
      ['bad-input', () => agents.start({ agent: 'back/new', cwd: project, group: 'web' })],
      ['bad-input', () => agents.spawn({ agent: 'back/new', cwd: project, group: 'web' })],
      ['bad-input', () => agents.start({ agent: 'web/shop', env: { PWD: 'x' }, title: 'New' })],
      ['bad-input', () => agents.restart('web/shop', { env: { 'no-name': 'x' } })],
      ['bad-input', () => agents.spawn({ agent: 'web/shop', cwd: join(root, 'missing') })],
      ['tmux-missing', () => blind.agents.start({ agent: 'web/shop', env: { KEY: 'two' }, title: 'New' })],
      ['tmux-missing', () => blind.agents.restart('web/shop', { fresh: true, env: { KEY: 'two' } })],
    ]
    writeFileSync(join(root, 'config.toml'), '')
    for (const [code, act] of refused) {
      await expect(act(), act.toString()).rejects.toMatchObject({ code })
      expect(await stateOf(shop), act.toString()).toEqual(before)
    }
  })

  it('of an agent that runs', async () => {
    const shop = await workshop()
    const { agents, project } = shop
    await agents.start({ agent: 'web/shop', cwd: project, env: { KEY: 'one' } })
    await eventually(
      async () => {
        await agents.list()
        return shop.home.events.read({ type: 'identity_bind' })
      },
      (events) => events.length === 1,
    )
    const before = await stateOf(shop)
    const refused: [string, () => Promise<unknown>][] = [
      ['agent-running', () => agents.start({ agent: 'web/shop', title: 'New', model: 'haiku', env: { KEY: 'two' } })],
      ['agent-running', () => agents.setTool('web/shop', 'mute')],
      ['agent-running', () => agents.remove('web/shop')],
      ['agent-running', () => agents.archive('web/shop')],
      ['agent-exists', () => agents.move('web/shop', 'web/shop')],
    ]
    for (const [code, act] of refused) {
      await expect(act(), act.toString()).rejects.toMatchObject({ code })
      expect(await stateOf(shop), act.toString()).toEqual(before)
    }
  })

  it('leaves no agent, no group and no file behind that was not there before', async () => {
    const missing = { ...fakeTool({ name: 'missing' }) }
    const runners = [
      fakeTool(),
      { ...missing, prepare: (launch: never) => ({ ...missing.prepare(launch), argv: ['no-such-program'] as const }) },
    ]
    const shop = await workshop({ runners })
    const { root, agents, project } = shop
    writeFileSync(join(root, 'file'), '')
    await agents.spawn({ agent: 'butter', cwd: project })
    const blind = await workshop({ root, runners, env: NO_TMUX })
    const before = await stateOf(shop)
    const refused: [string, () => Promise<unknown>][] = [
      ['bad-input', () => agents.start({ agent: 'a/b/new', cwd: join(root, 'missing') })],
      ['bad-input', () => agents.start({ cwd: join(root, 'file') })],
      ['bad-input', () => agents.start({ cwd: join(root, 'file', 'below') })],
      ['tool-unknown', () => agents.start({ agent: 'new', cwd: project, tool: 'nope' })],
      ['agent-not-found', () => agents.start({ agent: 'new', cwd: project, parent: 'nobody' })],
      ['bad-address', () => agents.start({ agent: 'a//b', cwd: project })],
      ['agent-exists', () => agents.start({ agent: 'butter/new', cwd: project })],
      ['tmux-missing', () => blind.agents.start({ agent: 'a/new', cwd: project })],
      ['agent-died', () => agents.start({ agent: 'a/new', cwd: project, tool: 'missing' })],
    ]
    for (const [code, act] of refused) {
      await expect(act(), act.toString()).rejects.toMatchObject({ code })
      expect(await stateOf(shop), act.toString()).toEqual(before)
    }
  })

  it('also when tmux fails at the last moment, and with it the environment', async () => {
    const shop = await workshop()
    const { agents, home, project, root } = shop
    // A tmux that can be asked for its version, and does nothing else.
    const bin = join(root, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'tmux'), '#!/bin/sh\n[ "$1" = -V ] && echo "tmux 3.3a" && exit 0\nexit 1\n')
    chmodSync(join(bin, 'tmux'), 0o755)
    const broken = await workshop({ root, env: { PATH: `${bin}:${process.env.PATH}` } })
    const start = broken.agents.start({ agent: 'a/new', cwd: project, env: { KEY: 'topsecret' } })
    await expect(start).rejects.toMatchObject({ code: 'tmux-missing' })
    expect(await home.roster.agents()).toEqual([])
    expect(await home.roster.groups()).toEqual([])
    expect(readdirSync(home.paths.agents, { recursive: true }).filter((name) => name !== 'launch')).toEqual([])
    // An agent that exists is as it was, with what it had.
    await agents.start({ agent: 'old', cwd: project, env: { KEY: 'one' } })
    await agents.stop('old')
    // Its server has ended with it.
    const [before] = await agents.runs()
    await expect(broken.agents.restart('old', { fresh: true, env: { KEY: 'topsecret' } })).rejects.toMatchObject({
      code: 'tmux-missing',
    })
    expect(await agents.runs()).toEqual([before])
    const files = readdirSync(home.paths.agents, { recursive: true, encoding: 'utf8' })
    for (const name of files.filter((one) => statSync(join(home.paths.agents, one)).isFile())) {
      expect(readFileSync(join(home.paths.agents, name), 'latin1')).not.toContain('topsecret')
    }
    expect((await agents.restart('old')).agent.session_id).toBe(before?.binding?.session)
  })
})

describe('the tool of an agent', () => {
  it('changes on purpose only, and each tool has its own conversation and settings', async () => {
    const { agents, project, log } = await workshop({
      runners: [fakeTool(), fakeTool({ name: 'other' })],
    })
    const first = await agents.start({ agent: 'toast', cwd: project, model: 'opus', work: 'wk-1' })
    await agents.stop('toast')
    await expect(agents.setTool('toast', 'nothing')).rejects.toMatchObject({ code: 'tool-unknown' })
    expect((await agents.list())[0]?.tool).toBe('fake')
    await agents.setTool('toast', 'other')
    const second = await agents.start({ agent: 'toast' })
    expect(second.agent.session_id).not.toBe(first.agent.session_id)
    expect(second.agent).toMatchObject({ tool: 'other', status: 'idle' })
    expect(second.agent.model).toBeUndefined()
    expect(second.session).toMatchObject({ tool: 'other', work_unit: 'wk-1' })
    await agents.stop('toast')
    await agents.setTool('toast', 'fake')
    const third = await agents.restart('toast')
    expect(third.agent).toMatchObject({ session_id: first.agent.session_id, model: 'opus' })
    expect(log().at(-1)).toMatchObject({ started: first.agent.session_id, resumed: true })
    await agents.stop('toast')
    await agents.setTool('toast', 'other')
    expect((await agents.start({ agent: 'toast' })).agent.session_id).toBe(second.agent.session_id)
  })
})

describe('a program that ends at once', () => {
  it('is never said to be started, also when another process saw it end first', async () => {
    const shop = await workshop()
    const other = await shop.again()
    await shop.agents.start({ agent: 'toast', cwd: shop.project })
    await shop.agents.stop('toast')
    let isDone = false
    const looking = (async () => {
      while (!isDone) {
        await other.agents.list()
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })()
    try {
      for (let round = 0; round < 5; round += 1) {
        const args = ['--die', '1']
        await expect(shop.agents.start({ agent: 'toast', args })).rejects.toMatchObject({ code: 'agent-died' })
        await expect(shop.agents.restart('toast')).rejects.toMatchObject({ code: 'agent-died' })
      }
    } finally {
      isDone = true
      await looking
    }
  })

  it('that draws a prompt before it fails is not said to be started', async () => {
    const mute = fakeTool({ name: 'mute', tells: false })
    const program = "printf '> '; sleep 0.3; exit 1"
    const brief = { ...mute, prepare: () => ({ argv: ['sh', '-c', program] as const, env: {}, files: [] }) }
    const { agents, project } = await workshop({ runners: [brief] })
    const started = agents.start({ agent: 'toast', cwd: project, tool: 'mute' })
    await expect(started).rejects.toMatchObject({ code: 'agent-died', message: expect.stringContaining('exited 1') })
  })
})

describe('an agent that is started by an agent', () => {
  it('has it as its parent, by the mark of its run', async () => {
    const shop = await workshop()
    const { agent } = await shop.agents.start({ agent: 'web/toast', cwd: shop.project })
    const [run] = await shop.agents.runs()
    await shop.agents.rename('web/toast', 'crumb')
    const inside = await workshop({ root: shop.root, env: { SKEIN_RUN: run?.run?.id ?? '', SKEIN_AGENT: 'web/toast' } })
    expect((await inside.agents.start({ agent: 'child', cwd: shop.project })).agent.parent_id).toBe(agent.id)
    expect((await inside.agents.spawn({ agent: 'other', cwd: shop.project })).parent_id).toBe(agent.id)
    // Started again, it is nobody else's child.
    await inside.agents.stop('web/crumb')
    expect((await inside.agents.start({ agent: 'web/crumb' })).agent.parent_id).toBeUndefined()
    const elsewhere = await workshop({
      root: shop.root,
      env: { SKEIN_RUN: 'of-another-home', SKEIN_AGENT: 'web/crumb' },
    })
    expect((await elsewhere.agents.spawn({ agent: 'third', cwd: shop.project })).parent_id).toBeUndefined()
  })
})

describe('what a killed start leaves', () => {
  it('its launch script, which holds the environment, is gone after the next look once it is old', async () => {
    const { agents, home } = await workshop()
    const directory = join(home.paths.agents, 'launch')
    mkdirSync(directory, { recursive: true })
    const [old, young] = [join(directory, 'old.sh'), join(directory, 'young.sh')]
    for (const path of [old, young]) writeFileSync(path, 'export KEY=secret')
    const { utimesSync } = await import('node:fs')
    const hour = Date.now() / 1_000 - 3_600
    utimesSync(old, hour, hour)
    await agents.list()
    expect([existsSync(old), existsSync(young)]).toEqual([false, true])
  })
})
