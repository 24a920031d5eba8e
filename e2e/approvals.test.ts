import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RUNNERS } from '../src/tools/index.js'
import { isObject, type JsonObject, listAt } from '../src/tools/json-value.js'
import { ModelServer } from './model-server/model-server.js'
import { note, operation } from './operation.js'
import { Scratch } from './scratch.js'
import { Skein } from './skein.js'
import { REAL_TOOLS } from './tools/index.js'
import { opencode } from './tools/opencode.js'

const AGENT = 'web/worker'
const ASKING = REAL_TOOLS.filter(({ asksAbout }) => asksAbout !== undefined)

/** Two requests at once, of the real programs: what names one of them acts on that one. */
describe.each(ASKING)('two requests of $name $version', (tool) => {
  let scratch: Scratch
  let server: ModelServer
  let skein: Skein
  const made = (name: string): boolean => existsSync(scratch.path('project', name))
  const command = (run: string) => ({ run, ...(tool.name === 'codex' ? { outsideSandbox: true } : {}) })

  beforeAll(async () => {
    server = await ModelServer.start({
      rules: [
        {
          when: /^two/,
          steps: [
            { text: 'May I?', do: [command('touch one.txt'), command('touch two.txt')] },
            { text: 'Both are done.' },
          ],
        },
        { when: /.*/, steps: [{ text: 'Yes.' }] },
      ],
    })
    scratch = new Scratch(tool.name)
    skein = new Skein(scratch, tool.setUp(scratch, server))
    await skein.run('group', 'create', 'web')
    await skein.run('start', '.', '--agent', AGENT, '--tool', tool.name)
    await asked(({ status }) => status === 'idle')
    await skein.run('send', AGENT, 'two please')
  })
  afterAll(async () => {
    await skein?.run('kill', AGENT).catch(() => undefined)
    scratch?.[Symbol.dispose]()
    await server?.[Symbol.asyncDispose]()
  })

  /** Looks until the agent shows this. */
  async function asked(isIt: (agent: JsonObject, asks: JsonObject[]) => boolean): Promise<JsonObject[]> {
    const end = performance.now() + 60_000
    for (;;) {
      const agent = await skein.agent(AGENT)
      const asks = listAt(agent, 'asks').filter(isObject)
      if (isIt(agent, asks)) return asks
      if (performance.now() > end) throw new Error(`skein list shows ${JSON.stringify(agent)}`)
      await sleep(200)
    }
  }

  const isDrawn = ([ask]: JsonObject[]): boolean => listAt(ask, 'options').length > 0
  const fileOf = (ask: JsonObject | undefined): string => String(ask?.what).replace(/^[\s\S]*touch /, '')

  operation(tool.name, 'a token approves its own request alone', async (context) => {
    const byProtocol = RUNNERS.find(({ name }) => name === tool.name)?.answer !== undefined
    if (byProtocol) {
      note(context, 'by its API')
      const [first, second] = await asked((_, asks) => asks.length === 2)
      await expect(skein.run('approve', AGENT)).rejects.toThrow(/touch one\.txt.*touch two\.txt/s)
      await skein.run('approve', AGENT, '--token', String(second?.token))
      const left = await asked((_, asks) => asks.length === 1)
      expect(left).toMatchObject([{ token: first?.token, what: first?.what }])
      await expect(skein.run('approve', AGENT, '--token', String(second?.token))).rejects.toThrow(/another question/)
      expect([made(fileOf(first)), made(fileOf(second))]).toEqual([false, true])
      await skein.run('approve', AGENT, '--token', String(first?.token))
    } else {
      const [first] = await asked((_, asks) => isDrawn(asks))
      expect(first?.what).toMatch(/^touch (one|two)\.txt$/)
      await skein.run('keys', AGENT, 'Enter') // as its user would, in the pane: the first row is the one that allows
      const [next] = await asked((_, asks) => isDrawn(asks) && asks[0]?.token !== first?.token)
      expect(fileOf(next)).not.toBe(fileOf(first))
      await expect(skein.run('approve', AGENT, '--token', String(first?.token))).rejects.toThrow(/another question/)
      expect(made(fileOf(next))).toBe(false)
      await skein.run('approve', AGENT, '--token', String(next?.token))
    }
    await skein.run('wait', AGENT, '--until', 'done', '--timeout', '60s')
    expect([made('one.txt'), made('two.txt')]).toEqual([true, true])
  })
})

it('opencode: a question is answered by the label of its option', async () => {
  const options = ['Red', 'Blue'].map((label) => ({ label, description: `Take ${label}` }))
  const questions = [{ question: 'Which colour?', header: 'Colour', options }]
  const chosen = (messages: unknown): string => /Blue|Red/.exec(JSON.stringify(messages))?.[0] ?? 'nothing'
  await using server = await ModelServer.start({
    rules: [
      {
        when: /^ask/,
        steps: [
          { text: 'Tell me.', do: [{ tool: 'question', input: { questions } }] },
          { text: ({ messages }) => `You chose ${chosen(messages.slice(-1))}.` },
        ],
      },
      { when: /.*/, steps: [{ text: 'Yes.' }] },
    ],
  })
  using scratch = new Scratch('opencode')
  const skein = new Skein(scratch, opencode.setUp(scratch, server))
  await skein.run('start', '.', '--agent', 'worker', '--tool', 'opencode')
  const sent = await skein.failing('send', 'worker', 'ask me', '--wait', '--timeout', '90s')
  expect(sent).toMatchObject({ outcome: 'asks', reason: 'question: Which colour?' })
  await expect(skein.run('answer', 'worker', 'green')).rejects.toThrow(/It offers .*Red.*Blue/)
  expect((await skein.run('answer', 'worker', 'blue')).how).toMatch(/opencode took the answer "Blue"/)
  await skein.run('wait', 'worker', '--until', 'idle', '--timeout', '60s')
  expect(await skein.run('output', 'worker')).toMatchObject({ text: 'You chose Blue.', from: 'log' })
})
