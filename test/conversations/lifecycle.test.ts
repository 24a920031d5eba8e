import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fingerprintOf, type ResetPolicy, staleReason } from '../../src/conversations/index.js'
import { BACKENDS, fakeWorld, openStore } from './scratch.js'

const KEY = 'agent:main:discord:dm:u1'
const GROUP = 'agent:main:discord:group:123'
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const RUN = fingerprintOf({ cwd: '/p' })

describe.each(BACKENDS)('a conversation on the %s backend', (backend) => {
  const setUp = (
    options: { resetPolicy?: ResetPolicy; spawnLimits?: { maxDepth?: number; maxChildren?: number } } = {},
  ) => {
    const world = fakeWorld()
    return { world, main: openStore(backend, { surroundings: world, ...options }).open('main') }
  }
  const talked = async (set: ReturnType<typeof setUp>) => {
    await set.main.receive(KEY, { text: 'hi', from: 'u1', to: 'bot', channel: 'discord' })
    await set.main.patch(KEY, { label: 'mine', inputTokens: 7, systemSent: true })
    await set.main.bind(KEY, 'sdk-1', RUN)
    await set.main.append(KEY, { role: 'user', content: 'hi' })
    const row = await set.main.get(KEY)
    if (!row) throw new Error('no row')
    return { row, path: await set.main.transcriptPath(KEY) }
  }

  it('is made by its first message, with who and where; the next ones update it', async () => {
    const { world, main } = setUp()
    const first = await main.receive(GROUP, {
      text: 'hello',
      channel: 'Discord',
      from: 'discord:group:123',
      threadId: 77,
      accountId: 'default',
      label: 'Dev team id:123',
      group: { subject: 'Dev team' },
    })
    expect(first).toMatchObject({ created: true, text: 'hello' })
    expect(first.row.entry).toMatchObject({
      updatedAt: world.clock.now(),
      sessionStartedAt: world.clock.now(),
      chatType: 'group',
      channel: 'discord',
      groupId: '123',
      subject: 'Dev team',
      displayName: 'discord:g-dev-team',
      origin: {
        label: 'Dev team id:123',
        provider: 'discord',
        from: 'discord:group:123',
        accountId: 'default',
        threadId: 77,
      },
      deliveryContext: { channel: 'discord', threadId: 77 },
      lastChannel: 'discord',
      lastThreadId: 77,
    })
    world.pass(MINUTE)
    const second = await main.receive(GROUP, { text: 'again' })
    expect(second).toMatchObject({
      created: false,
      row: { entry: { sessionId: first.row.entry.sessionId, updatedAt: world.clock.now(), subject: 'Dev team' } },
    })
  })

  it('is made once when two first messages come at the same time', async () => {
    const { main } = setUp()
    const both = await Promise.all([main.receive(KEY), main.receive(KEY)])
    expect(new Set(both.map(({ row }) => row.entry.sessionId)).size).toBe(1)
    expect(both.filter(({ created }) => created)).toHaveLength(1)
  })

  it('reset puts the transcript away, removes the entry and the binding; the next message starts fresh', async () => {
    const set = setUp()
    const { row, path } = await talked(set)
    const said = readFileSync(path, 'utf8')
    const receipt = await set.main.reset(KEY)
    expect(receipt).toMatchObject({
      key: KEY,
      reason: 'explicit',
      previousSessionId: row.entry.sessionId,
      destroyed: [],
    })
    expect(existsSync(path)).toBe(false)
    expect(receipt.archived).toEqual([`${path}.reset.2026-01-15T12-00-00.000Z`])
    expect(readFileSync(receipt.archived[0] ?? '', 'utf8')).toBe(said)
    expect(await set.main.get(KEY)).toBeUndefined()
    const next = await set.main.receive(KEY, { text: 'hi again' })
    expect(next).toMatchObject({ created: true })
    expect(next.row.entry.sessionId).not.toBe(row.entry.sessionId)
    expect(next.row.entry.sdkSessionId).toBeUndefined()
    expect(await set.main.transcript(KEY)).toBeUndefined()
  })

  it('reset keeps what the user set when asked, and clears the binding, the usage and the session id', async () => {
    const set = setUp()
    const { row } = await talked(set)
    const { row: after } = await set.main.reset(KEY, { keepMetadata: true })
    expect(after?.entry).toMatchObject({
      label: 'mine',
      previousSessionId: row.entry.sessionId,
      lastChannel: 'discord',
    })
    expect(after?.entry.sessionId).not.toBe(row.entry.sessionId)
    for (const field of ['sdkSessionId', 'sdkFingerprint', 'inputTokens', 'systemSent'])
      expect(after?.entry).not.toHaveProperty(field)
  })

  it('reset destroys the transcript only when asked', async () => {
    const set = setUp()
    const { path } = await talked(set)
    expect(await set.main.reset(KEY, { destroyTranscript: true })).toMatchObject({ archived: [], destroyed: [path] })
    expect(readdirSync(dirname(path)).filter((name) => name.includes('.jsonl'))).toEqual([])
  })

  it('reset with an old revision is a conflict and touches nothing', async () => {
    const set = setUp()
    const { row, path } = await talked(set)
    await set.main.patch(KEY, { label: 'newer' })
    await expect(set.main.reset(KEY, { revision: row.revision })).rejects.toMatchObject({
      code: 'conversation-conflict',
    })
    expect(existsSync(path)).toBe(true)
  })

  it('reset is refused while the transcript is being written or a turn runs', async () => {
    const set = setUp()
    await talked(set)
    {
      using _writer = await set.main.writer(KEY)
      await expect(set.main.reset(KEY)).rejects.toMatchObject({ code: 'transcript-in-use' })
    }
    {
      using _turn = await set.main.lockTurn(KEY)
      await expect(set.main.reset(KEY)).rejects.toMatchObject({ code: 'conversation-busy' })
    }
    await set.main.reset(KEY)
  })

  it.each(['new', 'reset'] as const)('/%s begins a new session and keeps the rest of the message', async (command) => {
    const set = setUp()
    const { row } = await talked(set)
    const received = await set.main.receive(KEY, { text: `/${command}  what is up?` })
    expect(received).toMatchObject({
      created: false,
      text: 'what is up?',
      reset: { reason: command, previousSessionId: row.entry.sessionId },
    })
    expect(received.reset?.archived).toHaveLength(1)
    expect(received.row.entry).toMatchObject({ label: 'mine' })
    expect(received.row.entry.sessionId).not.toBe(row.entry.sessionId)
    expect((await set.main.receive(KEY, { text: '/newspaper' })).reset).toBeUndefined()
  })

  it('begins anew after the idle time, not before', async () => {
    const set = setUp({ resetPolicy: { idleMinutes: 30 } })
    const { row } = await talked(set)
    set.world.pass(30 * MINUTE)
    expect((await set.main.receive(KEY)).reset).toBeUndefined()
    set.world.pass(31 * MINUTE)
    const received = await set.main.receive(KEY)
    expect(received.reset).toMatchObject({ reason: 'idle', previousSessionId: row.entry.sessionId })
  })

  it('begins anew once when many messages find it stale together, and not at all while it is in use', async () => {
    const set = setUp({ resetPolicy: { idleMinutes: 30 } })
    await talked(set)
    set.world.pass(HOUR)
    {
      using _turn = await set.main.lockTurn(KEY)
      expect((await set.main.receive(KEY)).reset).toBeUndefined()
    }
    set.world.pass(HOUR)
    const all = await Promise.all(Array.from({ length: 5 }, () => set.main.receive(KEY)))
    expect(all.filter(({ reset }) => reset)).toHaveLength(1)
    expect(await set.main.list()).toHaveLength(1)
  })

  it('begins anew once after the daily hour', async () => {
    const set = setUp({ resetPolicy: { dailyAtHour: 4 } })
    await talked(set)
    expect((await set.main.receive(KEY)).reset).toBeUndefined()
    set.world.pass(24 * HOUR)
    expect((await set.main.receive(KEY)).reset).toMatchObject({ reason: 'daily' })
    set.world.pass(HOUR)
    expect((await set.main.receive(KEY)).reset).toBeUndefined()
  })

  it('is reset with others in one go; the one in use stays', async () => {
    const { main } = setUp()
    for (const peer of ['a', 'b', 'c']) await main.receive(`agent:main:discord:dm:${peer}`, { text: 'x' })
    await main.receive('agent:main:slack:dm:d', { text: 'x' })
    using _turn = await main.lockTurn('agent:main:discord:dm:b')
    const { reset, busy } = await main.resetAll({ channel: 'discord' })
    expect(reset.map(({ key }) => key).sort()).toEqual(['agent:main:discord:dm:a', 'agent:main:discord:dm:c'])
    expect(busy).toEqual(['agent:main:discord:dm:b'])
    expect((await main.list()).map(({ key }) => key).sort()).toEqual([
      'agent:main:discord:dm:b',
      'agent:main:slack:dm:d',
    ])
  })

  it('is pruned when old, or beyond the number: what programs made goes first', async () => {
    const { world, main } = setUp()
    await main.receive('agent:main:discord:dm:old', { text: 'x' })
    await main.append('agent:main:discord:dm:old', { role: 'user', content: 'x' })
    world.pass(10 * 24 * HOUR)
    await main.receive(KEY)
    world.pass(MINUTE)
    await main.receive('agent:main:slack:dm:2')
    world.pass(MINUTE)
    await main.spawn(KEY, { name: 'w' })
    const plan = { olderThanMs: 7 * 24 * HOUR, maxEntries: 2 }
    const dry = await main.prune({ ...plan, dryRun: true })
    expect(dry.pruned.map(({ key, reason }) => [key, reason])).toEqual([
      ['agent:main:discord:dm:old', 'old'],
      ['agent:main:subagent:w', 'over-limit'],
    ])
    expect(await main.list()).toHaveLength(4)
    expect(await main.prune(plan)).toEqual(dry)
    expect((await main.list()).map(({ key }) => key)).toEqual(['agent:main:slack:dm:2', KEY])
    expect(
      readdirSync(dirname(await main.transcriptPath(KEY))).filter((name) => name.includes('.jsonl.deleted.')),
    ).toHaveLength(1)
  })

  it('spawns subagents that name their spawner, up to the limits', async () => {
    const { main } = setUp({ spawnLimits: { maxDepth: 2, maxChildren: 2 } })
    await main.receive(KEY)
    const one = await main.spawn(KEY, { name: 'worker1', task: 'task123' })
    expect(one).toMatchObject({
      key: 'agent:main:subagent:worker1:task123',
      entry: { spawnedBy: KEY, spawnDepth: 1, label: 'worker1' },
    })
    const two = await main.spawn(one.key)
    expect(two.entry).toMatchObject({ spawnedBy: one.key, spawnDepth: 2 })
    await expect(main.spawn(two.key)).rejects.toMatchObject({
      code: 'spawn-refused',
      message: expect.stringContaining('depth 3'),
    })
    await main.spawn(KEY)
    await expect(main.spawn(KEY)).rejects.toMatchObject({
      code: 'spawn-refused',
      message: expect.stringContaining('2 subagents'),
    })
    await expect(main.spawn('agent:main:discord:dm:nobody')).rejects.toMatchObject({ code: 'conversation-not-found' })
    await expect(main.spawn(one.key, { name: 'worker1', task: 'task123' })).rejects.toMatchObject({
      code: 'conversation-conflict',
    })
  })

  it('has threads that inherit the place and note it', async () => {
    const { main } = setUp()
    await main.receive(GROUP, { group: { subject: 'Dev team' } })
    const thread = await main.thread(GROUP, 9)
    expect(thread).toMatchObject({
      key: `${GROUP}:thread:9`,
      entry: { parentSessionKey: GROUP, subject: 'Dev team', chatType: 'group', lastThreadId: 9 },
    })
    expect(await main.thread(GROUP, 9)).toEqual(thread)
  })

  it('binds an SDK session, resumes it only under the same conditions, and forgets it on reset', async () => {
    const { main } = setUp()
    await main.receive(KEY)
    const run = fingerprintOf({
      cwd: '/p',
      model: 'opus',
      mcpServers: { db: { command: 'x', env: { TOKEN: 'secret' } } },
    })
    expect(await main.resumption(KEY, run)).toEqual({ kind: 'start' })
    const { entry } = await main.bind(KEY, 'sdk-1', run)
    expect(JSON.stringify(entry)).not.toContain('secret')
    expect(await main.resumption(KEY, run)).toEqual({ kind: 'resume', sdkSessionId: 'sdk-1' })
    for (const [change, because] of [
      [{ cwd: '/other' }, /directory/],
      [{ model: 'haiku' }, /model/],
      [{ mcpServers: {} }, /MCP/],
    ] as const) {
      const other = fingerprintOf({
        cwd: '/p',
        model: 'opus',
        mcpServers: { db: { command: 'x', env: { TOKEN: 'secret' } } },
        ...change,
      })
      expect(await main.resumption(KEY, other)).toMatchObject({
        kind: 'start-anew',
        because: expect.stringMatching(because),
      })
    }
    await main.unbind(KEY)
    expect(await main.resumption(KEY, run)).toEqual({ kind: 'start' })
  })

  it('resumes by the legacy fields too', async () => {
    const { main } = setUp()
    await main.patch(KEY, { claudeCliSessionId: 'old-1' }, { onMissing: 'create' })
    expect(await main.resumption(KEY, RUN)).toEqual({ kind: 'resume', sdkSessionId: 'old-1' })
  })
})

describe('freshness', () => {
  const at = (hour: number, minute = 0) => new Date(2026, 4, 10, hour, minute).getTime()
  const entry = (startedAt: number, updatedAt = startedAt) => ({
    sessionId: 's',
    sessionStartedAt: startedAt,
    updatedAt,
  })
  it('before the hour, yesterday counts; at the hour, today begins', () => {
    expect(staleReason({ dailyAtHour: 4 }, entry(at(1)), at(3, 59))).toBeUndefined()
    expect(staleReason({ dailyAtHour: 4 }, entry(at(3, 59)), at(4))).toBe('daily')
    expect(staleReason({ dailyAtHour: 4 }, entry(at(4)), at(23))).toBeUndefined()
  })
  it('the earlier of idle and daily counts; a time in the future is fresh; no rule means never', () => {
    expect(staleReason({ dailyAtHour: 4, idleMinutes: 10 }, entry(at(5)), at(6))).toBe('idle')
    expect(staleReason({ dailyAtHour: 4, idleMinutes: 10 }, entry(at(12)), at(6))).toBeUndefined()
    expect(staleReason({}, entry(0), at(6))).toBeUndefined()
  })
})
