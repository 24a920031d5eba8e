import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ensureDaemon, readSegment, stopDaemon } from '../../src/daemon/index.js'
import { lifeOf, writeAtomic } from '../../src/disk/index.js'
import type { Agent, AgentStatus } from '../../src/model/index.js'
import { recordedPanes } from '../tools/recorded-pane.js'
import { Herd } from './herd.js'
import { pause, until } from './scratch.js'

const text = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '')

describe('watching agents', () => {
  it('what an agent tells is in the journal, the stream, its pane and the status line', async () => {
    const herd = await Herd.make()
    const toast = await herd.add('web/toast')
    const { client } = await ensureDaemon(herd.access)
    const listening = new AbortController()
    const stream = client.events({ signal: listening.signal })
    expect((await stream.next()).value).toMatchObject({ event: 'hello' })
    herd.works(toast)
    herd.asks(toast)
    const heard: unknown[] = []
    for await (const { event, data } of stream) {
      if (event !== 'agent_status') continue
      heard.push((data as { payload: { status: string } }).payload.status)
      if (heard.at(-1) === 'waiting') break
    }
    listening.abort()
    expect(heard.at(-1)).toBe('waiting')
    const pane = (await herd.runs.read(toast.id))?.run?.pane ?? ''
    const option = (name: string): string => herd.tmux('show-options', '-pv', '-t', pane, name).trim()
    await until(() => option('@skein_state') === 'waiting')
    expect(option('@skein_reason')).toBe('permission prompt: Bash')
    await until(() => text(herd.access.place.statusline).trimEnd() === '!1')
    await until(() => herd.tmux('show-options', '-gv', '@skein_statusline').trim() === '!1')
  })

  it.each([
    ['and nothing is left of it', ''],
    ['and some of it is left', 'The Wombat-4242 is in the settings, too'],
  ])('shows no title that was purged, %s', async (_, setting) => {
    const herd = await Herd.make()
    const toast = await herd.add('web/toast')
    await herd.home.roster.update(toast.address, { title: 'feeds the Wombat-4242' })
    const { client } = await ensureDaemon(herd.access)
    const titles = async (): Promise<unknown[]> =>
      ((await client.get('/v1/agents')) as { agents: Agent[] }).agents.map(({ title }) => title)
    expect(await titles()).toEqual(['feeds the Wombat-4242'])
    writeFileSync(join(herd.root, 'config.toml'), setting === '' ? '' : `# ${setting}\n`, { flag: 'a' })
    const { proof } = await herd.home.privacy.purge({ secret: 'Wombat-4242' })
    expect(proof?.left.length).toBe(setting === '' ? 0 : 1)
    expect(await titles()).toEqual(['feeds the [PURGED]'])
  })

  it('keeps no secret of a command that waits for permission, nor what was purged', async () => {
    const herd = await Herd.make()
    const toast = await herd.add('web/toast')
    await herd.home.privacy.purge({ secret: 'Wombat-4242' })
    await ensureDaemon(herd.access)
    for (const [number, command] of ['curl -u ada:Tr0ub4dor33 https://db.test', 'feed Wombat-4242'].entries())
      herd.says(toast, {
        ...{ hook_event_name: 'PermissionRequest', tool_name: 'Bash', prompt_id: `p${number}` },
        tool_input: { command },
      })
    await until(async () => (await herd.runs.read(toast.id))?.requests?.length === 2)
    const asked = (await herd.runs.read(toast.id))?.requests?.map(({ what }) => what)
    expect(asked).toEqual(['curl -u ada:[REDACTED:command-password] https://db.test', 'feed [PURGED]'])
    const files = readdirSync(herd.root, { recursive: true, encoding: 'utf8' }).map((name) => join(herd.root, name))
    for (const file of files.filter((name) => statSync(name, { throwIfNoEntry: false })?.isFile()))
      expect(readFileSync(file, 'latin1'), file).not.toMatch(/Tr0ub4dor33|Wombat-4242/)
  })

  it('keeps the order of what was told in one millisecond, and takes nothing as told in the future', async () => {
    const herd = await Herd.make()
    const toast = await herd.add('web/toast')
    const laterMs = Date.now() + 3_600_000
    herd.says(toast, { hook_event_name: 'UserPromptSubmit', prompt: 'go' }, laterMs)
    herd.says(toast, { hook_event_name: 'Stop', last_assistant_message: 'done' }, laterMs)
    herd.says(toast, { hook_event_name: 'UserPromptSubmit', prompt: 'go on' }, laterMs)
    await ensureDaemon(herd.access)
    await until(async () => (await herd.statusOf(toast))?.status === 'running')
    const told = (await herd.runs.read(toast.id))?.told?.map(({ at }) => at) ?? []
    expect(told.length).toBeGreaterThan(1)
    expect(told.at(-1) ?? '').toSatisfy((at: string) => Date.parse(at) < laterMs - 3_500_000)
    expect([...told].sort()).toEqual(told)
  })

  it('sees a pane die, tmux go and come back, and agents that are added meanwhile', async () => {
    const herd = await Herd.make()
    const [one, two] = [await herd.add('one'), await herd.add('two')]
    await ensureDaemon(herd.access)
    const pid = (await herd.runs.read(one.id))?.run?.pid ?? 0
    process.kill(pid, 'SIGKILL')
    const dead = await until(async () => {
      const status = await herd.statusOf(one)
      return status?.status === 'error' && status
    })
    expect(dead).toMatchObject({ trouble: 'dead-pane', reason: 'killed by signal 9' })
    herd.killTmux()
    const gone = await until(async () => {
      const status = await herd.statusOf(two)
      return status?.status === 'error' && status
    })
    expect(gone).toMatchObject({ trouble: 'tmux-gone' })
    const three = await herd.add('three')
    herd.works(three)
    await until(async () => (await herd.statusOf(three))?.status === 'running')
    herd.killTmux()
    await until(async () => (await herd.statusOf(three))?.trouble === 'tmux-gone')
  })

  // The look that comes without any sign comes after thirty seconds.
  it('lists a process that has ended as ended at once, also when tmux has not told it yet', async () => {
    const herd = await Herd.make()
    const agents: Agent[] = []
    for (const name of ['one', 'two', 'three', 'four', 'five', 'six']) agents.push(await herd.add(name))
    const { client } = await ensureDaemon(herd.access)
    for (const agent of agents) {
      const pid = (await herd.runs.read(agent.id))?.run?.pid ?? 0
      process.kill(pid, 'SIGKILL')
      while (lifeOf({ pid }) === 'alive') await pause(0)
      const { agents: listed } = (await client.get('/v1/agents')) as { agents: (Agent & AgentStatus)[] }
      expect(listed.find(({ id }) => id === agent.id)).toMatchObject({ status: 'error', reason: 'killed by signal 9' })
    }
  })

  it('sees a dialog that its user opened between two turns, which no program reports', {
    timeout: 25_000,
  }, async () => {
    const herd = await Herd.make()
    const toast = await herd.add('toast')
    await ensureDaemon(herd.access)
    herd.works(toast)
    herd.finishes(toast)
    await until(async () => (await herd.statusOf(toast))?.waiting_for === 'finished')
    await herd.shows(toast, recordedPanes('claude').find(({ name }) => name === 'permission-bash')?.screen.lines ?? [])
    const asking = await until(async () => {
      const status = await herd.statusOf(toast)
      return status?.waiting_for === 'permission' && status
    })
    expect(asking).toMatchObject({ status: 'waiting', source: 'pane' })
  })

  it('what it cannot reach is listed as unknown with the reason, until it can again', { timeout: 60_000 }, async () => {
    const herd = await Herd.make()
    const toast = await herd.add('toast')
    const { client } = await ensureDaemon(herd.access)
    const listed = async () => ((await client.get('/v1/agents')) as { agents: (Agent & AgentStatus)[] }).agents
    herd.works(toast)
    herd.finishes(toast)
    await until(() => client.get('/v1/next').then((next) => JSON.stringify(next).includes('toast')))
    const pid = Number(herd.tmux('display-message', '-p', '#{pid}'))
    process.kill(pid, 'SIGSTOP')
    try {
      const [unknown] = await until(async () => (await listed())[0]?.status === 'unknown' && (await listed()))
      expect(unknown).toMatchObject({ reason: 'tmux did not answer; it was waiting' })
      expect(unknown).not.toHaveProperty('waiting_for')
      await until(() => text(herd.access.place.statusline).trimEnd() === '')
      expect((await herd.statusOf(toast))?.waiting_for).toBe('finished')
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await until(async () => (await listed())[0]?.waiting_for === 'finished')
  })

  it('an agent whose file cannot be read is listed as unknown with the reason, and the others are watched', async () => {
    const herd = await Herd.make()
    const [toast, butter] = [await herd.add('toast'), await herd.add('butter')]
    const { client } = await ensureDaemon(herd.access)
    const file = join(herd.home.paths.agents, `${toast.id}.json`)
    {
      using _held = await herd.runs.hold(toast.id, 'state') // as another Skein would write it
      // Whole at once: of a file that is half written the daemon would put a copy from the journal in its place.
      writeAtomic(file, JSON.stringify({ ...(await herd.runs.read(toast.id)), v: 2 }), { durable: false })
    }
    herd.works(toast)
    herd.works(butter)
    await until(async () => (await herd.statusOf(butter))?.status === 'running')
    const listed = await until(async () => {
      const { agents } = (await client.get('/v1/agents')) as { agents: (Agent & AgentStatus)[] }
      return agents.some(({ status }) => status === 'unknown') && agents
    })
    expect(listed.find(({ id }) => id === toast.id)).toMatchObject({
      status: 'unknown',
      reason: `${file} was written by a newer Skein`,
    })
    expect(listed.find(({ id }) => id === butter.id)).toMatchObject({ status: 'running' })
  })

  it('killed with -9 loses no message: the next one takes them, and the status line is counted without it', async () => {
    const herd = await Herd.make()
    const toast = await herd.add('toast')
    const { client } = await ensureDaemon(herd.access)
    herd.works(toast)
    await until(async () => (await herd.statusOf(toast))?.status === 'running')
    process.kill(client.record.pid, 'SIGKILL')
    await until(() => lifeOf(client.record) === 'dead')
    expect(readSegment(herd.access.place, herd.home.directory)).toBe('▶1')
    herd.asks(toast)
    await ensureDaemon(herd.access)
    await until(async () => (await herd.statusOf(toast))?.status === 'waiting')
  })
})

describe('notices', () => {
  it('are given once for each wait, also when the daemon is started again, and never through a shell', async () => {
    const herd = await Herd.make()
    const toast = await herd.add('web/toast')
    const out = join(herd.root, 'notices')
    const program = join(herd.root, 'notifier.mjs')
    const write = `import { appendFileSync, readFileSync } from 'node:fs'
appendFileSync(${JSON.stringify(out)}, JSON.stringify([process.env.SKEIN_NOTICE, JSON.parse(readFileSync(0, 'utf8')).kind]) + '\\n')\n`
    writeFileSync(program, write)
    herd.settings(
      `[notify]\ncommand = [${JSON.stringify(process.execPath)}, ${JSON.stringify(program)}]\nby = ["command"]\n`,
    )
    const lines = (): unknown[] =>
      text(out)
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line))
    await ensureDaemon(herd.access)
    herd.works(toast)
    herd.asks(toast, `$(touch ${join(herd.root, 'executed')}); \`id\``)
    await until(() => lines().length === 1)
    await stopDaemon(herd.access)
    await ensureDaemon(herd.access)
    herd.says(toast, { hook_event_name: 'Notification', notification_type: 'permission_prompt', message: 'still' })
    await pause(300)
    herd.says(toast, { hook_event_name: 'PostToolUse', tool_name: 'Bash', tool_input: {} })
    await until(async () => (await herd.statusOf(toast))?.status === 'running')
    herd.finishes(toast)
    await until(() => lines().length >= 2)
    expect(lines()).toEqual([
      [expect.stringMatching(/^web\/toast waits for you: Bash: \$\(touch /), 'waiting'],
      ['web/toast has finished: finished', 'finished'],
    ])
    expect(existsSync(join(herd.root, 'executed'))).toBe(false)
  })
})
