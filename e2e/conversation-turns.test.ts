import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SessionEntry } from '../src/conversations/index.js'
import { ModelServer } from './model-server/model-server.js'
import { promptsOf } from './model-server/request.js'
import { mustBeOffline, programDirectory } from './programs.js'

const root = mkdtempSync(join(tmpdir(), 'skein-turns-'))
/** What one process printed about its turn. */
interface Printed {
  kind: string
  text: string
  sdkSessionId: string
  notice?: string
  usage: object
  entry: SessionEntry
  roles: string[]
  stopReasons: string[]
  compactions: { summary: string }[]
  /** What a model is given: see `contextOf`. */
  context: { summary?: string; said: string[] }
  delivered: string[]
  send?: string
}
const NAMES = [
  'first',
  'second',
  'lost',
  'afterLoss',
  'otherModel',
  'fresh',
  'onlyNew',
  'otherAgent',
  'denied',
  'failed',
  'afterFailure',
  'compacted',
  'afterCompaction',
  'image',
  'ownModel',
] as const
let results: Record<(typeof NAMES)[number], Printed>
let requests: readonly (readonly string[])[] = []
const models: string[] = []
let images: readonly string[] = []

const OTHER = 'agent:main:discord:dm:user456'
const DENY_SLACK = { rules: [{ match: { channel: 'slack' }, action: 'deny' }] }
const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const WITH_IMAGE = [
  { type: 'text', text: 'what is this?' },
  { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
]

/** The reply is every prompt the model was sent, so it proves by itself which history the client remembered. */
const EVERYTHING_HEARD = {
  rules: [
    { when: /Respond with TEXT ONLY/, steps: [{ text: 'They greeted each other.' }] },
    { when: /^fail/, steps: [{ error: { status: 400, message: 'this cannot be done' } }] },
  ],
  fallback: {
    text: (request: Parameters<typeof promptsOf>[0]) => {
      models.push(request.model)
      return `heard: ${promptsOf(request).join(' | ')}`
    },
    usage: { input: 12, output: 5, cacheRead: 100, cacheWrite: 7 },
  },
}

beforeAll(async () => {
  mustBeOffline()
  for (const name of ['home', 'config', 'project']) mkdirSync(join(root, name))
  await using server = await ModelServer.start(EVERYTHING_HEARD)
  const turn = turnsWith(server.url)
  const first = await turn('my name is Ada')
  const second = await turn('what is my name?')
  rmSync(join(root, 'config', 'projects'), { recursive: true, force: true }) // the tool's own clean-up, a month later
  results = {
    first,
    second,
    lost: await turn('still there?'),
    afterLoss: await turn('and now?'),
    otherModel: await turn('with another model', { model: 'claude-haiku-4-5' }),
    fresh: await turn('/new hello again', { model: 'claude-haiku-4-5' }),
    onlyNew: await turn('/new', { model: 'claude-haiku-4-5' }),
    otherAgent: await turn('hi', {}, 'agent:codex:discord:dm:user123'),
    denied: await turn('may I?', {}, 'agent:main:slack:dm:quiet', { policy: DENY_SLACK }),
    failed: await turn('fail please', {}, OTHER),
    afterFailure: await turn('once more', {}, OTHER),
    compacted: await turn('/compact', {}, OTHER),
    afterCompaction: await turn('what was said?', {}, OTHER),
    image: await turn(WITH_IMAGE, {}, OTHER),
    ownModel: await turn('hello', {}, 'agent:main:discord:dm:picky', {
      entry: { modelOverride: 'claude-haiku-4-5', thinkingLevel: 'low' },
    }),
  }
  requests = server.requests.map((request) => request.prompts)
  images = server.requests.flatMap(({ digest }) => digest.filter((line) => line.startsWith('user image ')))
  for (const name of NAMES) console.log(`${name}: ${JSON.stringify(results[name]).slice(0, 300)}`)
}, 600_000)
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** One turn, in a process of its own. */
function turnsWith(url: string) {
  const project = join(root, 'project')
  const worker = fileURLToPath(new URL('../test/workers/run-turn.mjs', import.meta.url))
  const sdk = pathToFileURL(
    join(programDirectory('agent-sdk'), 'node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs'),
  ).href
  const env = {
    PATH: process.env.PATH,
    HOME: join(root, 'home'),
    CLAUDE_CONFIG_DIR: join(root, 'config'),
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: `sk-ant-fake-${'0'.repeat(40)}`,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_AUTOUPDATER: '1',
    IS_SANDBOX: '1',
  }
  return async (
    prompt: unknown,
    more: object = {},
    key = 'agent:main:discord:dm:user123',
    rest: { policy?: object; entry?: object } = {},
  ): Promise<Printed> => {
    const options = { cwd: project, model: 'claude-sonnet-4-5', env, ...more }
    const request = JSON.stringify({ sdk, directory: join(root, 'store'), key, prompt, options, ...rest })
    const { stdout } = await promisify(execFile)(process.execPath, [worker, request], { env, cwd: project })
    return JSON.parse(stdout)
  }
}

describe('with the real Agent SDK and a scripted model', () => {
  it('the first message creates a session and binds it', () => {
    expect(results.first).toMatchObject({ kind: 'replied', start: 'created', text: 'heard: my name is Ada' })
    expect(results.first.entry.sdkSessionId).toBe(results.first.sdkSessionId)
    expect(results.first.entry.sdkFingerprint).toMatchObject({ cwd: join(root, 'project'), model: 'claude-sonnet-4-5' })
  })

  it('the second, from a new process, resumes it: the model is sent both', () => {
    expect(results.second).toMatchObject({
      kind: 'replied',
      start: 'resumed',
      sdkSessionId: results.first.sdkSessionId,
    })
    expect(results.second.text).toBe('heard: my name is Ada | what is my name?')
    expect(requests[1]).toEqual(['my name is Ada', 'what is my name?'])
    expect(results.second).not.toHaveProperty('notice')
  })

  it('usage adds up, and the transcript has every message', () => {
    expect(results.first.usage).toEqual({ input: 12, output: 5, cacheRead: 100, cacheWrite: 7 })
    expect(results.second.entry).toMatchObject({
      inputTokens: 238,
      outputTokens: 10,
      totalTokens: 248,
      contextTokens: 124,
    })
    expect(results.second.roles).toEqual(['user', 'assistant', 'user', 'assistant'])
  })

  it('a session that no longer exists starts anew, and says so', () => {
    expect(results.lost).toMatchObject({ kind: 'replied', start: 'restarted', text: 'heard: still there?' })
    expect(results.lost.notice).toContain(results.first.sdkSessionId)
    expect(results.lost.sdkSessionId).not.toBe(results.first.sdkSessionId)
    expect(results.afterLoss).toMatchObject({
      start: 'resumed',
      sdkSessionId: results.lost.sdkSessionId,
      text: 'heard: still there? | and now?',
    })
  })

  it('another model starts anew, and says so', () => {
    expect(results.otherModel).toMatchObject({ start: 'restarted', text: 'heard: with another model' })
    expect(results.otherModel.notice).toContain('claude-haiku-4-5')
  })

  it('/new forgets the session; alone, it asks the model nothing', () => {
    expect(results.fresh).toMatchObject({ start: 'created', text: 'heard: hello again', roles: ['user', 'assistant'] })
    expect(results.onlyNew).toMatchObject({ kind: 'reset' })
    expect(results.onlyNew.entry).not.toHaveProperty('sdkSessionId')
  })

  it('a reply that the policy denies is kept and not delivered', () => {
    expect(results.first).toMatchObject({ send: 'allow', delivered: ['heard: my name is Ada'] })
    expect(results.denied).toMatchObject({ kind: 'replied', send: 'deny', text: 'heard: may I?', delivered: [] })
    expect(results.denied.roles).toEqual(['user', 'assistant'])
  })

  it('a turn that fails says so in entry and transcript; the next success clears it', () => {
    expect(results.failed).toMatchObject({ kind: 'error', code: 'turn-failed' })
    expect(results.failed.entry).toMatchObject({ abortedLastRun: true })
    expect(results.failed.stopReasons.at(-1)).toBe('error')
    expect(results.afterFailure).toMatchObject({ kind: 'replied', entry: { abortedLastRun: false } })
  })

  it('a compaction is counted, and its summary takes the place of what was said before', () => {
    expect(results.compacted.entry).toMatchObject({ compactionCount: 1 })
    expect(results.compacted.compactions).toHaveLength(1)
    expect(results.afterCompaction.context.summary).toContain('They greeted each other.')
    expect(results.afterCompaction.context.said).not.toContain('once more')
    expect(results.afterCompaction.context.said).toContain('what was said?')
  })

  it('an image reaches the model', () => {
    expect(results.image).toMatchObject({ kind: 'replied' })
    expect(results.image.context.said).toContain('what is this?')
    expect(images).toHaveLength(1)
    expect(images[0]).toContain('image/png')
  })

  it('a conversation with a model of its own is answered by it', () => {
    expect(results.ownModel).toMatchObject({
      kind: 'replied',
      entry: { sdkFingerprint: { model: 'claude-haiku-4-5' } },
    })
    expect(models.at(-1)).toContain('haiku')
  })

  it('the same person talking to another agent starts another session', () => {
    expect(results.otherAgent).toMatchObject({ start: 'created', text: 'heard: hi' })
  })
})
