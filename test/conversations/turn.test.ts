import { describe, expect, it } from 'vitest'
import { type AgentSdk, type Conversations, contextOf, runTurn, textOf } from '../../src/conversations/index.js'
import { BACKENDS, openStore } from './scratch.js'

const KEY = 'agent:main:discord:dm:u1'
const OPTIONS = { cwd: '/p', model: 'opus' }
const USAGE = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 0 }

type Script = (request: { prompt: unknown; options: Record<string, unknown> }) => AsyncIterable<unknown>
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

/** A stand-in for the SDK (the real one is driven in e2e/conversation-turns.test.ts): remembers which sessions exist, and what it was asked. */
function scripted(script?: Script): AgentSdk & { asked: Record<string, unknown>[]; sessions: Set<string> } {
  const sessions = new Set<string>()
  const asked: Record<string, unknown>[] = []
  async function* query(request: { prompt: unknown; options: Record<string, unknown> }) {
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

describe.each(BACKENDS)('a turn that does not end well on the %s backend', (backend) => {
  const failing = () =>
    scripted(async function* () {
      yield init('sdk-1')
      yield result('sdk-1', '', { subtype: 'error_during_execution', is_error: true, errors: ['overloaded'] })
    })
  const last = async (main: Conversations) => (await main.transcript(KEY))?.entries.at(-1)?.message

  it('says so in the entry and in the transcript; the next success clears it', async () => {
    const main = openStore(backend).open('main')
    await expect(turn(main, failing(), 'one')).rejects.toMatchObject({ code: 'turn-failed' })
    expect((await main.get(KEY))?.entry).toMatchObject({ abortedLastRun: true })
    expect(await last(main)).toMatchObject({
      role: 'assistant',
      content: [],
      stopReason: 'error',
      errorMessage: expect.stringContaining('overloaded'),
    })
    const sdk = scripted()
    sdk.sessions.add('sdk-1')
    await turn(main, sdk, 'again')
    expect((await main.get(KEY))?.entry).toMatchObject({ abortedLastRun: false })
    expect((await main.get(KEY))?.entry).not.toHaveProperty('turnStartedAt')
  })

  it('is called aborted when its caller aborts it', async () => {
    const main = openStore(backend).open('main')
    const abort = new AbortController()
    const hanging = scripted(async function* ({ options }) {
      yield init('sdk-1')
      abort.abort()
      throw (options.abortController as AbortController).signal.reason
    })
    await expect(turn(main, hanging, 'one', { signal: abort.signal })).rejects.toMatchObject({ code: 'turn-failed' })
    expect(await last(main)).toMatchObject({ stopReason: 'aborted' })
    expect((await main.get(KEY))?.entry).toMatchObject({ abortedLastRun: true })
  })

  it('is noticed by the next turn when its program was killed', async () => {
    const main = openStore(backend).open('main')
    await turn(main, scripted(), 'one')
    await main.patch(KEY, { turnStartedAt: 5 }) // what a killed program leaves
    await main.append(KEY, { role: 'user', content: 'lost' })
    const sdk = scripted()
    sdk.sessions.add('sdk-1')
    await turn(main, sdk, 'two')
    const said = (await main.transcript(KEY))?.entries.map(({ message }) => [message?.role, message?.stopReason])
    expect(said).toEqual([
      ['user', undefined],
      ['assistant', 'stop'],
      ['user', undefined],
      ['assistant', 'aborted'],
      ['user', undefined],
      ['assistant', 'stop'],
    ])
  })
})

describe.each(BACKENDS)('the send policy in a turn on the %s backend', (backend) => {
  const DENY = { rules: [{ match: { channel: 'discord' }, action: 'deny' as const }] }
  const setUp = (sendPolicy: object = {}) => openStore(backend, { sendPolicy }).open('main')

  it('allows by default: the reply is delivered to where the message came from', async () => {
    const main = setUp()
    const sent: unknown[] = []
    const deliver = async (reply: unknown) => void sent.push(reply)
    const inbound = { channel: 'discord', to: 'user:1' }
    expect(await turn(main, scripted(), 'one', { deliver, inbound })).toMatchObject({
      send: 'allow',
      sendDecidedBy: { kind: 'nothing-matched' },
      delivery: { kind: 'delivered' },
    })
    expect(sent).toEqual([{ text: 're: one', to: { channel: 'discord', to: 'user:1' } }])
  })

  it.each([
    ['of the store', DENY, {}],
    ['of the turn', {}, { policy: DENY }],
  ])('when it denies (%s), nothing is delivered, streamed or mirrored', async (_, ofStore, more) => {
    const main = setUp(ofStore)
    const sent: unknown[] = []
    const deliver = async (reply: unknown) => void sent.push(reply)
    const onMessage = (message: unknown) => void sent.push(message)
    expect(await turn(main, scripted(), 'one', { deliver, onMessage, ...more })).toMatchObject({
      kind: 'replied',
      text: 're: one',
      send: 'deny',
      sendDecidedBy: { kind: 'rule', rule: 0 },
      delivery: { kind: 'denied' },
    })
    expect(sent).toEqual([])
    if (ofStore !== DENY) return
    await expect(main.mirror(KEY, { text: 'x' })).rejects.toMatchObject({ code: 'send-denied' })
    expect((await main.transcript(KEY))?.entries).toHaveLength(2)
  })

  it('a denial that comes while the turn runs counts', async () => {
    const main = setUp()
    const sdk = scripted(async function* () {
      yield init('sdk-1')
      await main.patch(KEY, { sendPolicy: 'deny' })
      yield result('sdk-1', 'ok')
    })
    const deliver = async () => {
      throw new Error('must not be called')
    }
    expect(await turn(main, sdk, 'one', { deliver })).toMatchObject({
      send: 'deny',
      sendDecidedBy: { kind: 'override' },
      delivery: { kind: 'denied' },
    })
  })

  it('a delivery that fails does not lose the reply', async () => {
    const main = setUp()
    const deliver = async () => {
      throw new Error('channel is gone')
    }
    expect(await turn(main, scripted(), 'one', { deliver })).toMatchObject({
      text: 're: one',
      delivery: { kind: 'failed', because: 'channel is gone' },
    })
    expect((await main.get(KEY))?.entry).toMatchObject({ abortedLastRun: false })
  })
})

describe.each(BACKENDS)('what a conversation wants of a turn on the %s backend', (backend) => {
  const optionsOf = async (entry: object) => {
    const main = openStore(backend).open('main')
    await main.patch(KEY, entry, { onMissing: 'create' })
    let seen: Record<string, unknown> = {}
    const sdk = scripted(async function* ({ options }) {
      seen = options
      yield init('sdk-1')
      yield result('sdk-1', 'ok')
    })
    await turn(main, sdk, 'one')
    return { seen, fingerprint: (await main.get(KEY))?.entry.sdkFingerprint }
  }

  it('its own model, unless that is of another provider', async () => {
    expect(await optionsOf({ modelOverride: 'haiku' })).toMatchObject({
      seen: { model: 'haiku' },
      fingerprint: { model: 'haiku' },
    })
    expect((await optionsOf({ modelOverride: 'gpt', providerOverride: 'openai' })).seen.model).toBe('opus')
  })

  it('its own level of thinking', async () => {
    expect((await optionsOf({ thinkingLevel: 'high' })).seen).toMatchObject({ effort: 'high' })
    expect((await optionsOf({ thinkingLevel: 'off' })).seen).toMatchObject({ thinking: { type: 'disabled' } })
    expect((await optionsOf({ thinkingLevel: 'constructor' })).seen).not.toHaveProperty('effort')
  })

  it('images reach the SDK and stay in the transcript; a reset in front of them is obeyed', async () => {
    const main = openStore(backend).open('main')
    const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }
    const given: unknown[] = []
    const sdk = scripted(async function* ({ prompt }) {
      for await (const message of prompt as AsyncIterable<{ message: { content: unknown } }>)
        given.push(message.message.content)
      yield init('sdk-1')
      yield result('sdk-1', 'a cat')
    })
    const prompt = [{ type: 'text', text: '/new what is this?' }, image]
    await main.receive(KEY)
    expect(await turn(main, sdk, 'unused', { prompt })).toMatchObject({ text: 'a cat' })
    const content = [{ type: 'text', text: 'what is this?' }, image]
    expect(given).toEqual([content])
    expect((await main.transcript(KEY))?.entries[0]?.message).toMatchObject({ role: 'user', content })
    await expect(turn(main, sdk, 'unused', { prompt: [{ type: 'image' }] })).rejects.toMatchObject({
      code: 'bad-input',
    })
  })

  it('compactions of the SDK are counted and written down', async () => {
    const main = openStore(backend).open('main')
    const sdk = scripted(async function* () {
      yield init('sdk-1')
      yield { type: 'system', subtype: 'compact_boundary', compact_metadata: { trigger: 'auto', pre_tokens: 900 } }
      yield { type: 'user', message: { role: 'user', content: 'Summary: much was said' } }
      yield { type: 'user', message: { role: 'user', content: 'no summary' } }
      yield { type: 'system', subtype: 'compact_boundary', compact_metadata: { trigger: 'auto' } }
      yield result('sdk-1', 'ok')
    })
    await main.receive(KEY)
    await main.append(KEY, { role: 'user', content: 'long ago' })
    await turn(main, sdk, 'one')
    const transcript = await main.transcript(KEY)
    expect(transcript?.entries.filter(({ type }) => type === 'compaction')).toMatchObject([
      { summary: 'Summary: much was said', tokensBefore: 900 },
      { summary: '', tokensBefore: 0 },
    ])
    expect((await main.get(KEY))?.entry.compactionCount).toBe(2)
    if (!transcript) throw new Error('no transcript')
    expect(contextOf(transcript).entries.map(({ message }) => message && textOf(message))).toEqual(['one', 'ok'])
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
