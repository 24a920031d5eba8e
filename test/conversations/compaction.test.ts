import { describe, expect, it } from 'vitest'
import { contextOf, parseTranscript, textOf } from '../../src/conversations/index.js'
import { BACKENDS, fakeWorld, openStore } from './scratch.js'

const KEY = 'agent:main:discord:dm:u1'

describe.each(BACKENDS)('compaction on the %s backend', (backend) => {
  const talked = async () => {
    const world = fakeWorld()
    const main = openStore(backend, { surroundings: world }).open('main')
    await main.receive(KEY)
    const ids: string[] = []
    for (const content of ['one', 'two', 'three']) ids.push((await main.append(KEY, { role: 'user', content })).id)
    const context = async () => {
      const transcript = await main.transcript(KEY)
      if (!transcript) throw new Error('no transcript')
      const { summary, entries } = contextOf(transcript)
      return { summary, said: entries.map(({ message }) => message && textOf(message)) }
    }
    return { main, world, ids, context }
  }

  it('gives the summary, what was kept and what follows, and nothing before', async () => {
    const { main, ids, context } = await talked()
    expect(await context()).toEqual({ summary: undefined, said: ['one', 'two', 'three'] })
    const row = await main.compact(KEY, { summary: 'one was said', firstKept: ids[1] ?? '', tokensBefore: 9 })
    expect(row.entry.compactionCount).toBe(1)
    await main.append(KEY, { role: 'user', content: 'four' })
    expect(await context()).toEqual({ summary: 'one was said', said: ['two', 'three', 'four'] })
    await main.compact(KEY, { summary: 'all of it', firstKept: ids[2] ?? '' })
    expect(await context()).toEqual({ summary: 'all of it', said: ['three', 'four'] })
    expect((await main.get(KEY))?.entry.compactionCount).toBe(2)
    expect((await main.transcript(KEY))?.entries).toHaveLength(6) // nothing is removed from the file
  })

  it('refuses an entry that is not part of the conversation, and changes nothing', async () => {
    const { main, context } = await talked()
    await expect(main.compact(KEY, { summary: 'x', firstKept: 'ffff' })).rejects.toMatchObject({ code: 'bad-input' })
    expect(await context()).toMatchObject({ said: ['one', 'two', 'three'] })
    expect((await main.get(KEY))?.entry.compactionCount).toBeUndefined()
  })

  it('remembers when memory was flushed, and at which compaction', async () => {
    const { main, world, ids } = await talked()
    await main.compact(KEY, { summary: 'x', firstKept: ids[0] ?? '' })
    world.pass(5000)
    expect((await main.recordMemoryFlush(KEY)).entry).toMatchObject({
      memoryFlushAt: world.clock.now(),
      memoryFlushCompactionCount: 1,
    })
    await expect(main.recordMemoryFlush('agent:main:none')).rejects.toMatchObject({ code: 'conversation-not-found' })
  })
})

it('a compaction whose first kept entry is on another branch kept nothing', () => {
  const lines = [
    { type: 'session', version: 3, id: 's', timestamp: '2026-01-01T00:00:00Z', cwd: '/' },
    { type: 'message', id: 'a', parentId: null, timestamp: '', message: { role: 'user', content: 'a', timestamp: 1 } },
    { type: 'message', id: 'b', parentId: null, timestamp: '', message: { role: 'user', content: 'b', timestamp: 2 } },
    { type: 'compaction', id: 'c', parentId: 'b', timestamp: '', summary: 'S', firstKeptEntryId: 'a' },
    { type: 'message', id: 'd', parentId: 'c', timestamp: '', message: { role: 'user', content: 'd', timestamp: 3 } },
  ]
  const transcript = parseTranscript(`${lines.map((line) => JSON.stringify(line)).join('\n')}\n`, 'test')
  expect(contextOf(transcript)).toMatchObject({ summary: 'S', entries: [{ id: 'd' }] })
  expect(contextOf(transcript, 'b').entries.map(({ id }) => id)).toEqual(['b'])
})
