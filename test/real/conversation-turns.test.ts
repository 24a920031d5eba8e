import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { SessionEntry } from '../../src/conversations/index.js'
import { installed, offline } from './install.js'

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
}
const NAMES = ['first', 'second', 'lost', 'afterLoss', 'otherModel', 'fresh', 'onlyNew', 'otherAgent'] as const
let results: Record<(typeof NAMES)[number], Printed>
let requests: string[][] = []

beforeAll(() => {
  const cache = installed('agent-sdk', ['@anthropic-ai/claude-agent-sdk@0.3.325'])
  for (const name of ['home', 'config', 'project']) mkdirSync(join(root, name))
  const worker = fileURLToPath(new URL('../workers/turns-on-loopback.mjs', import.meta.url))
  const sdk = pathToFileURL(join(cache, 'node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs')).href
  const [command, args] = offline(process.execPath, worker, JSON.stringify({ sdk, root }))
  const printed = execFileSync(command, args, { encoding: 'utf8', cwd: root, maxBuffer: 1 << 26 })
  ;({ results, requests } = JSON.parse(printed))
  for (const name of NAMES) console.log(`${name}: ${JSON.stringify({ ...results[name], entry: undefined })}`)
}, 600_000)
afterAll(() => rmSync(root, { recursive: true, force: true }))

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

  it('the same person talking to another agent starts another session', () => {
    expect(results.otherAgent).toMatchObject({ start: 'created', text: 'heard: hi' })
  })
})
