import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  branchTo,
  type Conversations,
  parseTranscript,
  type TranscriptEntry,
  textOf,
} from '../../src/conversations/index.js'
import { lockTranscript } from '../../src/conversations/transcript/transcript-writer.js'
import { BACKENDS, fakeWorld, openStore, scratch } from './scratch.js'

const KEY = 'agent:main:discord:dm:u1'
const fixture = (name: string) =>
  readFileSync(fileURLToPath(new URL(`../fixtures/pi/${name}`, import.meta.url)), 'utf8')
const lines = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))
const said = (entries: TranscriptEntry[] = []) =>
  entries.map((entry) => (entry.message ? textOf(entry.message) : entry.type))

async function conversation(backend: 'rows' | 'files' = 'rows') {
  const store = openStore(backend, { surroundings: fakeWorld() })
  const main = store.open('main')
  const { entry } = await main.patch(KEY, {}, { onMissing: 'create' })
  return { main, path: await main.transcriptPath(KEY), sessionId: entry.sessionId }
}
const say = (main: Conversations, text: string, topic?: string | number) =>
  main.append(KEY, { role: 'user', content: [{ type: 'text', text }] }, topic === undefined ? {} : { topic })

describe.each(BACKENDS)('a transcript on the %s backend', (backend) => {
  it('is JSON lines: a version 3 header, then entries that name the one before', async () => {
    const { main, path, sessionId } = await conversation(backend)
    await main.append(KEY, { role: 'user', content: 'Hello' }, { cwd: '/srv/dir' })
    const usage = {
      input: 10,
      output: 5,
      cacheRead: 2,
      cacheWrite: 1,
      totalTokens: 18,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
    }
    await main.append(KEY, {
      role: 'assistant',
      content: [{ type: 'text', text: 'Hi!' }],
      provider: 'anthropic',
      model: 'm',
      usage,
      stopReason: 'stop',
    })
    const [header, first, second, ...rest] = lines(path)
    expect(header).toEqual({
      type: 'session',
      version: 3,
      id: sessionId,
      timestamp: '2026-01-15T12:00:00.000Z',
      cwd: '/srv/dir',
    })
    expect(first).toMatchObject({
      type: 'message',
      parentId: null,
      timestamp: '2026-01-15T12:00:00.000Z',
      message: { role: 'user', content: 'Hello', timestamp: 1768478400000 },
    })
    expect(second).toMatchObject({
      type: 'message',
      parentId: first.id,
      message: { role: 'assistant', usage, stopReason: 'stop' },
    })
    expect(rest).toEqual([])
  })

  it('can be read by its owner only, also when the file was open to all before', async () => {
    const { main, path } = await conversation(backend)
    await say(main, 'one')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    const store =
      backend === 'rows' ? join(dirname(path), '..', 'conversations.db') : join(dirname(path), 'sessions.json')
    expect(statSync(store).mode & 0o777).toBe(0o600)
    expect(statSync(dirname(path)).mode & 0o077).toBe(0)
  })

  it('keeps each topic in a file of its own', async () => {
    const { main, path } = await conversation(backend)
    await say(main, 'parent')
    await say(main, 'in topic', 123)
    await say(main, 'elsewhere', 'a/b:c')
    expect(said((await main.transcript(KEY))?.entries)).toEqual(['parent'])
    expect(said((await main.transcript(KEY, { topic: 123 }))?.entries)).toEqual(['in topic'])
    expect(
      readdirSync(dirname(path))
        .filter((name) => name.includes('-topic-'))
        .sort(),
    ).toEqual([
      path.slice(dirname(path).length + 1).replace('.jsonl', '-topic-123.jsonl'),
      path.slice(dirname(path).length + 1).replace('.jsonl', '-topic-a%2Fb%3Ac.jsonl'),
    ])
  })

  it('of a thread is a file of its own, named after its session and the thread', async () => {
    const { main } = await conversation(backend)
    const thread = await main.thread(KEY, 77)
    await main.append(thread.key, { role: 'user', content: 'in the thread' })
    await say(main, 'outside')
    expect(await main.transcriptPath(thread.key)).toContain(`${thread.entry.sessionId}-topic-77.jsonl`)
    expect(said((await main.transcript(thread.key))?.entries)).toEqual(['in the thread'])
    expect(said((await main.transcript(KEY))?.entries)).toEqual(['outside'])
  })

  it('mirrors a delivery: its text, and its media by file name, without what a link carries in its query', async () => {
    const { main } = await conversation(backend)
    await main.mirror(KEY, { text: 'Message sent to user' })
    await main.mirror(KEY, {
      text: 'with a caption',
      mediaUrls: ['https://example.com/image%20one.png?x=1#y', 'https://example.com/a/b.pdf'],
    })
    const transcript = await main.transcript(KEY)
    expect(said(transcript?.entries)).toEqual(['Message sent to user', 'with a caption\nimage one.png, b.pdf'])
    expect(transcript?.entries[1]?.message?.mediaUrls).toEqual([
      'https://example.com/image%20one.png',
      'https://example.com/a/b.pdf',
    ])
    expect(transcript?.entries[0]?.message).toMatchObject({
      role: 'assistant',
      model: 'delivery-mirror',
      usage: { totalTokens: 0 },
      stopReason: 'stop',
    })
    await expect(main.mirror(KEY, { text: '  ' })).rejects.toMatchObject({ code: 'bad-input' })
  })
})

describe('a second writer', () => {
  it('is refused while the first is open, and welcome after', async () => {
    const { main } = await conversation()
    {
      using writer = await main.writer(KEY)
      writer.append({ role: 'user', content: 'first' })
      await expect(main.writer(KEY)).rejects.toMatchObject({
        code: 'transcript-in-use',
        message: expect.stringContaining(`process ${process.pid}`),
      })
      writer.append({ role: 'user', content: 'second' })
    }
    await say(main, 'third')
    const transcript = await main.transcript(KEY)
    expect(said(transcript?.entries)).toEqual(['first', 'second', 'third'])
    expect(transcript && branchTo(transcript)).toHaveLength(3)
  })

  it('that knows nothing of locks is noticed, and the first stops instead of mixing', async () => {
    const { main, path } = await conversation()
    using writer = await main.writer(KEY)
    writer.append({ role: 'user', content: 'first' })
    appendFileSync(path, '{"type":"message","id":"x","parentId":null}\n')
    expect(() => writer.append({ role: 'user', content: 'second' })).toThrow(
      expect.objectContaining({ code: 'transcript-in-use' }),
    )
  })

  it('waits for a short one, so that appends from many tasks form one line', async () => {
    const { main } = await conversation()
    await Promise.all(Array.from({ length: 20 }, (_, n) => say(main, String(n))))
    const transcript = await main.transcript(KEY)
    expect(transcript && branchTo(transcript)).toHaveLength(20)
  })
})

/** How many entries end, newline or not, before the cut. */
function wholeEntries(bytes: Buffer, cut: number): number {
  const ends = [...bytes.entries()].flatMap(([at, byte]) => (byte === 10 ? [at] : []))
  return Math.max(0, ends.filter((end) => end <= cut).length - 1)
}

it('an append that had to wait while the conversation was reset goes to the new session', async () => {
  const { main, path } = await conversation()
  const lock = await lockTranscript(path, 0)
  const appending = say(main, 'late')
  await new Promise((resolve) => setTimeout(resolve, 20))
  await main.patch(KEY, { sessionId: 'the-new-one' }) // what a reset does to the entry, while it holds the lock
  lock[Symbol.dispose]()
  await appending
  expect(said((await main.transcript(KEY))?.entries)).toEqual(['late'])
  expect(existsSync(path)).toBe(false)
})

describe('a torn tail', () => {
  it('is passed over on reading, and cut off and kept aside on the next append', async () => {
    const { main, path } = await conversation()
    await say(main, 'whole')
    const torn = '{"type":"message","id":"torn","parentId":"x","message":{"role":"user","content":"half a wor'
    appendFileSync(path, torn)
    expect(await main.transcript(KEY)).toMatchObject({ tornTail: torn, entries: [{ message: { role: 'user' } }] })
    expect(readFileSync(path, 'utf8').endsWith(torn)).toBe(true) // reading touches nothing
    await say(main, 'after')
    const transcript = await main.transcript(KEY)
    expect(said(transcript?.entries)).toEqual(['whole', 'after'])
    expect(transcript?.entries[1]?.parentId).toBe(transcript?.entries[0]?.id)
    expect(readFileSync(`${path}.torn`, 'utf8')).toBe(`${torn}\n`)
    expect(statSync(`${path}.torn`).mode & 0o777).toBe(0o600)
  })

  it('that is a whole entry without its newline is completed', async () => {
    const { main, path } = await conversation()
    await say(main, 'one')
    writeFileSync(path, readFileSync(path, 'utf8').trimEnd())
    await say(main, 'two')
    expect(said((await main.transcript(KEY))?.entries)).toEqual(['one', 'two'])
  })

  it('of the very first write is put aside too: nothing was said yet', async () => {
    const { main, path } = await conversation()
    mkdirSync(dirname(path), { recursive: true })
    for (const torn of ['', '{', '{"type":"session","version":3,"id":"x']) {
      writeFileSync(path, torn)
      expect(await main.transcript(KEY)).toBeUndefined()
      await say(main, 'first')
      expect(said((await main.transcript(KEY))?.entries)).toEqual(['first'])
    }
    expect(readFileSync(`${path}.torn`, 'utf8')).toBe('{\n{"type":"session","version":3,"id":"x\n')
  })

  it('never costs a whole entry, wherever the file was cut', async () => {
    const { main, path } = await conversation()
    for (const text of ['eins', 'zwei €', 'drei']) await say(main, text)
    const whole = readFileSync(path)
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: whole.length }), async (cut) => {
        writeFileSync(path, whole.subarray(0, cut))
        const before = (await main.transcript(KEY))?.entries.length ?? 0
        expect(before).toBe(wholeEntries(whole, cut))
        await say(main, 'after')
        const transcript = await main.transcript(KEY)
        expect(transcript?.entries).toHaveLength(before + 1)
        expect(transcript && branchTo(transcript)).toHaveLength(before + 1)
        expect(transcript?.skippedLines).toEqual([])
      }),
      { numRuns: 100 },
    )
  })
})

describe('an old version', () => {
  it('is read as version 3, twice the same, without touching the file', async () => {
    const { main, path } = await conversation()
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, fixture('v1-before.jsonl'))
    const transcript = await main.transcript(KEY)
    expect(await main.transcript(KEY)).toEqual(transcript)
    expect(readFileSync(path, 'utf8')).toBe(fixture('v1-before.jsonl'))
    expect(transcript).toMatchObject({ storedVersion: 1, header: { version: 3 } })
    // the same shape as pi made of it, but for the ids, which it draws at random
    const place = (entries: TranscriptEntry[], id: unknown) => entries.findIndex((entry) => entry.id === id)
    const shape = (entries: TranscriptEntry[]) =>
      entries.map(({ id, parentId, firstKeptEntryId, ...rest }) => ({
        ...rest,
        parent: place(entries, parentId),
        kept: place(entries, firstKeptEntryId),
      }))
    expect(shape(transcript?.entries ?? [])).toEqual(
      shape(parseTranscript(fixture('v1-after.jsonl'), 'v1-after').entries),
    )
  })

  it('is rewritten as version 3 by the first append, with the old file beside it', async () => {
    const { main, path } = await conversation()
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, fixture('v1-before.jsonl'))
    const before = await main.transcript(KEY)
    await say(main, 'new')
    const after = await main.transcript(KEY)
    expect(after).toMatchObject({ storedVersion: 3 })
    expect(after?.entries.slice(0, -1)).toEqual(before?.entries)
    expect(after && branchTo(after)).toHaveLength(6)
    const backup = readdirSync(dirname(path)).find((name) => name.includes('.jsonl.bak.')) ?? ''
    expect(readFileSync(join(dirname(path), backup), 'utf8')).toBe(fixture('v1-before.jsonl'))
  })

  it('version 2 becomes 3 by renaming the role of hooks', () => {
    const v2 = [
      '{"type":"session","version":2,"id":"s","timestamp":"t","cwd":"/p"}',
      '{"type":"message","id":"a","parentId":null,"timestamp":"t","message":{"role":"hookMessage","content":"h","timestamp":1}}',
    ].join('\n')
    expect(parseTranscript(v2, 'v2')).toMatchObject({
      storedVersion: 2,
      entries: [{ id: 'a', parentId: null, message: { role: 'custom' } }],
    })
  })

  it('the simple lines of the document that asked for this store are read as messages', () => {
    const simple = [
      '{"type":"session","version":3,"id":"uuid","timestamp":"2025-01-15T12:00:00Z","cwd":"/path"}',
      '{"type":"user","content":[{"type":"text","text":"Hello"}],"timestamp":1234567890}',
      '{"type":"assistant","content":[{"type":"text","text":"Hi!"}],"timestamp":1234567891}',
    ].join('\n')
    const transcript = parseTranscript(simple, 'simple')
    expect(said(branchTo(transcript))).toEqual(['Hello', 'Hi!'])
    expect(transcript.entries.map((entry) => entry.message?.role)).toEqual(['user', 'assistant'])
  })
})

describe('a transcript that cannot be understood is kept, and refused:', () => {
  it.each([
    ['no header', '{"type":"message","id":"a","parentId":null}\n', 'transcript-damaged'],
    ['no JSON', 'garbage\n', 'transcript-damaged'],
    ['a newer version', '{"type":"session","version":4,"id":"s","timestamp":"t","cwd":"/"}\n', 'newer-format'],
  ])('%s', async (_, content, code) => {
    const { main, path } = await conversation()
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    await expect(say(main, 'x')).rejects.toMatchObject({ code })
    await expect(main.transcript(KEY)).rejects.toMatchObject({ code })
    expect(readFileSync(path, 'utf8')).toBe(content)
    expect(existsSync(`${path}.lock`)).toBe(false)
  })
})

it('follows the tree of a file that pi wrote: the leaf is the last line, other branches stay out', () => {
  const transcript = parseTranscript(fixture('tree.jsonl'), 'tree')
  expect(said(branchTo(transcript))).toEqual(['q1', 'a1', 'branch_summary', 'q2-alt', 'a2-alt'])
  expect(transcript.entries).toHaveLength(14)
})

describe('a transcript cannot be led out of its directory', () => {
  it.each(['../../etc/x', '__proto__', 'a\0b', 'x'.repeat(300), '', '.hidden', 'a/b'])(
    'by the session id %j',
    async (sessionId) => {
      const { main } = await conversation()
      await expect(main.patch(KEY, { sessionId })).rejects.toMatchObject({ code: 'bad-id' })
    },
  )

  it.each(['a\0b', '', 'x'.repeat(300)])('by the topic %j', async (topic) => {
    const { main } = await conversation()
    await expect(say(main, 'x', topic)).rejects.toMatchObject({ code: 'bad-id' })
  })

  it('by the path in the entry', async () => {
    const { main, path } = await conversation()
    const outside = join(scratch(), 'outside.jsonl')
    await main.patch(KEY, { sessionFile: outside })
    expect(await main.transcriptPath(KEY)).toBe(path)
    await main.patch(KEY, { sessionFile: join(dirname(path), '..', '..', '..', 'x.jsonl') })
    expect(await main.transcriptPath(KEY)).toBe(path)
    await say(main, 'x')
    expect(existsSync(outside)).toBe(false)
  })

  it('by a link', async () => {
    const { main, path } = await conversation()
    const outside = join(scratch(), 'outside.jsonl')
    writeFileSync(outside, '')
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(outside, path)
    await expect(say(main, 'x')).rejects.toMatchObject({ code: 'home-unreadable' })
    await expect(main.transcript(KEY)).rejects.toMatchObject({ code: 'home-unreadable' })
    expect(readFileSync(outside, 'utf8')).toBe('')
  })
})
