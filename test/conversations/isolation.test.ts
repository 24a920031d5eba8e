import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Conversations, fingerprintOf, updateSessionStoreEntry } from '../../src/conversations/index.js'
import { openDatabase } from '../../src/disk/index.js'
import { BACKENDS, openStore, scratch } from './scratch.js'

const THEIRS = 'agent:codex:discord:dm:user123'
const OURS = 'agent:main:discord:dm:user123'
const RUN = fingerprintOf({ cwd: '/p' })

/** Every verb that takes a key, called by agent "main" on a conversation of agent "codex". */
const VERBS: Record<string, (main: Conversations) => Promise<unknown>> = {
  get: (main) => main.get(THEIRS),
  patch: (main) => main.patch(THEIRS, { label: 'mine' }, { onMissing: 'create' }),
  receive: (main) => main.receive(THEIRS, { text: 'hi' }),
  thread: (main) => main.thread(THEIRS, 1),
  spawn: (main) => main.spawn(THEIRS, { name: 'w' }),
  reset: (main) => main.reset(THEIRS),
  remove: (main) => main.remove(THEIRS),
  transcript: (main) => main.transcript(THEIRS),
  transcriptPath: (main) => main.transcriptPath(THEIRS),
  writer: (main) => main.writer(THEIRS),
  append: (main) => main.append(THEIRS, { role: 'user', content: 'x' }),
  mirror: (main) => main.mirror(THEIRS, { text: 'x' }),
  appendEntry: (main) => main.appendEntry(THEIRS, { type: 'custom' }),
  route: (main) => main.route(THEIRS, { to: 'x' }),
  sendDecision: (main) => main.sendDecision(THEIRS),
  compact: (main) => main.compact(THEIRS, { summary: 'x', firstKept: 'x' }),
  recordMemoryFlush: (main) => main.recordMemoryFlush(THEIRS),
  bind: (main) => main.bind(THEIRS, 'sdk-1', RUN),
  unbind: (main) => main.unbind(THEIRS),
  resumption: (main) => main.resumption(THEIRS, RUN),
  lockTurn: (main) => main.lockTurn(THEIRS),
  'patch (as the spawner of its own)': (main) => main.patch(OURS, { spawnedBy: THEIRS }),
  'patch (as the place of its own thread)': (main) => main.patch(OURS, { parentSessionKey: THEIRS }),
  'patch (with the SDK session of the other)': (main) => main.patch(OURS, { sdkSessionId: 'sdk-codex' }),
  'patch (with the CLI session of the other)': (main) => main.patch(OURS, { cliSessionIds: { claude: 'sdk-codex' } }),
  'bind (the SDK session of the other)': (main) => main.bind(OURS, 'sdk-codex', RUN),
}

describe.each(BACKENDS)("one agent cannot touch another's conversation on the %s backend:", (backend) => {
  const setUp = async () => {
    const directory = scratch()
    const store = openStore(backend, { directory })
    const codex = store.open('codex')
    await codex.patch(THEIRS, { label: 'theirs' }, { onMissing: 'create' })
    await codex.bind(THEIRS, 'sdk-codex', RUN)
    await codex.append(THEIRS, { role: 'user', content: 'secret' })
    await store.open('main').patch(OURS, { label: 'ours' }, { onMissing: 'create' })
    return { main: store.open('main'), codex, directory }
  }

  it.each(Object.keys(VERBS))('%s', async (verb) => {
    const { main, codex } = await setUp()
    const before = await codex.get(THEIRS)
    await expect(VERBS[verb]?.(main)).rejects.toMatchObject({ code: 'foreign-conversation' })
    expect(await codex.get(THEIRS)).toEqual(before)
    expect((await main.list()).map((row) => row.key)).toEqual([OURS])
  })

  it('list, resetAll and prune reach only its own', async () => {
    const { main, codex } = await setUp()
    expect((await main.list()).map((row) => row.key)).toEqual([OURS])
    await main.resetAll({})
    await main.prune({ maxEntries: 0 })
    expect(await main.list()).toEqual([])
    expect((await codex.list()).map((row) => row.key)).toEqual([THEIRS])
    expect((await codex.transcript(THEIRS))?.entries).toHaveLength(1)
  })

  it('resuming an SDK session that was written into the store by hand', async () => {
    const { main, directory } = await setUp()
    const home = join(directory, 'agents/main')
    if (backend === 'files') {
      await updateSessionStoreEntry({
        storePath: join(home, 'sessions/sessions.json'),
        sessionKey: OURS,
        update: () => ({ sdkSessionId: 'sdk-codex' }),
      })
    } else {
      const database = openDatabase(join(home, 'conversations.db'))
      database.exec(`update conversations set entry = json_set(entry, '$.sdkSessionId', 'sdk-codex')`)
      database.close()
    }
    expect((await main.get(OURS))?.entry.sdkSessionId).toBe('sdk-codex')
    await expect(main.resumption(OURS, RUN)).rejects.toMatchObject({ code: 'foreign-conversation' })
  })
})
