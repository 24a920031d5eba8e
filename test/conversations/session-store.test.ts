import { existsSync, mkdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import {
  appendAssistantMessageToSessionTranscript,
  clearSessionStoreCacheForTest,
  loadSessionStore,
  recordSessionMetaFromInbound,
  resolveDefaultSessionStorePath,
  resolveSessionTranscriptPath,
  resolveSessionTranscriptsDirForAgent,
  resolveStorePath,
  type SessionStore,
  saveSessionStore,
  updateLastRoute,
  updateSessionStore,
  updateSessionStoreEntry,
  withSessionStoreLock,
} from '../../src/conversations/index.js'
import { scratch } from './scratch.js'

const KEY = 'agent:main:discord:dm:user123'
const fixture = (name: string) =>
  readFileSync(
    fileURLToPath(new URL(`../fixtures/openclaw-stores/${name}/agents/main/sessions/sessions.json`, import.meta.url)),
    'utf8',
  )

const storing = (key: string, sessionId: string) => (store: SessionStore) => {
  store[key] = { sessionId, updatedAt: 1 }
}

let path = ''
beforeEach(() => {
  clearSessionStoreCacheForTest()
  path = join(scratch(), 'sessions.json')
})
afterEach(() => vi.unstubAllEnvs())

describe('paths', () => {
  it('are those of the original, below the home directory', () => {
    vi.stubEnv('OPENCLAW_STATE_DIR', '')
    const sessions = join(homedir(), '.clawcode/agents/codex/sessions')
    expect(resolveSessionTranscriptsDirForAgent('codex')).toBe(sessions)
    expect(resolveDefaultSessionStorePath('codex')).toBe(join(sessions, 'sessions.json'))
    expect(resolveDefaultSessionStorePath()).toBe(join(homedir(), '.clawcode/agents/main/sessions/sessions.json'))
    expect(resolveSessionTranscriptPath('abc', 'codex')).toBe(join(sessions, 'abc.jsonl'))
    expect(resolveSessionTranscriptPath('abc', 'codex', '123')).toBe(join(sessions, 'abc-topic-123.jsonl'))
    expect(resolveSessionTranscriptPath('abc', 'codex', 'a/b:c')).toBe(join(sessions, 'abc-topic-a%2Fb%3Ac.jsonl'))
  })

  it('expand the agent id and the home directory in a configured store', () => {
    expect(resolveStorePath('~/x/{agentId}/s.json', { agentId: 'Codex' })).toBe(join(homedir(), 'x/codex/s.json'))
    expect(resolveStorePath(undefined, { agentId: 'codex' })).toBe(resolveDefaultSessionStorePath('codex'))
    expect(resolveStorePath('  ')).toBe(resolveDefaultSessionStorePath('main'))
  })

  it.each(['../../etc/x', '__proto__', 'a\0b', 'x'.repeat(300), ''])('refuse the id %j', (id) => {
    expect(() => resolveSessionTranscriptPath(id)).toThrow(expect.objectContaining({ code: 'bad-id' }))
    expect(() => resolveSessionTranscriptPath('abc', id)).toThrow(expect.objectContaining({ code: 'bad-id' }))
    expect(() => resolveDefaultSessionStorePath(id)).toThrow(expect.objectContaining({ code: 'bad-id' }))
    expect(() => resolveStorePath('{agentId}', { agentId: id })).toThrow(expect.objectContaining({ code: 'bad-id' }))
  })
})

describe('a store file', () => {
  it.each(['2026.1.30', '2026.7.1', '2026.7.1-agent-run'])(
    'of OpenClaw %s is written back byte for byte',
    async (version) => {
      writeFileSync(path, fixture(version))
      await saveSessionStore(path, loadSessionStore(path))
      expect(readFileSync(path, 'utf8')).toBe(fixture(version))
    },
  )

  it('is readable by its owner only', async () => {
    await saveSessionStore(path, { [KEY]: { sessionId: 's', updatedAt: 1 } })
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('brings old field names up to date', () => {
    writeFileSync(
      path,
      JSON.stringify({
        [KEY]: { sessionId: 's', updatedAt: 'never', provider: 'discord', lastProvider: 'slack', room: '#general' },
      }),
    )
    expect(loadSessionStore(path)[KEY]).toEqual({
      sessionId: 's',
      updatedAt: 0,
      channel: 'discord',
      lastChannel: 'slack',
      groupChannel: '#general',
    })
  })

  it.each(['../../etc/x', '__proto__', 'agent:main:a\0b', `agent:main:${'x'.repeat(300)}`, 'agent:main:'])(
    'refuses the new key %j',
    async (key) => {
      await expect(updateSessionStore(path, storing(key, 's'))).rejects.toMatchObject({ code: 'bad-key' })
      await expect(updateLastRoute({ storePath: path, sessionKey: key, to: 'x' })).rejects.toMatchObject({
        code: 'bad-key',
      })
      await expect(recordSessionMetaFromInbound({ storePath: path, sessionKey: key, ctx: {} })).rejects.toMatchObject({
        code: 'bad-key',
      })
      expect(existsSync(path)).toBe(false)
    },
  )

  it.each(['../../etc/x', '__proto__', 'a\0b', 'x'.repeat(300)])('refuses the new session id %j', async (sessionId) => {
    await expect(saveSessionStore(path, { [KEY]: { sessionId, updatedAt: 1 } })).rejects.toMatchObject({
      code: 'bad-id',
    })
    await expect(updateSessionStore(path, storing(KEY, sessionId))).rejects.toMatchObject({ code: 'bad-id' })
    expect(existsSync(path)).toBe(false)
  })
})

describe('the cache', () => {
  const put = (label: string) => writeFileSync(path, JSON.stringify({ [KEY]: { sessionId: 's', updatedAt: 1, label } }))
  /** Another content that looks the same from outside. */
  const hide = (text: string) => {
    put(text)
    utimesSync(path, 5, 5)
  }
  const label = (opts?: { skipCache?: boolean }) => loadSessionStore(path, opts)[KEY]?.label

  it('hands out copies', () => {
    put('a')
    const store = loadSessionStore(path)
    if (store[KEY]) store[KEY].label = 'changed'
    expect(label()).toBe('a')
  })

  it('is used while the file looks the same, and not with skipCache', () => {
    hide('a')
    expect(label()).toBe('a')
    hide('b')
    expect(label()).toBe('a') // same time, size and inode: the cache cannot know
    expect(label({ skipCache: true })).toBe('b')
  })

  it('sees a change of time or of size', () => {
    put('a')
    expect(label()).toBe('a')
    put('longer')
    expect(label()).toBe('longer')
    put('LONGER')
    utimesSync(path, 1, 1)
    expect(label()).toBe('LONGER')
  })

  it('is emptied by every write', async () => {
    put('a')
    expect(label()).toBe('a')
    await updateSessionStoreEntry({ storePath: path, sessionKey: KEY, update: async () => ({ label: 'b' }) })
    expect(label()).toBe('b')
    await updateSessionStore(path, (store) => {
      if (store[KEY]) store[KEY].label = 'c'
    })
    expect(label()).toBe('c')
    await saveSessionStore(path, { [KEY]: { sessionId: 's', updatedAt: 1, label: 'd' } })
    expect(label()).toBe('d')
  })

  it.each(['OPENCLAW_SESSION_CACHE_TTL_MS', 'SKEIN_SESSION_CACHE_TTL_MS'])(
    'is off with %s=0, and forgets after its time',
    async (name) => {
      const hide = (text: string) => {
        put(text)
        utimesSync(path, 5, 5)
      }
      hide('a')
      expect(label()).toBe('a')
      hide('b')
      expect(label()).toBe('a') // same time, size and inode: the cache cannot know
      vi.stubEnv(name, '20')
      await new Promise((resolve) => setTimeout(resolve, 40))
      expect(label()).toBe('b')
      vi.stubEnv(name, '0')
      hide('c')
      expect(label()).toBe('c')
    },
  )
})

describe('updates', () => {
  it('of one entry merge, never lower the time, and are null for a key that is not there', async () => {
    await saveSessionStore(path, { [KEY]: { sessionId: 's', updatedAt: 9e15, label: 'a' } })
    const entry = await updateSessionStoreEntry({
      storePath: path,
      sessionKey: KEY,
      update: async () => ({ model: 'm', updatedAt: 5 }),
    })
    expect(entry).toEqual({ sessionId: 's', updatedAt: 9e15, label: 'a', model: 'm' })
    expect(
      await updateSessionStoreEntry({ storePath: path, sessionKey: 'agent:main:none', update: async () => ({}) }),
    ).toBeNull()
    expect(await updateSessionStoreEntry({ storePath: path, sessionKey: KEY, update: async () => null })).toEqual(entry)
  })

  it('return what the mutator returns, and write nothing when it throws', async () => {
    expect(await updateSessionStore(path, async (store) => Object.keys(store).length)).toBe(0)
    const failing = updateSessionStore(path, (store) => {
      store[KEY] = { sessionId: 's', updatedAt: 1 }
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(loadSessionStore(path)).toEqual({})
    expect(existsSync(`${path}.lock`)).toBe(false)
  })

  it('may be made inside a locked section', async () => {
    await withSessionStoreLock(path, async () => {
      await saveSessionStore(path, { [KEY]: { sessionId: 's', updatedAt: 1 } })
      await updateSessionStore(path, (store) => void delete store[KEY])
    })
    expect(loadSessionStore(path)).toEqual({})
  })

  it('made side by side inside a locked section take turns', async () => {
    const add = () =>
      updateSessionStore(path, async (store) => {
        const before = store[KEY]?.inputTokens ?? 0
        await new Promise((resolve) => setTimeout(resolve, 1))
        store[KEY] = { sessionId: 's', updatedAt: 1, inputTokens: before + 1 }
      })
    await withSessionStoreLock(path, async () => {
      await Promise.all([add(), add(), add()])
    })
    expect(loadSessionStore(path)[KEY]?.inputTokens).toBe(3)
  })

  it('of a task that outlives the section it was started in wait for the lock again', async () => {
    let late: Promise<unknown> = Promise.resolve()
    let go = () => {}
    const later = new Promise<void>((resolve) => {
      go = resolve
    })
    await withSessionStoreLock(path, async () => {
      late = later.then(() => updateSessionStore(path, () => existsSync(`${path}.lock`)))
    })
    go()
    expect(await late).toBe(true)
  })

  it('store the id of an SDK session as the document shows', async () => {
    await saveSessionStore(path, { [KEY]: { sessionId: 's', updatedAt: 1 } })
    await updateSessionStore(path, (store) => {
      const entry = store[KEY]
      if (entry) store[KEY] = { ...entry, sdkSessionId: 'sdk-1', updatedAt: 2 }
    })
    expect(loadSessionStore(path)[KEY]).toMatchObject({ sdkSessionId: 'sdk-1', updatedAt: 2 })
  })

  it('wait their turn in one process: none is lost', async () => {
    await Promise.all(Array.from({ length: 50 }, (_, n) => updateSessionStore(path, storing(`${KEY}-${n}`, `s${n}`))))
    expect(Object.keys(loadSessionStore(path))).toHaveLength(50)
  })
})

describe('delivery', () => {
  it('is normalised, and the structured field and the older ones stay in step', async () => {
    const entry = await updateLastRoute({
      storePath: path,
      sessionKey: 'agent:main:main',
      channel: ' Telegram ',
      to: ' 42 ',
      accountId: 'default',
      threadId: 9,
    })
    expect(entry).toMatchObject({
      deliveryContext: { channel: 'telegram', to: '42', accountId: 'default', threadId: 9 },
      lastChannel: 'telegram',
      lastTo: '42',
      lastAccountId: 'default',
      lastThreadId: 9,
    })
    const next = await updateLastRoute({
      storePath: path,
      sessionKey: 'agent:main:main',
      deliveryContext: { to: '43' },
    })
    expect(next).toMatchObject({
      sessionId: entry.sessionId,
      deliveryContext: { channel: 'telegram', to: '43', accountId: 'default', threadId: 9 },
      lastTo: '43',
    })
  })

  it('of a group message is recorded as the original recorded it', async () => {
    const ctx = {
      From: 'discord:group:123',
      To: 'channel:123',
      Provider: 'discord',
      Surface: 'discord',
      ChatType: 'group',
      AccountId: 'default',
      MessageThreadId: 77,
      GroupSubject: 'Dev team',
      ConversationLabel: 'Dev team id:123',
    }
    const sessionKey = 'agent:main:discord:group:123'
    const entry = await recordSessionMetaFromInbound({
      storePath: path,
      sessionKey,
      ctx,
      groupResolution: { key: 'discord:group:123', channel: 'discord', id: '123', chatType: 'group' },
    })
    const { sessionId, updatedAt, ...original } = JSON.parse(fixture('2026.1.30'))[sessionKey]
    expect(entry).toEqual({ ...original, sessionId: expect.any(String), updatedAt: expect.any(Number) })
    expect(
      await recordSessionMetaFromInbound({ storePath: path, sessionKey: KEY, ctx, createIfMissing: false }),
    ).toBeNull()
  })
})

describe('mirroring', () => {
  it('appends to the transcript that the entry names, and says why when it cannot', async () => {
    await saveSessionStore(path, { [KEY]: { sessionId: 's-1', updatedAt: 1 } })
    const append = (params: object) =>
      appendAssistantMessageToSessionTranscript({ agentId: 'main', sessionKey: KEY, storePath: path, ...params })
    const done = await append({ text: 'Message sent to user', mediaUrls: [] })
    const sessionFile = join(path, '..', 's-1.jsonl')
    expect(done).toEqual({ ok: true, sessionFile })
    await append({ text: 'see', mediaUrls: ['https://example.com/image.png'] })
    const texts = readFileSync(sessionFile, 'utf8')
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => JSON.parse(line).message.content.map(({ text }: { text: string }) => text))
    expect(texts).toEqual([['Message sent to user'], ['see', 'image.png']])
    expect(statSync(sessionFile).mode & 0o777).toBe(0o600)
    expect(loadSessionStore(path)[KEY]?.sessionFile).toBe(sessionFile)
    expect(await append({ sessionKey: ' ', text: 'x' })).toEqual({ ok: false, reason: 'missing sessionKey' })
    expect(await append({ text: ' ' })).toEqual({ ok: false, reason: 'empty text' })
    expect(await append({ sessionKey: 'agent:main:none', text: 'x' })).toEqual({
      ok: false,
      reason: 'unknown sessionKey: agent:main:none',
    })
    expect(await append({ sessionKey: 'agent:codex:main', text: 'x' })).toMatchObject({
      ok: false,
      reason: expect.stringContaining('another agent'),
    })
  })

  it("uses the agent's own store when none is named", async () => {
    vi.stubEnv('OPENCLAW_STATE_DIR', join(path, '..', 'state'))
    mkdirSync(resolveSessionTranscriptsDirForAgent('main'), { recursive: true })
    await saveSessionStore(resolveDefaultSessionStorePath('main'), { [KEY]: { sessionId: 's-1', updatedAt: 1 } })
    expect(await appendAssistantMessageToSessionTranscript({ sessionKey: KEY, text: 'x' })).toEqual({
      ok: true,
      sessionFile: resolveSessionTranscriptPath('s-1'),
    })
  })
})
