import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually, workshop } from './workshop.js'

describe('a prompt that is waited for', () => {
  it('that is interrupted says so, and not what was replied before', async () => {
    const { agents, project, log } = await workshop()
    await agents.start({ agent: 'toast', cwd: project })
    const first = await agents.send('toast', 'hello', { wait: true, timeoutMs: 60_000 })
    expect(first).toMatchObject({ outcome: 'replied' })
    expect(first.reply).toContain('reply to hello')
    await expect(agents.answer('toast', { decision: 'allow' })).rejects.toMatchObject({
      message: 'toast is not asking anything: it has finished',
    })
    const going = agents.send('toast', 'forever', { wait: true, timeoutMs: 60_000 })
    await eventually(log, (lines) => lines.some(({ prompt }) => prompt === 'forever'))
    await eventually(
      () => agents.list(),
      ([one]) => one?.status === 'running',
    )
    await agents.keys('toast', ['Escape'])
    const sent = await going
    expect(sent).toMatchObject({ outcome: 'interrupted', agent: { status: 'idle', reason: 'interrupted' } })
    expect(sent.reply).toBeUndefined()
  })

  it('that stays in the input line behind another turn has no reply, and never the other one', async () => {
    const { agents, project } = await workshop()
    await agents.start({ agent: 'toast', cwd: project })
    await agents.send('toast', 'slow 4000')
    const sent = await agents.send('toast', 'stuck words', { wait: true, timeoutMs: 60_000 })
    expect(sent).toMatchObject({ outcome: 'unknown', reason: 'the prompt is still in its input line and was not sent' })
    expect(sent.reply).toBeUndefined()
  })

  it('that needs an answer says what is asked', async () => {
    const { agents, project } = await workshop()
    await agents.start({ agent: 'toast', cwd: project })
    const sent = await agents.send('toast', 'ask rm', { wait: true, timeoutMs: 60_000 })
    expect(sent).toMatchObject({ outcome: 'asks', agent: { status: 'waiting', waiting_for: 'permission' } })
    expect(sent.reason).toMatch(/rm$/)
  })
})

describe('after a restart', () => {
  it.each([
    ['forever', 'running'],
    ['ask rm', 'waiting'],
  ])('an agent that was cut off in "%s" has finished nothing', async (prompt, status) => {
    const { agents, project } = await workshop()
    await agents.start({ agent: 'toast', cwd: project })
    await agents.send('toast', 'hello', { wait: true, timeoutMs: 60_000 })
    await agents.send('toast', prompt)
    await eventually(
      () => agents.list(),
      ([one]) => one?.status === status,
    )
    const { agent } = await agents.restart('toast')
    expect(agent).toMatchObject({ status: 'idle' })
    expect(agent.reason).toMatch(/^interrupted/)
  })

  it('a reply that nobody has seen still waits, as the same wait', async () => {
    const { agents, project } = await workshop()
    await agents.start({ agent: 'toast', cwd: project })
    const { agent: before } = await agents.send('toast', 'hello', { wait: true, timeoutMs: 60_000 })
    expect(before).toMatchObject({ waiting_for: 'finished' })
    await agents.restart('toast')
    const [after] = await eventually(
      () => agents.list(),
      ([one]) => one?.status === 'waiting',
    )
    expect(after?.token).toBe(before.token)
  })

  it('a new conversation has finished nothing', async () => {
    const { agents, project } = await workshop()
    await agents.start({ agent: 'toast', cwd: project })
    await agents.send('toast', 'hello', { wait: true, timeoutMs: 60_000 })
    const { agent } = await agents.restart('toast', { fresh: true })
    expect(agent).toMatchObject({ status: 'idle' })
    expect(agent.waiting_for).toBeUndefined()
  })

  it('behind a conversation that was killed, a new one continues its chain', async () => {
    const { agents, home, project } = await workshop()
    const { agent } = await agents.start({ agent: 'toast', cwd: project })
    const first = agent.session_id ?? ''
    await agents.kill('toast')
    const again = await agents.restart('toast', { fresh: true })
    const second = again.agent.session_id ?? ''
    expect(await home.sessions.get(second)).toMatchObject({ link: 'crash', parent_id: first, chain_id: first })
    expect(await home.sessions.get(first)).toMatchObject({ outcome: 'killed', child_id: second })
  })
})

it('a reply is seen by who begins another conversation in the program, and not by a program that begins empty', async () => {
  const { agents, project, tmux } = await workshop()
  await agents.start({ agent: 'toast', cwd: project })
  await agents.send('toast', 'hello', { wait: true, timeoutMs: 60_000 })
  const shows = (text: string): void =>
    writeFileSync(tmux('display-message', '-p', '-t', 'toast', '#{pane_tty}').trim(), `\x1b[2J\x1b[H${text}`)
  const listed = async () => (await agents.list())[0]
  await agents.restart('toast')
  shows('NOTHING WAS SAID YET\r\n> ')
  for (let looks = 0; looks < 3; looks += 1) expect(await listed()).toMatchObject({ waiting_for: 'finished' })
  shows('> ')
  await agents.send('toast', 'hello again', { wait: true, timeoutMs: 60_000 })
  expect(await listed()).toMatchObject({ waiting_for: 'finished' })
  shows('NOTHING WAS SAID YET\r\n> ')
  await eventually(listed, (one) => one?.status === 'idle')
  expect(await listed()).not.toHaveProperty('waiting_for')
})

it('a failure that was acknowledged is no error any more, and the next one is', async () => {
  const { agents, project } = await workshop()
  await agents.start({ agent: 'toast', cwd: project })
  const failed = await agents.report('toast', { status: 'error', trouble: 'auth', reason: 'not logged in' })
  expect(failed).toMatchObject({ status: 'error', trouble: 'auth' })
  const { agent, how } = await agents.ack('toast')
  expect(agent).toMatchObject({ status: 'idle', reason: 'seen: not logged in' })
  expect(how).toBe('its failure is marked as seen (not logged in)')
  await agents.send('toast', 'hello', { wait: true, timeoutMs: 60_000 })
  expect(await agents.report('toast', { status: 'error', reason: 'again' })).toMatchObject({ status: 'error' })
})

it('output is not the reply of the conversation before, once another was begun in the program', async () => {
  const clock = { aheadMs: 0, now: () => Date.now() + clock.aheadMs }
  const { agents, home, project, root, tmux } = await workshop({ clock })
  const { agent } = await agents.start({ agent: 'toast', cwd: project })
  const sessionId = agent.session_id ?? ''
  const directory = join(root, '.claude', 'projects', '-project')
  mkdirSync(directory, { recursive: true })
  const line = (type: 'user' | 'assistant', uuid: string, content: unknown): string =>
    `${JSON.stringify({ type, uuid, parentUuid: type === 'user' ? null : 'u1', sessionId, cwd: project, timestamp: new Date(clock.now()).toISOString(), message: { role: type, id: uuid, model: 'm', content } })}\n`
  writeFileSync(
    join(directory, `${sessionId}.jsonl`),
    line('user', 'u1', 'hello') + line('assistant', 'a1', [{ type: 'text', text: 'an old reply' }]),
  )
  await home.history.ingest()
  expect(await agents.output('toast')).toEqual(expect.objectContaining({ text: 'an old reply', from: 'log' }))
  const shows = (text: string): void =>
    writeFileSync(tmux('display-message', '-p', '-t', 'toast', '#{pane_tty}').trim(), `\x1b[2J\x1b[H${text}`)
  shows('NOTHING WAS SAID YET\r\n> ')
  clock.aheadMs = 60_000
  const output = await eventually(
    () => agents.output('toast'),
    ({ from }) => from === 'screen',
  )
  expect(output.text).not.toContain('an old reply')
})

it('output says when the last prompt has no reply, and what it prints is the reply to an earlier one', async () => {
  const { agents, home, project, root } = await workshop()
  const { agent } = await agents.start({ agent: 'toast', cwd: project })
  const sessionId = agent.session_id ?? ''
  const directory = join(root, '.claude', 'projects', '-project')
  mkdirSync(directory, { recursive: true })
  const log = join(directory, `${sessionId}.jsonl`)
  const said = async (type: 'user' | 'assistant', uuid: string, parentUuid: string | null, content: unknown) => {
    const facts = { sessionId, cwd: project, timestamp: new Date().toISOString() }
    const message = { role: type, id: uuid, model: 'm', content, stop_reason: type === 'user' ? null : 'end_turn' }
    appendFileSync(log, `${JSON.stringify({ type, uuid, parentUuid, ...facts, message })}\n`)
    await home.history.ingest()
  }
  await said('user', 'u1', null, 'hello')
  await said('assistant', 'a1', 'u1', [{ type: 'text', text: 'the first reply' }])
  const first = await agents.output('toast')
  expect(first).toMatchObject({ text: 'the first reply', from: 'log' })
  expect(first).not.toHaveProperty('is_earlier')
  await said('user', 'u2', 'a1', 'and now?')
  expect(await agents.output('toast')).toMatchObject({ text: 'the first reply', is_earlier: true })
  await said('assistant', 'a2', 'u2', [{ type: 'text', text: 'the second reply' }])
  const second = await agents.output('toast')
  expect(second).toMatchObject({ text: 'the second reply' })
  expect(second).not.toHaveProperty('is_earlier')
})
