import { describe, expect, it } from 'vitest'
import { type AgentSdk, type Conversations, runTurn } from '../../src/conversations/index.js'
import { BACKENDS, openStore } from './scratch.js'

const KEY = 'agent:main:discord:dm:u1'
const OPTIONS = { cwd: '/p', model: 'opus' }
const USAGE = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 0 }

type Script = (request: { prompt: string; options: Record<string, unknown> }) => AsyncIterable<unknown>
const init = (id: string) => ({ type: 'system', subtype: 'init', session_id: id, model: 'opus-1' })
const result = (id: string, text: string, more: object = {}) => ({
  type: 'result',
  subtype: 'success',
  session_id: id,
  is_error: false,
  result: text,
  usage: USAGE,
  total_cost_usd: 0.5,
  ...more,
})

/** A stand-in for the SDK (the real one is driven in test/real): remembers which sessions exist, and what it was asked. */
function scripted(script?: Script): AgentSdk & { asked: Record<string, unknown>[]; sessions: Set<string> } {
  const sessions = new Set<string>()
  const asked: Record<string, unknown>[] = []
  async function* query(request: { prompt: string; options: Record<string, unknown> }) {
    asked.push({ prompt: request.prompt, resume: request.options.resume })
    if (script) return yield* script(request)
    const { resume } = request.options
    if (resume !== undefined && !sessions.has(String(resume)))
      throw new Error(`No conversation found with session ID: ${resume}`)
    const id = resume === undefined ? `sdk-${sessions.size + 1}` : String(resume)
    sessions.add(id)
    yield init(id)
    yield result(id, `re: ${request.prompt}`)
  }
  return { query, asked, sessions }
}

const turn = (conversations: Conversations, sdk: AgentSdk, prompt: string, more: object = {}) =>
  runTurn({ conversations, key: KEY, prompt, options: OPTIONS, sdk, ...more })

describe.each(BACKENDS)('a turn on the %s backend', (backend) => {
  it('creates, then resumes, and adds up what was used', async () => {
    const main = openStore(backend).open('main')
    const sdk = scripted()
    expect(await turn(main, sdk, 'one')).toMatchObject({
      kind: 'replied',
      start: 'created',
      text: 're: one',
      sdkSessionId: 'sdk-1',
    })
    expect(await turn(main, sdk, 'two')).toMatchObject({ start: 'resumed', sdkSessionId: 'sdk-1' })
    expect(sdk.asked).toEqual([
      { prompt: 'one', resume: undefined },
      { prompt: 'two', resume: 'sdk-1' },
    ])
    expect((await main.get(KEY))?.entry).toMatchObject({
      inputTokens: 220,
      outputTokens: 10,
      totalTokens: 230,
      contextTokens: 115,
      model: 'opus-1',
      estimatedCostUsd: 0.5,
    })
    const said = (await main.transcript(KEY))?.entries.map(({ message }) => [message?.role, message?.usage?.cost.total])
    expect(said).toEqual([
      ['user', undefined],
      ['assistant', 0.5],
      ['user', undefined],
      ['assistant', 0],
    ])
  })

  it('starts anew and says so when the session is gone', async () => {
    const main = openStore(backend).open('main')
    const sdk = scripted()
    await turn(main, sdk, 'one')
    sdk.sessions.clear()
    sdk.sessions.add('taken')
    expect(await turn(main, sdk, 'two')).toMatchObject({
      start: 'restarted',
      sdkSessionId: 'sdk-2',
      notice: expect.stringContaining('sdk-1 no longer exists'),
    })
    expect((await main.get(KEY))?.entry.sdkSessionId).toBe('sdk-2')
  })

  it('keeps the session when the program dies during the reply, and the next turn resumes it', async () => {
    const main = openStore(backend).open('main')
    const dying = scripted(async function* () {
      yield init('sdk-9')
      throw new Error('killed')
    })
    await expect(turn(main, dying, 'one')).rejects.toMatchObject({
      code: 'turn-failed',
      message: expect.stringContaining('killed'),
    })
    const sdk = scripted()
    sdk.sessions.add('sdk-9')
    expect(await turn(main, sdk, 'again')).toMatchObject({ start: 'resumed', sdkSessionId: 'sdk-9' })
  })

  it('fails with what the SDK says, and leaves the binding as it was', async () => {
    const main = openStore(backend).open('main')
    await turn(main, scripted(), 'one')
    const failing = scripted(async function* () {
      yield init('sdk-1')
      yield result('sdk-1', '', { subtype: 'error_max_turns', is_error: true, errors: ['too many turns'] })
    })
    await expect(turn(main, failing, 'two')).rejects.toMatchObject({
      code: 'turn-failed',
      message: expect.stringContaining('too many turns'),
    })
    expect((await main.get(KEY))?.entry.sdkSessionId).toBe('sdk-1')
  })

  it('is refused while another one runs, and the other goes on', async () => {
    const main = openStore(backend).open('main')
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let begun = () => {}
    const running = new Promise<void>((resolve) => {
      begun = resolve
    })
    const slow = scripted(async function* () {
      yield init('sdk-1')
      begun()
      await held
      yield result('sdk-1', 'done')
    })
    const first = turn(main, slow, 'one')
    await running
    await expect(turn(main, scripted(), 'two')).rejects.toMatchObject({ code: 'conversation-busy' })
    await main.mirror(KEY, { text: 'a delivery meanwhile' }) // which is no turn
    release()
    expect(await first).toMatchObject({ text: 'done' })
  })

  it('passes options, messages and the signal through', async () => {
    const main = openStore(backend).open('main')
    const heard: unknown[] = []
    const abort = new AbortController()
    const sdk = scripted(async function* ({ options }) {
      expect(options).toMatchObject({ cwd: '/p', model: 'opus', maxTurns: 3 })
      const { signal } = options.abortController as AbortController
      abort.abort()
      expect(signal.aborted).toBe(true)
      yield init('sdk-1')
      yield result('sdk-1', 'ok')
    })
    await turn(main, sdk, 'one', {
      options: { ...OPTIONS, maxTurns: 3 },
      onMessage: (message: unknown) => heard.push(message),
      signal: abort.signal,
    })
    expect(heard).toHaveLength(2)
  })
})

it('does not resume a session that belongs to another agent', async () => {
  const store = openStore('rows')
  const sdk = scripted()
  await runTurn({ conversations: store.open('codex'), key: 'agent:codex:main', prompt: 'hi', options: OPTIONS, sdk })
  const main = store.open('main')
  await main.receive(KEY)
  // an SDK that answers with somebody else's session
  const lying = scripted(async function* () {
    yield init('sdk-1')
    yield result('sdk-1', 'secret')
  })
  await expect(turn(main, lying, 'hi')).rejects.toMatchObject({ code: 'foreign-conversation' })
  expect((await main.get(KEY))?.entry.sdkSessionId).toBeUndefined()
})

it('without the SDK says what to install', async () => {
  const main = openStore('rows').open('main')
  const running = runTurn({ conversations: main, key: KEY, prompt: 'hi', options: OPTIONS })
  await expect(running).rejects.toMatchObject({ code: 'sdk-missing', next: expect.stringContaining('npm install') })
})
