import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  fingerprintOf,
  loadSessionStore,
  normalizeDelivery,
  resolveSendPolicy,
  saveSessionStore,
  updateSessionStore,
} from '../../src/conversations/index.js'
import { BACKENDS, openStore, scratch } from './scratch.js'

const KEY = 'agent:main:discord:dm:user123'

/** The list at the end of the document that asked for this store, one test each; other files go deeper. */
describe('the checklist of the conversation store', () => {
  it('locking under concurrency', async () => {
    const path = join(scratch(), 'sessions.json')
    const add = () =>
      updateSessionStore(path, async (store) => {
        const before = store[KEY]?.inputTokens ?? 0
        await new Promise((resolve) => setTimeout(resolve, 1))
        store[KEY] = { sessionId: 's', updatedAt: 1, inputTokens: before + 1 }
      })
    await Promise.all(Array.from({ length: 25 }, add))
    expect(loadSessionStore(path)[KEY]?.inputTokens).toBe(25)
  })

  it('cache invalidation on writes', async () => {
    const path = join(scratch(), 'sessions.json')
    await saveSessionStore(path, { [KEY]: { sessionId: 'a', updatedAt: 1 } })
    expect(loadSessionStore(path)[KEY]?.sessionId).toBe('a')
    await saveSessionStore(path, { [KEY]: { sessionId: 'b', updatedAt: 1 } })
    expect(loadSessionStore(path)[KEY]?.sessionId).toBe('b')
  })

  describe.each(BACKENDS)('on the %s backend', (backend) => {
    it('isolation of agents', async () => {
      const store = openStore(backend)
      await store.open('main').receive(KEY)
      await store.open('codex').receive('agent:codex:discord:dm:user123')
      expect((await store.open('main').list()).map((row) => row.key)).toEqual([KEY])
      await expect(store.open('codex').get(KEY)).rejects.toMatchObject({ code: 'foreign-conversation' })
    })

    it('transcripts are JSON lines', async () => {
      const main = openStore(backend).open('main')
      await main.receive(KEY)
      await main.append(KEY, { role: 'user', content: 'a\nb' })
      await main.append(KEY, { role: 'assistant', content: 'c' })
      const lines = readFileSync(await main.transcriptPath(KEY), 'utf8')
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(lines.map((line) => line.type)).toEqual(['session', 'message', 'message'])
      expect(lines[2].parentId).toBe(lines[1].id)
    })

    it('resumption by the id of the SDK session', async () => {
      const main = openStore(backend).open('main')
      const run = fingerprintOf({ cwd: '/p' })
      await main.receive(KEY)
      await main.bind(KEY, 'sdk-1', run)
      expect(await main.resumption(KEY, run)).toEqual({ kind: 'resume', sdkSessionId: 'sdk-1' })
    })

    it('threads have transcripts of their own', async () => {
      const main = openStore(backend).open('main')
      await main.receive(KEY)
      const thread = await main.thread(KEY, 123)
      expect(await main.transcriptPath(thread.key)).toMatch(/-topic-123\.jsonl$/)
      expect(await main.transcriptPath(KEY)).not.toMatch(/topic/)
    })

    it('clean-up and reset', async () => {
      const main = openStore(backend).open('main')
      await main.receive(KEY)
      await main.append(KEY, { role: 'user', content: 'x' })
      expect((await main.reset(KEY)).archived).toHaveLength(1)
      expect(await main.get(KEY)).toBeUndefined()
    })

    it('files are 0600', async () => {
      const main = openStore(backend).open('main')
      await main.receive(KEY)
      await main.append(KEY, { role: 'user', content: 'x' })
      const transcript = await main.transcriptPath(KEY)
      const store =
        backend === 'rows' ? join(transcript, '../../conversations.db') : join(transcript, '../sessions.json')
      for (const path of [transcript, store]) expect(statSync(path).mode & 0o777).toBe(0o600)
    })
  })

  it('order of the send policy: override, first rule, default, allow', () => {
    const rules = [
      { match: { channel: 'discord' }, action: 'deny' as const },
      { match: { keyPrefix: 'agent:main:discord' }, action: 'allow' as const },
    ]
    const ask = (sendPolicy: object, entry = {}) =>
      resolveSendPolicy({ cfg: { session: { sendPolicy } }, entry, sessionKey: KEY })
    expect(ask({ rules }, { sendPolicy: 'allow' })).toBe('allow')
    expect(ask({ rules, default: 'allow' })).toBe('deny')
    expect(ask({ rules: [], default: 'deny' })).toBe('deny')
    expect(ask({})).toBe('allow')
  })

  it('normalisation of the delivery context', () => {
    expect(normalizeDelivery({ channel: ' Discord ', to: ' u1 ', accountId: '', threadId: ' ' })).toEqual({
      channel: 'discord',
      to: 'u1',
    })
    expect(normalizeDelivery({ channel: ' ' })).toBeUndefined()
  })
})
