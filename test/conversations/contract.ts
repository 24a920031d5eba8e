import { describe, expect, it, onTestFinished } from 'vitest'
import type { SessionEntry } from '../../src/conversations/entry.js'
import { type ConversationKey, parseKey } from '../../src/conversations/key.js'
import { type ConversationRows, RevisionConflict, type Row } from '../../src/conversations/rows/rows.js'

const key = (tail: string): ConversationKey => parseKey(`agent:main:${tail}`).key
const entry = (updatedAt: number, more: Partial<SessionEntry> = {}): SessionEntry => ({
  sessionId: `s-${updatedAt}`,
  updatedAt,
  ...more,
})

/** What every way of keeping rows must do. `open` gives a second view of the same store each time it is called. */
export function describeRows(backend: string, make: () => () => ConversationRows): void {
  const opened = () => {
    const open = make()
    return () => {
      const rows = open()
      onTestFinished(() => rows[Symbol.dispose]())
      return rows
    }
  }
  const put = async (rows: ConversationRows, at: ConversationKey, value: SessionEntry): Promise<Row> => {
    const [row] = await rows.change([{ key: at, decide: () => value }])
    if (!row) throw new Error('not stored')
    return row
  }

  describe(`conversation rows on ${backend}`, () => {
    it('gives back what was stored, also through another view', async () => {
      const open = opened()
      const stored = await put(open(), key('discord:dm:u1'), entry(5, { label: 'Ünï 🙂', origin: { from: 'u1' } }))
      expect(await open().get(key('discord:dm:u1'))).toEqual(stored)
    })

    it('has nothing under a key that was never stored', async () => {
      expect(await opened()().get(key('discord:dm:nobody'))).toBeUndefined()
    })

    it('keeps fields it does not know', async () => {
      const rows = opened()()
      await put(rows, key('main'), { ...entry(1), pluginExtensions: { deep: [1, null] } } as SessionEntry)
      expect((await rows.get(key('main')))?.entry).toMatchObject({ pluginExtensions: { deep: [1, null] } })
    })

    it('hands out copies: changing one changes nothing in the store', async () => {
      const rows = opened()()
      await put(rows, key('main'), entry(1, { origin: { from: 'a' } }))
      const row = await rows.get(key('main'))
      if (row?.entry.origin) row.entry.origin.from = 'changed'
      expect((await rows.get(key('main')))?.entry.origin?.from).toBe('a')
    })

    it('changes the revision with every change, and only then', async () => {
      const rows = opened()()
      const first = await put(rows, key('main'), entry(1))
      expect((await rows.get(key('main')))?.revision).toBe(first.revision)
      const second = await put(rows, key('main'), entry(2))
      expect(second.revision).not.toBe(first.revision)
    })

    it('refuses a change on an old revision, says the current one, and writes nothing', async () => {
      const rows = opened()()
      const first = await put(rows, key('main'), entry(1))
      const second = await put(rows, key('main'), entry(2))
      const late = rows.change([{ key: key('main'), expected: first.revision, decide: () => entry(3) }])
      await expect(late).rejects.toBeInstanceOf(RevisionConflict)
      await expect(late).rejects.toMatchObject({ code: 'conversation-conflict', current: second.revision })
      expect(await rows.get(key('main'))).toEqual(second)
    })

    it('refuses to make what must be absent and is there', async () => {
      const rows = opened()()
      const { revision } = await put(rows, key('main'), entry(1))
      const again = rows.change([{ key: key('main'), expected: 'absent', decide: () => entry(2) }])
      await expect(again).rejects.toMatchObject({ code: 'conversation-conflict', current: revision })
    })

    it('reports a conflict without a revision when the entry was removed', async () => {
      const rows = opened()()
      const { revision } = await put(rows, key('main'), entry(1))
      await rows.change([{ key: key('main'), decide: () => undefined }])
      const late = rows.change([{ key: key('main'), expected: revision, decide: () => entry(2) }])
      await expect(late).rejects.toMatchObject({ code: 'conversation-conflict', current: undefined })
    })

    it('does all steps of a change or none', async () => {
      const rows = opened()()
      await put(rows, key('main'), entry(1))
      const change = rows.change([
        { key: key('discord:dm:u1'), decide: () => entry(2) },
        { key: key('main'), expected: 'no such revision', decide: () => entry(3) },
      ])
      await expect(change).rejects.toBeInstanceOf(RevisionConflict)
      expect(await rows.get(key('discord:dm:u1'))).toBeUndefined()
    })

    it('writes nothing when a decision throws', async () => {
      const rows = opened()()
      const before = await put(rows, key('main'), entry(1))
      const failing = rows.change([
        {
          key: key('main'),
          decide: () => {
            throw new Error('changed my mind')
          },
        },
      ])
      await expect(failing).rejects.toThrow('changed my mind')
      expect(await rows.get(key('main'))).toEqual(before)
      await put(rows, key('main'), entry(2)) // and the store is not left locked
    })

    it('removes an entry', async () => {
      const rows = opened()()
      await put(rows, key('main'), entry(1))
      expect(await rows.change([{ key: key('main'), decide: () => undefined }])).toEqual([undefined])
      expect(await rows.get(key('main'))).toBeUndefined()
      expect(await rows.list()).toEqual([])
    })

    it('lists the newest first, equal times by key, and obeys the filter', async () => {
      const rows = opened()()
      await put(rows, key('discord:dm:u2'), entry(10))
      await put(rows, key('discord:dm:u1'), entry(10))
      await put(rows, key('slack:group:g'), entry(30))
      await put(rows, key('subagent:w'), entry(20, { spawnedBy: 'agent:main:main' }))
      const keys = async (...args: Parameters<ConversationRows['list']>) =>
        (await rows.list(...args)).map((row) => row.key.slice(11))
      expect(await keys()).toEqual(['slack:group:g', 'subagent:w', 'discord:dm:u1', 'discord:dm:u2'])
      expect(await keys({ kind: 'dm' })).toEqual(['discord:dm:u1', 'discord:dm:u2'])
      expect(await keys({ channel: 'slack' })).toEqual(['slack:group:g'])
      expect(await keys({ spawnedBy: 'agent:main:main' })).toEqual(['subagent:w'])
      expect(await keys({ activeSince: 20 })).toEqual(['slack:group:g', 'subagent:w'])
      expect(await keys({ idleSince: 20 })).toEqual(['discord:dm:u1', 'discord:dm:u2'])
      expect(await keys({ limit: 1 })).toEqual(['slack:group:g'])
    })

    it('lists the revision that get says', async () => {
      const rows = opened()()
      await put(rows, key('main'), entry(1))
      expect((await rows.list())[0]).toEqual(await rows.get(key('main')))
    })

    it('loses nothing when two views change the same entry in turn', async () => {
      const open = opened()
      const [a, b] = [open(), open()]
      await put(a, key('main'), entry(1, { inputTokens: 0 }))
      const add = (rows: ConversationRows) =>
        rows.change([
          { key: key('main'), decide: (row) => entry(1, { inputTokens: (row?.entry.inputTokens ?? 0) + 1 }) },
        ])
      await Promise.all(Array.from({ length: 40 }, (_, index) => add(index % 2 ? a : b)))
      expect((await a.get(key('main')))?.entry.inputTokens).toBe(40)
    })
  })
}
