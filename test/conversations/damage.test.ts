import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import {
  ConversationStore,
  loadSessionStore,
  saveSessionStore,
  updateLastRoute,
  updateSessionStore,
} from '../../src/conversations/index.js'
import { openDatabase } from '../../src/disk/index.js'
import { BACKENDS, scratch } from './scratch.js'

const KEY = 'agent:main:discord:dm:u1'
const pathIn = (directory: string, backend: string) =>
  join(directory, 'agents/main', backend === 'rows' ? 'conversations.db' : 'sessions/sessions.json')

function storeWith(
  backend: 'rows' | 'files',
  content: string | Buffer,
): { path: string; open: () => Promise<unknown> } {
  const directory = scratch()
  const path = pathIn(directory, backend)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, content)
  const open = async () => {
    using store = new ConversationStore({ directory, backend })
    await store.open('main').patch(KEY, { label: 'new' }, { onMissing: 'create' })
  }
  return { path, open }
}

describe.each(BACKENDS)('a damaged store on the %s backend is kept, and the error is clear:', (backend) => {
  it.each([
    ['text that is no store', 'not { a store'],
    ['an empty file', ''],
    ['a store cut off in the middle', '{\n  "agent:main:main": { "sessionId": "s", "upda'],
    ['a list instead of a store', '[]'],
  ])('%s', async (_, content) => {
    const { path, open } = storeWith(backend, content)
    await expect(open()).rejects.toMatchObject({ code: 'store-damaged', message: expect.stringContaining(path) })
    expect(readFileSync(path, 'utf8')).toBe(content)
  })

  it('a database with a broken page, or a file with a broken byte', async () => {
    const directory = scratch()
    {
      using store = new ConversationStore({ directory, backend })
      for (let n = 0; n < 50; n++)
        await store.open('main').patch(`${KEY}${n}`, { label: 'x'.repeat(500) }, { onMissing: 'create' })
    }
    const path = pathIn(directory, backend)
    const broken = readFileSync(path)
    broken.fill(0xff, 100, Math.min(broken.length, 20_000))
    writeFileSync(path, broken)
    using store = new ConversationStore({ directory, backend })
    const change = async () => store.open('main').patch(`${KEY}1`, { label: 'new' })
    await expect(change()).rejects.toMatchObject({ code: 'store-damaged' })
    expect(readFileSync(path).equals(broken)).toBe(true)
  })

  it('a store of a newer version', async () => {
    const directory = scratch()
    const path = pathIn(directory, backend)
    if (backend === 'rows') {
      using store = new ConversationStore({ directory, backend })
      await store.open('main').list()
    } else {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, '{"version": 4, "sessions": {}}')
    }
    if (backend === 'rows') {
      const database = openDatabase(path)
      database.exec('pragma user_version = 99')
      database.close()
    }
    const before = readFileSync(path)
    const open = async () => {
      using store = new ConversationStore({ directory, backend })
      await store.open('main').patch(KEY, { label: 'new' }, { onMissing: 'create' })
    }
    await expect(open()).rejects.toMatchObject({
      code: 'newer-format',
      next: expect.stringContaining('does not change the file'),
    })
    expect(readFileSync(path).equals(before)).toBe(true)
  })

  it('a disk that is full', () => {
    const disk = scratch()
    const worker = fileURLToPath(new URL('../workers/fill-disk-with-conversations.mjs', import.meta.url))
    const small = 'mount -t tmpfs -o size=1200k none "$1" && exec "$2" "$3" "$1" "$4"'
    const run = spawnSync('unshare', ['-r', '-m', 'sh', '-c', small, 'sh', disk, process.execPath, worker, backend], {
      encoding: 'utf8',
    })
    expect(run.stderr).toBe('')
    const seen = JSON.parse(run.stdout)
    console.log(`disk full, ${backend}: ${run.stdout.trim()}`)
    expect(seen.failure).toMatchObject({ code: 'disk-full', next: expect.stringContaining('space') })
    expect(seen.appendFailure).toMatchObject({ code: 'disk-full' })
    expect(seen.written).toBeGreaterThan(10)
    expect(seen.kept).toBe(seen.written)
    expect(seen.said).toBe(seen.appended)
    expect(seen.torn).toBeNull()
    expect(seen.keptAfter).toBe(seen.written + 1)
    expect(seen.saidAfter).toBe(seen.appended + 1)
    expect(seen.leftovers).toEqual([])
  })
})

describe("the original's functions", () => {
  it('never replace a store they cannot read', async () => {
    const path = join(scratch(), 'sessions.json')
    for (const content of ['', '{ torn', '[]', '{"version":4}']) {
      writeFileSync(path, content)
      expect(() => loadSessionStore(path, { skipCache: true })).toThrow(path)
      await expect(saveSessionStore(path, {})).rejects.toThrow(path)
      await expect(updateSessionStore(path, () => undefined)).rejects.toThrow(path)
      await expect(updateLastRoute({ storePath: path, sessionKey: KEY, to: 'x' })).rejects.toThrow(path)
      expect(readFileSync(path, 'utf8')).toBe(content)
    }
  })

  it('leave in the file what they do not understand', async () => {
    const path = join(scratch(), 'sessions.json')
    const odd = {
      'agent:main:odd': 'text',
      'agent:main:bad-id': { sessionId: '../../etc/x', updatedAt: 1 },
      global: { sessionId: 'g', updatedAt: 1 },
    }
    writeFileSync(path, JSON.stringify(odd))
    expect(Object.keys(loadSessionStore(path))).toEqual(['global'])
    await updateSessionStore(path, (store) => {
      store[KEY] = { sessionId: 's', updatedAt: 2 }
    })
    await saveSessionStore(path, { ...loadSessionStore(path) })
    expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ ...odd, [KEY]: { sessionId: 's', updatedAt: 2 } })
  })
})
