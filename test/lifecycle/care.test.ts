import { expect, it } from 'vitest'
import { instantOf } from '../../src/model/index.js'
import { eventually, workshop } from './workshop.js'

it('a finished reply waits until it is seen; looking does not count, a snooze hides it for a while', async () => {
  const { agents, project, home } = await workshop()
  await agents.start({ agent: 'toast', cwd: project })
  await agents.send('toast', 'hello', { wait: true, timeoutMs: 60_000 })
  for (let looks = 0; looks < 3; looks += 1) expect((await agents.list())[0]).toMatchObject({ waiting_for: 'finished' })
  const snoozed = await agents.snooze('toast', instantOf(Date.now() + 3_600_000))
  expect(snoozed.agent).toMatchObject({ status: 'idle', snoozed_until: expect.any(String) })
  await agents.send('toast', 'again', { wait: true, timeoutMs: 60_000 })
  expect((await agents.list())[0]).toMatchObject({ status: 'waiting', waiting_for: 'finished' })
  expect((await agents.ack('toast')).agent.status).toBe('idle')
  await expect(agents.snooze('toast', instantOf(0))).rejects.toMatchObject({ code: 'bad-time' })
  expect((await home.events.read({ type: 'agent_acked' }))[0]?.payload).toMatchObject({ agent_id: expect.any(String) })
})

it('the evidence behind a status is told, from what is seen now and from the journal', async () => {
  const { agents, project } = await workshop()
  await agents.start({ agent: 'toast', cwd: project })
  await agents.send('toast', 'ask make')
  await agents.wait('toast', { until: 'waiting', timeoutMs: 60_000 })
  const { agent, evidence, history } = await agents.why('toast')
  expect(agent).toMatchObject({ status: 'waiting', waiting_for: 'permission', token: expect.any(String) })
  expect(evidence.filter(({ decided }) => decided)).toMatchObject([
    { source: 'hook', status: 'waiting', rule: 'hook:ask' },
  ])
  expect(evidence.map(({ source }) => source)).toEqual(['hook', 'pane', 'process'])
  expect(history.map(({ status }) => status)).toContain('idle')
  expect(history[0]).toMatchObject({ status: 'waiting', waiting_for: 'permission', source: 'hook' })
})

it('state is published as options of the pane', async () => {
  const { agents, project, tmux } = await workshop()
  const { agent } = await agents.start({ agent: 'toast', cwd: project })
  await agents.send('toast', 'forever')
  expect(tmux('show-options', '-pqv', '-t', agent.pane ?? '', '@skein_state').trim()).toBe('running')
})

it('what an outside program reports counts until something newer is known', async () => {
  const { agents, project } = await workshop()
  await agents.start({ agent: 'toast', cwd: project, tool: 'mute' })
  const reported = await agents.report('toast', {
    status: 'waiting',
    waiting_for: 'question',
    reason: 'asks for password=Tr0ub4dor33',
  })
  expect(reported).toMatchObject({
    ...{ status: 'waiting', waiting_for: 'question', source: 'report' },
    reason: 'asks for password=[REDACTED:password]',
  })
  const [later] = await eventually(
    () => agents.list(),
    ([one]) => one?.source === 'pane',
  )
  expect(later?.status).toBe('idle')
  await agents.stop('toast')
  await expect(agents.report('toast', { status: 'idle' })).rejects.toMatchObject({ code: 'agent-not-running' })
})

it('a rename and a move take the tmux session and its window along', async () => {
  const { agents, project, tmux } = await workshop()
  const windows = () =>
    tmux('list-windows', '-t', '=kitchen/crumb:', '-F', '#{window_name} #{automatic-rename}').split('\n')
  await agents.start({ agent: 'web/toast', cwd: project })
  expect(tmux('list-windows', '-a', '-F', '#{window_name}')).toContain('web/toast')
  tmux('new-window', '-t', '=web/toast:', '-n', 'mine', 'sleep 600') // and the user looks at it
  expect((await agents.rename('toast', 'crumb')).how).toBe('its tmux session is called web/crumb')
  await agents.move('crumb', 'kitchen')
  expect(tmux('list-sessions', '-F', '#{session_name}')).toContain('kitchen/crumb')
  expect(windows().slice(0, 2)).toEqual(['kitchen/crumb 0', 'mine 0'])
  expect((await agents.send('crumb', 'hello')).delivery).toBe('received')
  expect(await agents.attachCommand('crumb', {})).toContain('=kitchen/crumb')
})

it('the pane of a program that has ended says how to go on', async () => {
  const { agents, project, tmux } = await workshop()
  const { agent, session } = await agents.start({ agent: 'web/toast', cwd: project })
  const knowsFormat = tmux('show-options', '-gwqv', 'remain-on-exit-format') !== '' // tmux before 3.3 has its own words
  await agents.rename('toast', 'crumb')
  await agents.send('crumb', 'die 3')
  const id = agent.id.slice(0, 8)
  const note = knowsFormat
    ? `skein: the program has ended (exit 3). To go on: skein restart ${id}`
    : 'Pane is dead (status 3'
  await eventually(
    () => tmux('capture-pane', '-p', '-t', '=web/crumb:'),
    (screen) => screen.includes(note),
  )
  const again = await agents.restart(id)
  expect(again.agent).toMatchObject({ address: 'web/crumb', session_id: session?.id })
})

it.each(['ack', 'remove'] as const)(
  '%s of an agent whose program has ended closes its pane, and no other',
  async (verb) => {
    const { agents, project, tmux } = await workshop()
    const panes = () => tmux('list-panes', '-a', '-F', '#{session_name} #{window_name}').trim().split('\n')
    for (const agent of ['web/toast', 'web/jam']) await agents.start({ agent, cwd: project })
    tmux('new-window', '-d', '-t', '=web/jam:', '-n', 'mine', 'sleep 600')
    for (const agent of ['toast', 'jam']) await agents.send(agent, 'die 3')
    await eventually(
      () => agents.list(),
      (all) => all.every(({ status }) => status === 'error'),
    )
    expect(panes()).toEqual(expect.arrayContaining(['web/toast web/toast', 'web/jam web/jam', 'web/jam mine']))
    for (const agent of ['toast', 'jam']) await agents[verb](agent)
    expect(panes().filter((pane) => pane.startsWith('web/'))).toEqual(['web/jam mine'])
    if (verb === 'ack') expect((await agents.restart('toast')).agent).toMatchObject({ status: 'idle' })
  },
)

it('an archived agent is listed only when asked for', async () => {
  const { agents, project } = await workshop()
  await agents.start({ agent: 'toast', cwd: project })
  await expect(agents.archive('toast')).rejects.toMatchObject({ code: 'agent-running' })
  await agents.stop('toast')
  await agents.archive('toast')
  expect(await agents.list()).toEqual([])
  expect(await agents.list({ all: true })).toMatchObject([{ address: 'toast', archived_at: expect.any(String) }])
  await agents.unarchive('toast')
  expect((await agents.list())[0]?.archived_at).toBeUndefined()
})

it('a removed agent comes back as it was, with its conversation', async () => {
  const { agents, project, log } = await workshop()
  const { agent } = await agents.start({ agent: 'web/toast', cwd: project, env: { GIVEN: 'kept' }, title: 'Front end' })
  await expect(agents.remove('toast')).rejects.toMatchObject({ code: 'agent-running' })
  await agents.remove('toast', { force: true })
  expect(await agents.list({ all: true })).toEqual([])
  expect(await agents.runs()).toEqual([])
  const back = await agents.undoRemove()
  expect(back.agent).toMatchObject({
    id: agent.id,
    address: 'web/toast',
    title: 'Front end',
    session_id: agent.session_id,
  })
  await agents.restart('toast')
  expect(log().at(-1)).toMatchObject({ started: agent.session_id, resumed: true, env: { GIVEN: 'kept' } })
  await expect(agents.undoRemove('web/toast')).rejects.toMatchObject({ code: 'agent-not-found' })
})

it('an agent is meant by a unique end of its address', async () => {
  const { agents, project } = await workshop()
  for (const agent of ['a/x/toast', 'b/toast', 'b/jam']) await agents.spawn({ agent, cwd: project })
  expect(await agents.find('x/toast')).toBe('a/x/toast')
  expect(await agents.find('jam')).toBe('b/jam')
  expect(await agents.find('butter')).toBeUndefined()
  await expect(agents.stop('toast')).rejects.toMatchObject({ code: 'ambiguous-id' })
})
