import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { RUNNERS } from '../src/tools/index.js'
import { type JsonObject, objectAt } from '../src/tools/json-value.js'
import { ModelServer } from './model-server/model-server.js'
import { note, operation } from './operation.js'
import { Scratch } from './scratch.js'
import { Skein } from './skein.js'
import { REAL_TOOLS } from './tools/index.js'

const AGENT = 'web/worker'

/** What an agent is for, with the real programs and by the commands that a user types. Each test goes on where the one before it ended. */
describe.each(REAL_TOOLS)('an agent that runs $name $version', (tool) => {
  const asks = RUNNERS.find((runner) => runner.name === tool.name)?.can.asks ?? false
  let scratch: Scratch
  let server: ModelServer
  let skein: Skein
  let session: unknown

  beforeAll(async () => {
    server = await ModelServer.start({
      rules: [
        { when: /^remember/, steps: [{ text: 'I will remember it.' }] },
        { when: /^work/, steps: [{ text: 'Working.', do: [tool.doesFreely] }, { text: 'The work is done.' }] },
        {
          when: /^ask/,
          steps: [{ text: 'May I?', do: [tool.asksAbout ?? { run: 'touch asked.txt' }] }, { text: 'It was done.' }],
        },
        { when: /^think/, steps: [{ gate: 'thinking', text: 'I have thought.' }] },
        { when: /.*/, steps: [{ text: 'It was 4711.' }] },
      ],
    })
    scratch = new Scratch(tool.name)
    skein = new Skein(scratch, tool.setUp(scratch, server))
    await skein.run('group', 'create', 'web')
  })
  afterAll(async () => {
    scratch?.[Symbol.dispose]()
    await server?.[Symbol.asyncDispose]()
  })

  const listed = (wanted: JsonObject, timeoutMs?: number) => skein.listed(AGENT, wanted, timeoutMs)

  operation(tool.name, 'start with the chosen id', async () => {
    const started = await skein.run('start', '.', '--agent', AGENT, '--tool', tool.name)
    session = objectAt(started, 'agent')?.session_id
    expect(session).toMatch(/^[A-Za-z0-9_-]{20,}$/)
    await listed({ status: 'idle', session_id: session }, 60_000)
  })

  operation(tool.name, 'prompt', async () => {
    const sent = await skein.run('send', AGENT, 'remember the number 4711', '--wait', '--timeout', '60s')
    expect(sent).toMatchObject({ delivery: 'received', reply: 'I will remember it.' })
    expect(server.requests.at(-1)?.prompts).toEqual(['remember the number 4711'])
    expect(await skein.agent(AGENT)).toMatchObject({ session_id: session })
  })

  operation(tool.name, 'tool call', async () => {
    const sent = await skein.run('send', AGENT, 'work on it', '--wait', '--timeout', '60s')
    expect(sent).toMatchObject({ reply: 'The work is done.' })
    const last = server.requests.at(-1)
    expect(last).toMatchObject({ prompt: 'work on it', round: 1 })
    expect(last?.digest.filter((line) => line.startsWith('result ')).join('\n')).toMatch(/README|note\.md|[Ss]uccess/)
  })

  operation(tool.name, 'permission seen and approved', async (context) => {
    if (!asks) {
      note(context, 'never asks')
      // It never asks: what it is told to do is done, and there is nothing to approve.
      await skein.run('send', AGENT, 'ask me first', '--wait', '--timeout', '60s')
      await expect(skein.run('approve', AGENT)).rejects.toThrow(/nothing|not ask/i)
    } else {
      await skein.run('send', AGENT, 'ask me first')
      const { token } = await listed({ status: 'waiting', waiting_for: 'permission' })
      expect(existsSync(scratch.path('project/asked.txt'))).toBe(false)
      await expect(skein.run('approve', AGENT, '--token', 'permission-0-0')).rejects.toThrow()
      await skein.run('approve', AGENT, '--token', String(token))
      await skein.run('wait', AGENT, '--until', 'done', '--timeout', '60s')
    }
    expect(existsSync(scratch.path('project/asked.txt'))).toBe(true)
  })

  operation(tool.name, 'busy seen', async () => {
    await skein.run('send', AGENT, 'think about it')
    await server.arrival('thinking')
    await listed({ status: 'running' })
  })

  operation(tool.name, 'waiting seen', async () => {
    server.release('thinking')
    await listed({ status: 'waiting', waiting_for: 'finished' })
    await skein.run('ack', AGENT)
    await listed({ status: 'idle' })
  })

  operation(tool.name, 'restart resumes', async () => {
    await skein.run('restart', AGENT)
    await listed({ status: 'idle', session_id: session }, 60_000)
    const sent = await skein.run('send', AGENT, 'what was the number?', '--wait', '--timeout', '60s')
    expect(sent).toMatchObject({ reply: 'It was 4711.' })
    const prompts = server.requests.at(-1)?.prompts
    expect(prompts).toEqual(expect.arrayContaining(['remember the number 4711', 'work on it', 'what was the number?']))
    expect(await skein.agent(AGENT)).toMatchObject({ session_id: session })
  })

  operation(tool.name, 'stop leaves no process behind', async () => {
    const isOurs = (line: string): boolean => /^\d+ (tmux|.*skein\.js)/.test(line)
    const programs = (): string[] => scratch.processes().filter((line) => !isOurs(line))
    expect(programs()).not.toEqual([])
    await skein.run('stop', AGENT)
    expect(programs()).toEqual([])
    await listed({ status: 'stopped' })
  })
})
