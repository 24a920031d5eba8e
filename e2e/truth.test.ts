import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { LOG_TOOLS, RUNNERS } from '../src/tools/index.js'
import { isObject, type JsonObject, listAt } from '../src/tools/json-value.js'
import { ModelServer } from './model-server/model-server.js'
import { promptsOf } from './model-server/request.js'
import { NoticeLog } from './notice-log.js'
import { note, operation } from './operation.js'
import { Scratch } from './scratch.js'
import { Skein, until } from './skein.js'
import { gemini } from './tools/gemini.js'
import { REAL_TOOLS } from './tools/index.js'
import { pi } from './tools/pi.js'
import { User } from './user.js'

const AGENT = 'worker'
const WAIT = ['--wait', '--timeout', '60s']

/** What is said about an agent is true when a turn fails, is interrupted, waits behind another or begins a new conversation. */
describe.each(REAL_TOOLS)('what is said about $name $version', (tool) => {
  const runner = RUNNERS.find(({ name }) => name === tool.name)
  const logs = LOG_TOOLS.find(({ name }) => name === tool.name)
  let scratch: Scratch
  let server: ModelServer
  let skein: Skein
  let session: unknown

  beforeAll(async () => {
    server = await ModelServer.start({
      rules: [
        { when: /^fail/, steps: [{ error: tool.refusal }] },
        { when: /^think/, steps: [{ gate: 'thinking', text: 'I have thought.' }] },
        {
          when: /^work/,
          steps: [
            { text: 'I look first.', do: [tool.doesFreely] },
            { gate: 'working', text: 'Worked.' },
          ],
        },
        { when: /^ponder/, steps: [{ gate: 'pondering', text: 'I have pondered.' }] },
        // How often this was asked, so that the same question has another answer each time.
        {
          when: /^count/,
          steps: [{ text: ({ messages }) => `Count ${JSON.stringify(messages).split('count it').length - 1}.` }],
        },
        { when: /.*/, steps: [{ text: 'Hello to you.' }] },
      ],
    })
    scratch = new Scratch(tool.name)
    skein = new Skein(scratch, tool.setUp(scratch, server))
    await skein.run('start', '.', '--agent', AGENT, '--tool', tool.name)
    session = (await skein.agent(AGENT)).session_id
  })
  afterAll(async () => {
    scratch?.[Symbol.dispose]()
    await server?.[Symbol.asyncDispose]()
  })

  const turns = async (): Promise<JsonObject[]> => {
    await skein.run('ingest')
    return listAt(await skein.run('turns', String(session)), 'turns').filter(isObject)
  }

  operation(tool.name, 'start with trust dialog', async (context) => {
    if (typeof tool.untrusted === 'string') {
      note(context, tool.untrusted)
      return
    }
    using own = new Scratch(tool.name)
    const there = new Skein(own, tool.untrusted(own, server))
    await there.run('daemon', 'stop')
    const started = await there.run('start', '.', '--agent', AGENT, '--tool', tool.name, '--prompt', 'hello')
    expect(started.how).toMatch(/the prompt is kept/)
    expect(await there.listed(AGENT, { status: 'waiting', waiting_for: 'question' })).toHaveProperty(
      'pending_prompt_at',
    )
    const asked = server.requests.length
    await there.run('approve', AGENT)
    await there.run('wait', AGENT, '--until', 'idle', '--timeout', '60s')
    expect(await there.run('output', AGENT)).toMatchObject({ text: 'Hello to you.', from: 'log' })
    expect(server.requests.slice(asked).map(({ prompts }) => prompts)).toEqual([['hello']])
    expect(await there.agent(AGENT)).not.toHaveProperty('pending_prompt_at')
  })

  operation(tool.name, 'wait returns this turn', async () => {
    expect(await skein.run('send', AGENT, 'hello', ...WAIT)).toMatchObject({ reply: 'Hello to you.' })
    expect(await skein.run('send', AGENT, 'count it', ...WAIT)).toMatchObject({ outcome: 'replied', reply: 'Count 1.' })
    expect(await skein.run('send', AGENT, 'count it', ...WAIT)).toMatchObject({ outcome: 'replied', reply: 'Count 2.' })
    // Behind a turn that goes on.
    await skein.run('send', AGENT, 'ponder it')
    await server.arrival('pondering')
    await skein.listed(AGENT, { status: 'running' })
    const queued = skein.run('send', AGENT, 'count it', ...WAIT)
    await until('the prompt is typed', async () => {
      const { text } = await skein.run('output', AGENT, '--screen')
      return String(text).split('count it').length > 3
    })
    server.release('pondering')
    expect(await queued).toMatchObject({ reply: 'Count 3.' })
  })

  operation(tool.name, 'failure shown as failure', async () => {
    const sent = await skein.failing('send', AGENT, 'fail now', ...WAIT)
    expect(sent).toMatchObject({ outcome: 'failed' })
    expect(sent.reply).toBeUndefined()
    const shown = await skein.agent(AGENT)
    expect(shown).toMatchObject({ status: 'error', trouble: tool.refusal.trouble })
    expect(shown.reason).toMatch(/^the (last )?turn failed: /)
    if (logs?.can.failed.yes) expect((await turns()).at(-1)).toMatchObject({ prompt: 'fail now', outcome: 'failed' })
    expect(await skein.agent(AGENT)).toMatchObject({ status: 'error', since: shown.since })
    await skein.run('ack', AGENT)
    expect(await skein.agent(AGENT)).toMatchObject({ status: 'idle' })
    expect(await skein.run('send', AGENT, 'hello', ...WAIT)).toMatchObject({ reply: 'Hello to you.' })
    expect(await skein.agent(AGENT)).toMatchObject({ status: 'waiting', waiting_for: 'finished' })
  })

  operation(tool.name, 'interrupt', async () => {
    const sent = skein.failing('send', AGENT, 'think it over', ...WAIT)
    await server.arrival('thinking')
    await skein.listed(AGENT, { status: 'running' })
    const before = new Date().toISOString()
    await skein.run('keys', AGENT, ...(runner?.keys.interrupt ?? []))
    expect(await sent).toMatchObject({ outcome: 'interrupted' })
    const shown = await skein.agent(AGENT)
    expect(shown).toMatchObject({ status: 'idle', reason: 'interrupted' })
    expect(String(shown.since) >= before).toBe(true)
    // What was interrupted before any reply may stand in the input line again.
    await skein.run('send', AGENT, 'hello', '--replace-draft', ...WAIT)
    // One without any reply is not in every log.
    const logged = (await turns()).filter(({ prompt }) => prompt === 'think it over')
    if (logs?.can.aborted.yes) expect(logged.map(({ outcome }) => outcome)).not.toContain('completed')
  })

  operation(tool.name, 'killed turn shown as such', async () => {
    await skein.run('send', AGENT, 'work on it')
    await server.arrival('working')
    process.kill(Number((await skein.listed(AGENT, { status: 'running' })).pid), 'SIGKILL')
    await skein.listed(AGENT, { status: 'error', trouble: 'dead-pane' })
    await skein.run('restart', AGENT)
    await skein.listed(AGENT, { status: 'idle', reason: 'interrupted: its program ended in the middle of the turn' })
    expect(await skein.run('send', AGENT, 'hello', '--replace-draft', ...WAIT)).toMatchObject({
      reply: 'Hello to you.',
    })
    const [killed, next] = (await turns()).slice(-2)
    // Claude Code may note at its next start that the turn was interrupted.
    expect(killed).toMatchObject({ prompt: 'work on it', outcome: expect.stringMatching(/^(?:open|aborted)$/) })
    expect(next).toMatchObject({ prompt: 'hello', outcome: 'completed' })
  })

  operation(tool.name, '/new or /clear followed', async (context) => {
    note(context, tool.another.command)
    await skein.types(AGENT, tool.another.command)
    if (tool.another.asksWhere) {
      await skein.listed(AGENT, { status: 'waiting', waiting_for: 'question' })
      await skein.run('keys', AGENT, 'Enter')
    }
    await skein.listed(AGENT, { status: 'idle' })
    // Those whose screens and reports say so before the first prompt.
    if (['claude', 'codex'].includes(tool.name))
      await until(
        'its output is not the reply of the conversation before',
        async () => (await skein.run('output', AGENT)).from === 'screen',
      )
    const counted = await skein.run('send', AGENT, 'count it', ...WAIT).catch(async (error: unknown) => {
      // Where a list of commands opens late, Enter has chosen from it and sent nothing.
      if (!String(error).includes('unsent text')) throw error
      await skein.run('keys', AGENT, 'Enter')
      await skein.listed(AGENT, { status: 'idle' })
      return skein.run('send', AGENT, 'count it', ...WAIT)
    })
    expect(counted).toMatchObject({ reply: 'Count 1.' })
    const { session_id: next } = await skein.agent(AGENT)
    expect(next).not.toBe(session)
    expect(await skein.run('show', String(session))).toMatchObject({ outcome: 'clear', child_id: next })
    expect(await skein.run('show', String(next))).toMatchObject({ link: 'clear', chain_id: session })
    await skein.run('restart', AGENT)
    expect(await skein.run('send', AGENT, 'count it', ...WAIT)).toMatchObject({ reply: 'Count 2.' })
    expect(await skein.agent(AGENT)).toMatchObject({ session_id: next })
  })
})

it('pi: a try that it repeats is no failure, and the turn that fails in the end is reported once', async () => {
  await using server = await ModelServer.start({
    rules: [
      {
        when: /^busy/,
        steps: [{ error: { status: 429, message: 'too many requests', times: 1 }, text: 'Now it works.' }],
      },
      { when: /^broken/, steps: [{ error: { status: 500, message: 'internal' } }] },
    ],
  })
  using scratch = new Scratch('pi')
  const notices = new NoticeLog(scratch)
  const skein = new Skein(scratch, pi.setUp(scratch, server))
  await skein.run('daemon', 'start')
  await skein.run('start', '.', '--agent', AGENT, '--tool', 'pi')
  expect(await skein.run('send', AGENT, 'busy now', ...WAIT)).toMatchObject({ reply: 'Now it works.' })
  expect(await skein.failing('send', AGENT, 'broken now', ...WAIT)).toMatchObject({ outcome: 'failed' })
  await skein.listed(AGENT, { status: 'error', trouble: 'api-error' })
  await notices.reaches(2)
  expect(notices.given).toEqual([`${AGENT} finished`, `${AGENT} failed`])
})

it('gemini: a conversation begun with /clear, in which nothing was said yet, is there again after a restart', async () => {
  await using user = await User.of([gemini])
  const { skein } = user
  await user.agentAtWork(AGENT, gemini)
  await skein.types(AGENT, gemini.another.command)
  const { session_id: next } = await skein.listed(AGENT, { status: 'idle' })
  await skein.run('restart', AGENT)
  expect(await skein.listed(AGENT, { status: 'idle' }, 60_000)).toMatchObject({ session_id: next })
  expect(await skein.run('send', AGENT, 'hello', ...WAIT)).toMatchObject({ reply: 'Gladly.' })
  expect(await skein.agent(AGENT)).toMatchObject({ session_id: next })
})

describe.each(REAL_TOOLS.filter(({ asksAbout }) => asksAbout))('what is refused to $name $version', (tool) => {
  operation(tool.name, 'a refusal ends the turn', async () => {
    await using server = await ModelServer.start({
      rules: [
        { when: /^ask/, steps: [{ text: 'May I?', do: tool.asksAbout ? [tool.asksAbout] : [] }] },
        { when: /.*/, steps: [{ text: 'Hello to you.' }] },
      ],
    })
    using scratch = new Scratch(tool.name)
    const notices = new NoticeLog(scratch)
    const skein = new Skein(scratch, tool.setUp(scratch, server))
    await skein.run('daemon', 'start')
    await skein.run('start', '.', '--agent', AGENT, '--tool', tool.name)
    expect(await skein.failing('send', AGENT, 'ask me', ...WAIT)).toMatchObject({ outcome: 'asks' })
    await skein.run('deny', AGENT)
    // Before a program that tells every end would be given up.
    await skein.listed(AGENT, { status: 'idle', reason: 'interrupted' }, 20_000)
    expect(notices.given).toEqual([`${AGENT} waiting`])
    expect(await skein.run('send', AGENT, 'hello', '--replace-draft', ...WAIT)).toMatchObject({
      reply: 'Hello to you.',
    })
    await skein.run('ingest')
    const logged = listAt(await skein.run('turns', AGENT), 'turns').filter(isObject)
    const mayBeOpen = !LOG_TOOLS.find(({ name }) => name === tool.name)?.can.aborted.yes
    expect(logged.map(({ prompt, outcome }) => [prompt, outcome])).toEqual([
      ['ask me', mayBeOpen ? 'open' : 'aborted'],
      ['hello', 'completed'],
    ])
  })
})

it('gemini: a conversation that is chosen in its own list (/resume) is followed', async () => {
  await using server = await ModelServer.start({
    rules: [{ when: /.*/, steps: [{ text: (request) => `Said ${promptsOf(request).length}.` }] }],
  })
  using scratch = new Scratch('gemini')
  const skein = new Skein(scratch, gemini.setUp(scratch, server))
  await skein.run('start', '.', '--agent', AGENT, '--tool', 'gemini')
  await skein.run('send', AGENT, 'hello', ...WAIT)
  const { session_id: first } = await skein.agent(AGENT)
  await skein.types(AGENT, '/clear')
  await skein.listed(AGENT, { status: 'idle' })
  expect(await skein.run('send', AGENT, 'hello', ...WAIT)).toMatchObject({ reply: 'Said 1.' })
  const { session_id: second } = await skein.agent(AGENT)
  expect(second).not.toBe(first)
  const shows = (pattern: RegExp) => async (): Promise<boolean> =>
    pattern.test(String((await skein.run('output', AGENT, '--screen')).text))
  await skein.types(AGENT, '/resume')
  await until('its list is open', shows(/❯ #1 /))
  await skein.run('keys', AGENT, 'Down')
  await until('the other one is chosen', shows(/❯ #2 /))
  await skein.run('keys', AGENT, 'Enter')
  await until('its list is closed', shows(/Type your message/))
  expect(await skein.run('send', AGENT, 'hello', ...WAIT)).toMatchObject({ reply: 'Said 2.' })
  expect(await skein.agent(AGENT)).toMatchObject({ session_id: first })
})
