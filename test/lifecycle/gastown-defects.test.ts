import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { readSettings } from '../../src/home/index.js'
import type { AgentRun } from '../../src/lifecycle/agent-run.js'
import { decideRespawn } from '../../src/lifecycle/care/respawn.js'
import { parseWatchdogSettings } from '../../src/lifecycle/care/watchdog-settings.js'
import { type AgentAddress, GASTOWN, type Instant, instantOf, Roles } from '../../src/model/index.js'
import { writeLaunchScript } from '../../src/terminal/index.js'
import { scratch } from '../home/scratch.js'
import { eventually, workshop } from './workshop.js'

const ended = async (shop: Awaited<ReturnType<typeof workshop>>, name: string) =>
  eventually(
    async () => (await shop.agents.list()).find(({ address }) => address.endsWith(name)),
    (seen) => seen?.status === 'error' || seen?.status === 'stopped',
  )

it('Gas Town defect 7: the exit code of a program that crashes is recorded, also of one that ends at once', async () => {
  const shop = await workshop()
  await shop.agents.start({ agent: 'toast', cwd: shop.project })
  const [pane] = (await shop.agents.runs()).map(({ run }) => run?.pane ?? '')
  expect(shop.tmux('show-options', '-p', '-t', pane ?? '', '-v', 'remain-on-exit').trim()).toBe('on')
  await shop.agents.send('toast', 'die 3')
  await ended(shop, 'toast')
  await expect(shop.agents.start({ agent: 'crumb', cwd: shop.project, args: ['--die', '4'] })).rejects.toThrow(
    /exited 4/,
  )
  const stopped = await shop.home.events.read({ type: 'agent_stopped' })
  expect(stopped.map(({ payload }) => payload.exit_status)).toEqual([3, 4])
})

it('Gas Town defect 8: a pane keeps its exit status after a respawn as well, and a role that keeps no panes leaves none', async () => {
  const root = scratch()
  writeFileSync(
    join(root, 'config.toml'),
    '[roles.w]\naddress = "{group}/w/{name}"\n[roles.w.start]\nremain_on_exit = false\n',
  )
  const shop = await workshop({ root })
  for (const options of [{ agent: 'toast' }, { role: 'w', group: 'lab', agent: 'one' }])
    await shop.agents.start({ ...options, cwd: shop.project })
  for (const name of ['toast', 'one']) {
    const { pane, tmux_session } = (await shop.agents.restart(name)).agent
    const again = await shop.agents.restart(name)
    expect(again).toMatchObject({ tier: 'respawned', agent: { pane, tmux_session } })
    expect(shop.tmux('show-options', '-p', '-t', pane ?? '', '-v', 'remain-on-exit').trim()).toBe('on')
    await shop.agents.send(name, 'die 5')
    expect(await ended(shop, name)).toMatchObject({ reason: 'exited 5' })
  }
  const sessions = await eventually(
    async () => {
      await shop.agents.list()
      return shop.tmux('list-sessions', '-F', '#{session_name}').split('\n')
    },
    (names) => !names.includes('lab/w/one'),
  )
  expect(sessions).toContain('toast')
})

it('Gas Town defect 9: a secret is on no command line, in no tmux environment, in no option of the pane and in no file others read', async () => {
  const secret = 'sk-ant-very-secret-0123456789'
  const shop = await workshop({ env: { INHERITED_KEY: secret } })
  const { agent } = await shop.agents.start({ agent: 'toast', cwd: shop.project, env: { ANTHROPIC_API_KEY: secret } })
  await shop.agents.restart('toast')
  const environ = readFileSync(`/proc/${(await shop.agents.list())[0]?.pid}/environ`, 'utf8')
  expect(environ).toContain(`ANTHROPIC_API_KEY=${secret}`) // it has them
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    let line = ''
    try {
      line = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    } catch {
      // It has just ended.
    }
    expect(line).not.toContain(secret)
  }
  const session = agent.tmux_session ?? ''
  for (const asked of [
    ['show-environment', '-t', `=${session}`],
    ['show-environment', '-g'],
    ['list-panes', '-a', '-F', '#{pane_start_command} #{pane_current_command} #{pane_title}'],
    ['show-options', '-p', '-t', agent.pane ?? ''],
    ['show-messages'],
  ]) {
    let said = ''
    try {
      said = shop.tmux(...asked)
    } catch {
      // Nobody is attached: then there are no messages.
    }
    expect(said).not.toContain(secret)
  }
  const files = readdirSync(shop.root, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const { parentPath, name } of files) {
    const path = join(parentPath, name)
    if (readFileSync(path).includes(secret)) expect(statSync(path).mode & 0o077, path).toBe(0)
  }
  const events = await shop.home.events.read({})
  expect(JSON.stringify(events)).not.toContain(secret)
  // What starts a program has its variables, and is gone once it runs: so it is looked at before.
  const script = join(shop.root, 'script')
  writeLaunchScript({ path: script, argv: ['true'], env: { ANTHROPIC_API_KEY: secret } })
  expect(statSync(script).mode & 0o077).toBe(0)
})

const town = new Roles({ roles: GASTOWN, preset: 'gastown' })
const endedAfter = (ms: number, respawn: AgentRun['respawn'], id: string): AgentRun =>
  ({
    v: 1,
    agent: 'a',
    recipe: { tool: 'fake', cwd: '/' },
    status: { status: 'error', since: instantOf(ms), source: 'process' },
    run: {
      ...{ id, socket: { path: '/s' }, tmux_session: 's', pane: '%1', pid: 2, port: 1, how: 'new' },
      started_at: instantOf(0),
      ended_at: instantOf(ms),
      end: { how: 'crashed', reason: 'exited 1' },
    },
    ...(respawn ? { respawn } : {}),
  }) as unknown as AgentRun

it('Gas Town defect 12: every role that is respawned has a backoff and a limit, not the deacon alone', async () => {
  const settings = parseWatchdogSettings(await readSettings('/no/such/file'), 'config.toml', town)
  for (const { name, respawn } of GASTOWN.filter((role) => role.respawn !== 'never')) {
    const rule = settings.ruleOf({ address: 'x' as AgentAddress, role: name })
    expect(rule.respawn).toBe(respawn)
    const delays: number[] = []
    let state: AgentRun['respawn']
    for (let round = 0; round < 50 && !state?.parked; round += 1) {
      state = decideRespawn(endedAfter(1_000, state, `run-${round}`), 'x', rule, instantOf(1_000) as Instant)
      if (state?.delay_ms !== undefined && !state.parked) delays.push(state.delay_ms)
    }
    expect(state?.parked, name).toMatchObject({ kind: 'loop', next: expect.stringContaining('skein recover x') })
    expect(delays.length, name).toBe(rule.limit)
    expect(delays.every((ms, at) => at === 0 || ms > (delays[at - 1] ?? 0) || ms === rule.mostMs)).toBe(true)
  }
  expect(GASTOWN.filter((role) => role.respawn !== 'never').map(({ name }) => name)).toEqual(
    expect.arrayContaining(['mayor', 'deacon', 'witness', 'refinery']),
  )
})

it('Gas Town defect 13: only crashes in a row count; a run that was calm begins the count anew', async () => {
  const settings = parseWatchdogSettings(await readSettings('/no/such/file'), 'config.toml', town)
  const rule = settings.ruleOf({ address: 'deacon' as AgentAddress, role: 'deacon' })
  const crash = (ms: number, state: AgentRun['respawn'], id: string) =>
    decideRespawn(endedAfter(ms, state, id), 'deacon', rule, instantOf(ms) as Instant)
  let state: AgentRun['respawn']
  for (let round = 0; round < rule.limit; round += 1) state = crash(1_000, state, `quick-${round}`)
  expect(state?.count).toBe(rule.limit)
  expect(crash(1_000, state, 'one more')?.parked).toBeDefined()
  const calm = crash(rule.mostMs + 1, state, 'calm')
  expect(calm).toMatchObject({ count: 1, delay_ms: rule.backoffMs })
  expect(calm?.parked).toBeUndefined()
})

it("Gas Town defect 17: the names in the docs are the code's own", () => {
  const page = readFileSync(new URL('../../docs/ROLES.md', import.meta.url), 'utf8')
  const rows = GASTOWN.map(
    ({ name, session_name, address, cwd }) => `| ${name} | \`${session_name}\` | \`${address}\` | \`${cwd}\` |`,
  )
  expect(GASTOWN.every(({ address, mail_address }) => address === mail_address)).toBe(true)
  expect(page).toContain(['|---|---|---|---|', ...rows, ''].join('\n'))
})

it('the example of docs/ROLES.md does what the page says', async () => {
  const page = readFileSync(new URL('../../docs/ROLES.md', import.meta.url), 'utf8')
  const [, example = ''] = /```toml\n(# ~\/\.config[\s\S]*?)```/.exec(page) ?? []
  const root = scratch()
  const place = join(root, 'srv', 'web')
  mkdirSync(place, { recursive: true })
  writeFileSync(join(root, 'config.toml'), example.replace('"/srv/', `"${root}/srv/`).replace('"claude"', '"fake"'))
  const shop = await workshop({ root })
  const { agent } = await shop.agents.start({ role: 'reviewer', group: 'web', agent: 'ada', here: shop.project })
  expect(agent).toMatchObject({
    ...{ address: 'web/reviews/ada', tmux_session: 'review-ada', project_path: place, model: 'opus', role: 'reviewer' },
  })
  const [first] = shop.log().flatMap(({ prompt }) => (typeof prompt === 'string' ? [prompt] : []))
  expect(first).toMatch(/^\[SKEIN\] reviewer ada \(group: web\) <- tester • .* • cold-start\n/)
  const other = await shop.agents.start({
    ...{ role: 'reviewer', group: 'web', agent: 'bob' },
    cwd: shop.project,
    model: 'sonnet',
  })
  expect(other.agent).toMatchObject({ project_path: shop.project, model: 'sonnet' })
})
