import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { lifeOf } from '../../src/disk/index.js'
import { eventually, workshop } from './workshop.js'

/** One that has ended and that tmux has not taken notice of yet is not alive. */
const isAlive = (pid: number): boolean => lifeOf({ pid }) === 'alive'

describe('starting', () => {
  it('an agent is started with the chosen id, in its directory, and is said to be so when it is seen alive', async () => {
    const { agents, home, project, log } = await workshop()
    const started = await agents.start({ agent: 'web/toast', cwd: project, title: 'Front end', model: 'opus' })
    expect(started.did).toBe('started web/toast')
    expect(started.how).toMatch(/^process \d+ runs; (hook|pane) says idle$/)
    expect(started.agent).toMatchObject({
      address: 'web/toast',
      status: 'idle',
      tool: 'fake',
      tmux_session: 'web/toast',
    })
    const [first] = log()
    expect(first).toMatchObject({ started: started.agent.session_id, resumed: false })
    expect(started.session).toMatchObject({
      id: started.agent.session_id,
      agent: 'web/toast',
      model: 'opus',
      cwd: project,
    })
    expect(await home.events.read({ type: 'agent_started' })).toHaveLength(1)
    await eventually(
      async () => {
        await agents.list()
        return home.events.read({ type: 'identity_bind' })
      },
      (events) => events.length === 1,
    )
    // The id was chosen at the start; the program's own word confirms it, since when it is known.
    const [bound] = await agents.list()
    expect(bound).toMatchObject({ session_how: 'chosen', session_confirmed: true })
    expect(Date.parse(bound?.session_since ?? '')).toBeGreaterThan(0)
  })

  it('a name is made up from the directory, and a second start of the same agent is refused', async () => {
    const { agents, project } = await workshop()
    const { agent } = await agents.start({ cwd: project })
    expect(agent.address).toBe('project')
    await expect(agents.start({ agent: 'project', cwd: project })).rejects.toMatchObject({ code: 'agent-running' })
    expect((await agents.start({ cwd: project })).agent.address).toBe('project-2')
  })

  it('of two starts at once one starts it', async () => {
    const shop = await workshop()
    const other = await shop.again()
    const both = await Promise.allSettled([
      shop.agents.start({ agent: 'toast', cwd: shop.project }),
      other.agents.start({ agent: 'toast', cwd: shop.project }),
    ])
    const codes = both.map((one) => (one.status === 'fulfilled' ? 'started' : (one.reason as { code: string }).code))
    expect(codes.sort()).toEqual([expect.stringMatching(/agent-(exists|running)/), 'started'])
    expect(shop.log().filter(({ started }) => started)).toHaveLength(1)
  })

  it('a program that dies at once is reported with its last lines, and its session has crashed', async () => {
    const { agents, home, project } = await workshop()
    const failed = agents.start({ agent: 'toast', cwd: project, args: ['--die', '3', '--because', 'the key is wrong'] })
    await expect(failed).rejects.toMatchObject({
      code: 'agent-died',
      details: [expect.stringContaining('fake: cannot start, because the key is wrong')],
    })
    const [agent] = await agents.list()
    expect(agent).toMatchObject({ status: 'error', trouble: 'dead-pane', reason: 'exited 3' })
    expect(await home.sessions.find(agent?.session_id ?? '')).toMatchObject({ outcome: 'crash', reason: 'exited 3' })
  })

  it('an unknown tool and a directory that is not there are refused before anything runs', async () => {
    const { agents, project } = await workshop()
    await expect(agents.start({ cwd: project, tool: 'fkae' })).rejects.toMatchObject({
      code: 'tool-unknown',
      next: 'Did you mean fake ?',
    })
    await expect(agents.start({ cwd: join(project, 'no') })).rejects.toMatchObject({ code: 'bad-input' })
  })

  it('what is made without being started can be given work in between', async () => {
    const { agents, project, log } = await workshop()
    const made = await agents.spawn({ agent: 'toast', cwd: project, model: 'opus', work: 'wk-1' })
    expect(made).toMatchObject({ status: 'stopped', model: 'opus' })
    expect(log()).toEqual([])
    const { session } = await agents.start({ agent: 'toast', cwd: project })
    expect(session).toMatchObject({ work_unit: 'wk-1', model: 'opus' })
  })

  it('given variables reach the program and lie in a file of its user alone; the launch script is gone', async () => {
    const { agents, project, log, root, home } = await workshop()
    await agents.start({ agent: 'toast', cwd: project, env: { GIVEN: 's3cret value' } })
    expect(log()[0]).toMatchObject({ env: { GIVEN: 's3cret value' } })
    const [run] = await agents.runs()
    const directory = join(home.directory, 'agents', run?.agent ?? '')
    expect(statSync(join(directory, 'env.json')).mode & 0o777).toBe(0o600)
    // Its program has no use for a file of its own.
    expect(existsSync(join(directory, run?.run?.id ?? ''))).toBe(false)
    expect(readdirSync(directory).filter((name) => name.endsWith('.sh'))).toEqual([])
    expect(run?.recipe.env_names).toEqual(['GIVEN'])
    const journal = readFileSync(join(home.directory, 'events', '00000001.jsonl'), 'utf8')
    expect(journal).not.toContain('s3cret')
    await agents.restart('toast')
    expect(log().at(-1)).toMatchObject({ env: { GIVEN: 's3cret value' }, resumed: true })
    expect(existsSync(root)).toBe(true)
  })
})

describe('ending', () => {
  it('a stop asks it to leave, and its session has ended by its user', async () => {
    const { agents, home, project, log } = await workshop()
    const { agent } = await agents.start({ agent: 'toast', cwd: project })
    const stopped = await agents.stop('toast')
    expect(stopped).toMatchObject({ did: 'stopped toast', how: 'it exited gracefully', agent: { status: 'stopped' } })
    expect(log().at(-1)).toEqual({ quit: true })
    expect(await home.sessions.find(agent.session_id ?? '')).toMatchObject({ outcome: 'exit' })
    expect((await agents.stop('toast')).how).toBe('it was not running')
  })

  it.each(['stop', 'kill'] as const)(
    'a %s of one that has died unseen says so, and records what happened',
    async (end) => {
      const { agents, home, project } = await workshop()
      const { agent } = await agents.start({ agent: 'toast', cwd: project })
      const pid = (await agents.runs())[0]?.run?.pid ?? 0
      process.kill(pid, 'SIGKILL')
      while (lifeOf({ pid }) === 'alive') await new Promise(setImmediate)
      expect((await agents[end]('toast')).how).toBe('it was down, and will not be brought back')
      expect(await home.sessions.find(agent.session_id ?? '')).toMatchObject({ outcome: 'crash' })
      expect((await agents.runs())[0]?.run?.end).toMatchObject({ how: 'stopped', reason: 'killed by signal 9' })
    },
  )

  it('a stop interrupts work first, and ends what the agent left in the background', async () => {
    const { agents, project, log } = await workshop()
    await agents.start({ agent: 'toast', cwd: project })
    const { agent } = await agents.send('toast', 'shell 300')
    const [run] = await agents.runs()
    expect(agent.status).toBe('running')
    await agents.stop('toast')
    expect(log()).toContainEqual({ interrupted: true })
    await eventually(
      () => isAlive(run?.run?.pid ?? 0),
      (alive) => !alive,
    )
    const left = readdirSync('/proc').filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`SKEIN_RUN=${run?.run?.id}`)
      } catch {
        return false
      }
    })
    expect(left).toEqual([])
  })

  it('an agent that does not leave is ended with its processes only', async () => {
    const { agents, project } = await workshop()
    await agents.start({ agent: 'toast', cwd: project, args: ['--stubborn', '--dialog'] })
    await agents.start({ agent: 'butter', cwd: project })
    const stopped = await agents.stop('toast', { graceMs: 600 })
    expect(stopped.how).toBe('it did not exit gracefully, so its processes were ended')
    expect((await agents.list()).map(({ address, status }) => `${address} ${status}`).sort()).toEqual([
      'butter idle',
      'toast stopped',
    ])
  })

  it('a kill is said to be one', async () => {
    const { agents, home, project } = await workshop()
    const { agent } = await agents.start({ agent: 'toast', cwd: project, args: ['--stubborn'] })
    await agents.kill('toast')
    expect(await home.sessions.find(agent.session_id ?? '')).toMatchObject({ outcome: 'killed' })
    expect((await agents.list())[0]).toMatchObject({ status: 'stopped' })
  })
})

describe('restarting', () => {
  it('an agent goes on in its pane with its conversation, its arguments and its rights', async () => {
    const { agents, project, log } = await workshop()
    const { agent } = await agents.start({ agent: 'toast', cwd: project, args: ['--extra', 'x'], model: 'opus' })
    const again = await agents.restart('toast')
    expect(again).toMatchObject({ tier: 'respawned', agent: { session_id: agent.session_id, pane: agent.pane } })
    expect(log().at(-1)).toMatchObject({ started: agent.session_id, resumed: true })
    expect(log().at(-1)?.args).toEqual(['--resume', agent.session_id, '--model', 'opus', '--extra', 'x'])
  })

  it('a fresh restart begins another conversation, and the old one has ended', async () => {
    const { agents, home, project } = await workshop()
    const { agent } = await agents.start({ agent: 'toast', cwd: project })
    const again = await agents.restart('toast', { fresh: true })
    expect(again.agent.session_id).not.toBe(agent.session_id)
    expect(await home.sessions.find(agent.session_id ?? '')).toMatchObject({ outcome: 'exit' })
  })

  it('after the tmux server was killed the agent is recreated with the same conversation', async () => {
    const { agents, home, project, tmux, log } = await workshop()
    const { agent } = await agents.start({ agent: 'toast', cwd: project })
    tmux('kill-server')
    // Its process ends a moment after the server.
    const [gone] = await eventually(
      () => agents.list(),
      ([one]) => one?.reason === 'the tmux server is gone',
    )
    expect(gone).toMatchObject({ status: 'error', trouble: 'tmux-gone', session_id: agent.session_id })
    expect(await home.sessions.find(agent.session_id ?? '')).toMatchObject({ outcome: 'lost' })
    const again = await agents.restart('toast')
    expect(again).toMatchObject({ tier: 'recreated', agent: { session_id: agent.session_id, status: 'idle' } })
    expect(log().at(-1)).toMatchObject({ started: agent.session_id, resumed: true })
    expect((await home.sessions.find(agent.session_id ?? '')).outcome).toBeUndefined()
  })

  it('a restart that fails does not lose the conversation', async () => {
    const { agents, project } = await workshop()
    const { agent } = await agents.start({ agent: 'toast', cwd: project })
    const elsewhere = await agents.runs()
    await agents.stop('toast')
    await agents.spawn({ agent: 'toast', cwd: project, args: ['--die', '1'] })
    await expect(agents.restart('toast')).rejects.toMatchObject({ code: 'agent-died' })
    expect((await agents.runs())[0]?.binding?.session).toBe(agent.session_id)
    await agents.spawn({ agent: 'toast', cwd: project, args: ['--delay', '1'] })
    expect((await agents.restart('toast')).agent.session_id).toBe(agent.session_id)
    expect(elsewhere).toHaveLength(1)
  })
})

describe('talking', () => {
  it('a program that draws nothing for longer than a start may take is starting, and a prompt waits for it', async () => {
    const { agents, project } = await workshop()
    const { agent } = await agents.start({ agent: 'toast', cwd: project, args: ['--delay', '9000'] })
    expect(agent).toMatchObject({ status: 'starting', reason: 'its screen is still empty' })
    expect(await agents.send('toast', 'say hello', { wait: true })).toMatchObject({ outcome: 'replied' })
  })

  it('a prompt arrives once, as it was given, and the receipt says who confirmed it', async () => {
    const { agents, project, log } = await workshop()
    await agents.start({ agent: 'toast', cwd: project })
    const text = 'first line\n  second "line" with $(id) and #{pane_id}; `x`'
    const sent = await agents.send('toast', text)
    expect(sent).toMatchObject({ delivery: 'received', how: 'its program reported the prompt' })
    expect(log().filter(({ prompt }) => prompt !== undefined)).toMatchObject([{ prompt: text }])
    const waited = await agents.wait('toast', { until: 'idle', timeoutMs: 60_000 })
    expect(waited).toMatchObject({ status: 'waiting', waiting_for: 'finished' })
    expect((await agents.output('toast')).text).toContain('reply to first line')
    expect((await agents.ack('toast')).agent.status).toBe('idle')
  })

  it('without hooks the screen is the receipt, and two looks end the work', async () => {
    const { agents, project } = await workshop()
    await agents.start({ agent: 'toast', cwd: project, tool: 'mute' })
    const sent = await agents.send('toast', 'slow 1500', { wait: true, timeoutMs: 60_000 })
    expect(sent).toMatchObject({ delivery: 'received', how: 'pane says running' })
    expect(sent.agent).toMatchObject({ waiting_for: 'finished', source: 'pane' })
    expect(sent.reply).toContain('reply to slow 1500')
  })

  it.each([
    ['stuck here', 'stalled', 'nothing has changed for 5 s', 0],
    ['ignore this', 'typed', 'the text has left the input line; nothing else confirms it', 1],
  ] as const)(
    'what becomes of a text that nothing confirms is said as it is: %s',
    async (text, delivery, how, prompts) => {
      const { agents, project, log } = await workshop()
      await agents.start({ agent: 'toast', cwd: project })
      expect(await agents.send('toast', text)).toMatchObject({ delivery, how })
      expect(log().filter(({ prompt }) => prompt)).toHaveLength(prompts)
    },
  )

  it('nothing is ever typed into a dialog', async () => {
    const { agents, project, log } = await workshop()
    await agents.start({ agent: 'toast', cwd: project })
    await agents.send('toast', 'ask rm -rf /')
    await agents.wait('toast', { until: 'waiting', timeoutMs: 60_000 })
    await expect(agents.send('toast', 'yes please')).rejects.toMatchObject({ code: 'agent-not-ready' })
    expect(
      log().filter((entry) => 'typed_into_dialog' in entry || 'pasted_into_dialog' in entry || 'chosen' in entry),
    ).toEqual([])
  })

  it('what the tool would take as a command, and somebody else’s unsent words, are not sent', async () => {
    const { agents, project, log } = await workshop()
    await agents.start({ agent: 'toast', cwd: project })
    await expect(agents.send('toast', '!rm')).rejects.toMatchObject({ code: 'text-refused' })
    await agents.keys('toast', ['h', 'a', 'l', 'f'])
    await eventually(
      async () => (await agents.record('toast')).reading.draft,
      (draft) => draft === 'half',
    )
    await expect(agents.send('toast', 'go')).rejects.toMatchObject({
      code: 'agent-not-ready',
      message: expect.stringContaining('"half"'),
    })
    const sent = await agents.send('toast', 'go', { replaceDraft: true })
    expect(sent.delivery).toBe('received')
    expect(log().filter(({ prompt }) => prompt)).toMatchObject([{ prompt: 'go' }])
  })
})

describe('answering', () => {
  it.each([
    ['allow', 'Yes'],
    ['allow-always', 'Yes, always'],
    ['deny', 'No'],
  ] as const)('%s chooses by what the option means, wherever it stands', async (decision, label) => {
    const { agents, project, log } = await workshop()
    await agents.start({ agent: 'toast', cwd: project })
    await agents.send('toast', 'ask make')
    const asked = await agents.wait('toast', { until: 'waiting', timeoutMs: 60_000 })
    expect(asked).toMatchObject({ status: 'waiting', waiting_for: 'permission', reason: 'asks for make' })
    const answered = await agents.answer('toast', { decision }, { token: asked.token ?? '' })
    expect(answered.how).toBe(`chose ${JSON.stringify(label)}; the question is gone from its screen`)
    expect(log()).toContainEqual({ chosen: label })
    await agents.wait('toast', { until: 'idle', timeoutMs: 60_000 })
  })

  it('an answer to an older question is refused', async () => {
    const { agents, project, log } = await workshop()
    await agents.start({ agent: 'toast', cwd: project })
    await agents.send('toast', 'ask one')
    const first = await agents.wait('toast', { until: 'waiting', timeoutMs: 60_000 })
    await agents.answer('toast', { decision: 'deny' })
    await agents.wait('toast', { until: 'idle', timeoutMs: 60_000 })
    await expect(agents.answer('toast', { decision: 'allow' })).rejects.toMatchObject({ code: 'nothing-asked' })
    await agents.send('toast', 'ask two')
    await eventually(
      () => agents.why('toast'),
      ({ agent }) => agent.waiting_for === 'permission',
    )
    const late = agents.answer('toast', { decision: 'allow' }, { token: first.token ?? '' })
    await expect(late).rejects.toMatchObject({ code: 'stale-answer' })
    expect(log().filter(({ chosen }) => chosen)).toEqual([{ chosen: 'No' }])
  })

  it('an option that stops the tool from asking is never chosen for its user', async () => {
    const { agents, project, log } = await workshop()
    await agents.start({ agent: 'toast', cwd: project })
    await agents.send('toast', 'plan it')
    const asked = await agents.wait('toast', { until: 'waiting', timeoutMs: 60_000 })
    expect(asked.waiting_for).toBe('plan')
    await expect(agents.answer('toast', { choose: 'Yes, and stop asking' })).rejects.toMatchObject({
      code: 'not-answered',
    })
    await expect(agents.answer('toast', { choose: 'Yes' })).rejects.toMatchObject({ code: 'not-answered' })
    await agents.answer('toast', { decision: 'allow' })
    expect(log().filter(({ chosen }) => chosen)).toEqual([{ chosen: 'Yes, go on' }])
  })
})
