import { describe, expect, it } from 'vitest'
import { SessionTools } from '../../src/conversations/index.js'
import { BACKENDS, openStore } from './scratch.js'

const ME = 'agent:main:discord:dm:u1'
const OTHER = 'agent:main:slack:group:7'
const THEIRS = 'agent:codex:discord:dm:u1'

describe.each(BACKENDS)('the session tools of an agent on the %s backend', (backend) => {
  const setUp = async (options: object = {}) => {
    const store = openStore(backend, { spawnLimits: { maxDepth: 2, maxChildren: 2 } })
    const main = store.open('main')
    const codex = store.open('codex')
    await main.receive(ME)
    await main.receive(OTHER, { channel: 'slack' })
    await main.append(OTHER, { role: 'user', content: 'hello group' })
    await codex.receive(THEIRS)
    await codex.append(THEIRS, { role: 'user', content: 'secret' })
    return { main, codex, tools: new SessionTools({ conversations: main, caller: ME, ...options }) }
  }
  const keys = (rows: { key: string }[]) => rows.map(({ key }) => key).sort()

  it('list shows the conversations of the same agent', async () => {
    const { tools } = await setUp()
    expect(keys(await tools.list())).toEqual([ME, OTHER])
    expect(await tools.list({ channel: 'slack' })).toMatchObject([{ key: OTHER, kind: 'group', channel: 'slack' }])
  })

  it('history gives what was said last, and a compaction by its summary', async () => {
    const { main, tools } = await setUp()
    expect(await tools.history(OTHER)).toMatchObject([{ role: 'user', text: 'hello group' }])
    const { id } = await main.append(OTHER, { role: 'assistant', content: 'hi' })
    await main.compact(OTHER, { summary: 'greetings', firstKept: id })
    expect(await tools.history(OTHER)).toMatchObject([{ role: 'summary', text: 'greetings' }, { text: 'hi' }])
    expect(await tools.history(OTHER, { limit: 1 })).toMatchObject([{ text: 'hi' }])
  })

  it('send leaves the message with its sender, or runs a turn and returns the reply', async () => {
    const { main, tools } = await setUp()
    expect(await tools.send(OTHER, 'status?')).toEqual({ key: OTHER })
    expect((await main.transcript(OTHER))?.entries.at(-1)?.message).toMatchObject({ role: 'user', from: ME })
    const asked: unknown[] = []
    const run = async (...args: unknown[]) => {
      asked.push(args)
      return { text: 'all green' }
    }
    const running = new SessionTools({ conversations: main, caller: ME, run })
    expect(await running.send(OTHER, 'status?')).toEqual({ key: OTHER, reply: 'all green' })
    expect(asked).toEqual([[OTHER, 'status?', ME]])
  })

  it('send obeys the send policy, and an empty or circular message is refused', async () => {
    const policy = { rules: [{ match: { channel: 'slack' }, action: 'deny' as const }] }
    const { main, tools } = await setUp({ policy })
    const before = await main.transcript(OTHER)
    await expect(tools.send(OTHER, 'x')).rejects.toMatchObject({ code: 'send-denied' })
    await expect(tools.send(ME, 'x')).rejects.toMatchObject({ code: 'bad-input' })
    await expect(tools.send(OTHER, '  ')).rejects.toMatchObject({ code: 'bad-input' })
    expect(await main.transcript(OTHER)).toEqual(before)
  })

  it('spawn starts a subagent below the caller, within the limits', async () => {
    const { main, tools } = await setUp()
    const { session } = await tools.spawn({ name: 'worker', task: 't1', prompt: 'count the files' })
    expect(session).toMatchObject({ key: 'agent:main:subagent:worker:t1', spawnedBy: ME })
    expect((await main.transcript(session.key))?.entries).toMatchObject([{ message: { from: ME } }])
    await tools.spawn()
    await expect(tools.spawn()).rejects.toMatchObject({ code: 'spawn-refused' })
    const below = new SessionTools({ conversations: main, caller: session.key })
    const grandchild = await below.spawn()
    const deepest = new SessionTools({ conversations: main, caller: grandchild.session.key })
    await expect(deepest.spawn()).rejects.toMatchObject({ code: 'spawn-refused' })
  })

  it('a subagent reaches itself, its spawner and what it spawned, and nothing else', async () => {
    const { main, tools } = await setUp()
    const { session } = await tools.spawn({ name: 'worker' })
    await tools.spawn({ name: 'sibling' })
    const sub = new SessionTools({ conversations: main, caller: session.key })
    const own = await sub.spawn({ name: 'helper' })
    expect(keys(await sub.list())).toEqual([ME, own.session.key, session.key].sort())
    for (const key of [OTHER, 'agent:main:subagent:sibling', 'agent:main:none']) {
      await expect(sub.history(key)).rejects.toMatchObject({ code: 'foreign-conversation' })
      await expect(sub.send(key, 'x')).rejects.toMatchObject({ code: 'foreign-conversation' })
    }
  })

  it.each<[string, (tools: SessionTools) => Promise<unknown>]>([
    ['history', (tools) => tools.history(THEIRS)],
    ['send', (tools) => tools.send(THEIRS, 'x')],
  ])("%s refuses another agent's key", async (_, call) => {
    const { codex, tools } = await setUp()
    const before = await codex.transcript(THEIRS)
    await expect(call(tools)).rejects.toMatchObject({ code: 'foreign-conversation' })
    expect(await codex.transcript(THEIRS)).toEqual(before)
  })

  it("list and spawn cannot be bound to another agent's key, nor to a conversation that does not exist", async () => {
    const { main } = await setUp()
    expect(() => new SessionTools({ conversations: main, caller: THEIRS })).toThrow(/not open/)
    const ghost = new SessionTools({ conversations: main, caller: 'agent:main:ghost' })
    await expect(ghost.list()).rejects.toMatchObject({ code: 'foreign-conversation' })
    await expect(ghost.spawn()).rejects.toMatchObject({ code: 'conversation-not-found' })
  })
})
