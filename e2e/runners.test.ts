import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RUNNERS } from '../src/tools/index.js'
import type { ToolRunner } from '../src/tools/run/tool-runner.js'
import { ModelServer } from './model-server/model-server.js'
import type { Script } from './model-server/script.js'
import { newSession, RealRun } from './run-tool.js'
import { Scratch } from './scratch.js'
import { REAL_TOOLS } from './tools/index.js'
import type { RealTool } from './tools/real-tool.js'

const scriptFor = (tool: RealTool): Script => ({
  rules: [
    { when: /^remember/, steps: [{ text: 'I will remember it.' }] },
    { when: /^think/, steps: [{ gate: 'thinking', text: 'I have thought.' }] },
    { when: /^write/, steps: [{ text: 'Writing.', do: [{ run: 'echo ran > ran.txt' }] }, { text: 'It is written.' }] },
    {
      when: /^ask/,
      steps: [{ text: 'May I?', do: [tool.asksAbout ?? { run: 'touch asked.txt' }] }, { text: 'It was done.' }],
    },
    { when: /^fail/, steps: [{ error: { status: 401, message: 'invalid API key' } }] },
    { when: /.*/, steps: [{ text: 'Gladly.' }] },
  ],
})

const runnerOf = (name: string): ToolRunner => {
  const runner = RUNNERS.find((one) => one.name === name)
  if (!runner) throw new Error(`no runner for ${name}`)
  return runner
}

describe.each(REAL_TOOLS)('the runner of $name with $name $version', (tool) => {
  const runner = runnerOf(tool.name)
  const session = newSession()
  let scratch: Scratch
  let server: ModelServer
  let env: Record<string, string>
  let run: RealRun

  beforeAll(async () => {
    server = await ModelServer.start(scriptFor(tool))
    scratch = new Scratch(tool.name)
    env = tool.setUp(scratch, server)
    run = await RealRun.start(scratch, runner, env, { kind: 'new', session })
  })
  afterAll(async () => {
    scratch?.[Symbol.dispose]()
    await server?.[Symbol.asyncDispose]()
  })

  it('starts it and sees that it is ready', async () => {
    await run.ready()
    expect(run.reading.draft).toBeUndefined()
  })

  it('hears of a prompt, of the conversation with the id that was chosen, and of the end of the turn', async () => {
    await run.pane.submit('remember the number 4711')
    const heard = await run.told('the prompt', (telling) => telling.prompt !== undefined)
    expect(heard.prompt).toBe('remember the number 4711')
    expect(run.prepared.session).toBeDefined()
    await run.told('the end of the turn', (telling) => telling.evidence?.status === 'idle' && telling !== heard)
    const named = run.tellings.flatMap((telling) => telling.identity?.session ?? [])
    expect(new Set(named)).toEqual(new Set([run.prepared.session]))
    await run.shows('idle')
  })

  it('sees that it is busy', async () => {
    await run.pane.submit('think about it')
    await server.arrival('thinking')
    await run.shows('running')
    await run.told('that it runs', (telling) => telling.evidence?.status === 'running')
    server.release('thinking')
    await run.pane.shows(/I have thought\./)
    await run.shows('idle')
  })

  if (runner.can.asks) {
    it('sees what it asks for, allows it, and sees it done', async () => {
      await run.pane.submit('ask me first')
      const reading = await run.shows('waiting')
      expect(reading).toMatchObject({ waiting_for: 'permission', dialog: { kind: 'permission' } })
      const asked = await run.told('what it asks for', (telling) => telling.request !== undefined)
      expect(asked).toMatchObject({ evidence: { status: 'waiting', waiting_for: 'permission' } })
      expect(asked.request?.what).toContain('touch asked.txt')
      expect(existsSync(scratch.path('project/asked.txt'))).toBe(false)
      if (runner.answer && asked.request) {
        const { port, secret } = run.launch
        await runner.answer({
          request: asked.request,
          reply: { decision: 'allow' },
          launch: { port, secret },
          session: run.prepared.session ?? session,
          signal: AbortSignal.timeout(10_000),
        })
      } else {
        await run.allow()
      }
      await run.pane.shows(/It was done\./)
      expect(existsSync(scratch.path('project/asked.txt'))).toBe(true)
      const settled = run.tellings.flatMap((telling) => telling.settled ?? [])
      expect(settled).toContain(asked.request?.id)
      await run.shows('idle')
    })
  }

  it('resumes the same conversation: the model is sent the old prompts', async () => {
    run.pane.press(...runner.keys.quit)
    await run.pane.until('it has ended', () => run.pane.isDead, 20_000)
    const chosen = run.prepared.session ?? session
    run = await RealRun.start(scratch, runner, env, { kind: 'resume', session: chosen })
    expect(run.prepared.session).toBe(chosen)
    await run.ready()
    await run.pane.submit('what was the number?')
    await run.pane.shows(/Gladly\./)
    expect(server.requests.at(-1)?.prompts).toEqual(
      expect.arrayContaining(['remember the number 4711', 'think about it', 'what was the number?']),
    )
    await run.told('the same conversation', (telling) => telling.identity?.session === chosen)
  })

  it('tells what went wrong when the model refuses', async () => {
    await run.pane.submit('fail now')
    const troubles = () => [run.reading.trouble, ...run.tellings.map((telling) => telling.evidence?.trouble)]
    await run.pane.until('the failure is seen or told', () => troubles().some((trouble) => trouble !== undefined))
    expect(troubles().filter((trouble) => trouble !== undefined)).toContain('auth')
  })
})
