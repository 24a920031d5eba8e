import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import {
  branchTo,
  type ConversationStore,
  exportOpenClaw,
  importOpenClaw,
  loadSessionStore,
  textOf,
} from '../../src/conversations/index.js'
import { BACKENDS, fakeWorld, openStore, scratch } from './scratch.js'

const fixture = (version: string) => fileURLToPath(new URL(`../fixtures/openclaw-stores/${version}`, import.meta.url))

async function wholeStore(store: ConversationStore) {
  const found: Record<string, unknown> = {}
  for (const agent of store.agents()) {
    const conversations = store.open(agent)
    for (const { key, entry } of await conversations.list()) {
      const { sessionFile, ...rest } = entry
      const transcript = await conversations.transcript(key)
      found[key] = {
        ...rest,
        said: transcript ? branchTo(transcript).map((line) => line.message && textOf(line.message)) : [],
      }
    }
  }
  return found
}

describe.each(BACKENDS)('on the %s backend', (backend) => {
  it.each([
    ['2026.1.30', 3, 1],
    ['2026.7.1', 3, 0],
    ['2026.7.1-agent-run', 1, 1],
  ])('a store of OpenClaw %s is taken over, and its files are left alone', async (version, entries, transcripts) => {
    const before = readFileSync(join(fixture(version), 'agents/main/sessions/sessions.json'), 'utf8')
    const store = openStore(backend)
    const [receipt] = await importOpenClaw(store, fixture(version))
    expect(receipt).toMatchObject({ agent: 'main', transcripts, skipped: [] })
    const rows = await store.open('main').list()
    expect(rows).toHaveLength(entries)
    const theirs = JSON.parse(before)
    for (const { key, entry } of rows) {
      const { sessionFile: _, ...original } = theirs[key]
      expect(entry).toEqual(original)
    }
    expect(readFileSync(join(fixture(version), 'agents/main/sessions/sessions.json'), 'utf8')).toBe(before)
  })

  it.each(['link', 'pipe'])(
    'a transcript that is a %s is never copied, and its conversation is named',
    async (kind) => {
      const source = scratch()
      cpSync(fixture('2026.7.1-agent-run'), source, { recursive: true })
      const sessions = join(source, 'agents/main/sessions')
      const name = readdirSync(sessions).find((one) => one.endsWith('.jsonl')) ?? ''
      const transcript = join(sessions, name)
      const secret = join(source, 'id_rsa')
      renameSync(transcript, secret)
      if (kind === 'link') symlinkSync(secret, transcript)
      else execFileSync('mkfifo', [transcript])
      const store = openStore(backend)
      const [receipt] = await importOpenClaw(store, source)
      expect(receipt).toMatchObject({ imported: [], transcripts: 0 })
      expect(receipt?.skipped).toEqual([
        { key: 'agent:main:demo', because: `its transcript ${name} is a ${kind}, not a file` },
      ])
      expect(await store.open('main').list()).toEqual([])
    },
  )

  it('a taken over transcript is readable, ours alone, and goes on where it ended', async () => {
    const store = openStore(backend)
    const main = store.open('main')
    await importOpenClaw(store, fixture('2026.7.1-agent-run'))
    const key = 'agent:main:demo'
    expect(statSync(await main.transcriptPath(key)).mode & 0o777).toBe(0o600)
    const before = await main.transcript(key)
    expect(before?.entries).toHaveLength(11)
    await main.append(key, { role: 'user', content: 'and more' })
    const after = await main.transcript(key)
    expect(after?.entries.at(-1)?.parentId).toBe(before?.entries.at(-1)?.id)
  })

  it('what is here already stays, unless told to replace it; a dry run changes nothing', async () => {
    const store = openStore(backend)
    const main = store.open('main')
    expect((await importOpenClaw(store, fixture('2026.7.1'), { dryRun: true }))[0]?.imported).toHaveLength(3)
    expect(await main.list()).toEqual([])
    await main.patch('agent:main:main', { label: 'mine' }, { onMissing: 'create' })
    expect((await importOpenClaw(store, fixture('2026.7.1')))[0]?.skipped).toEqual([
      { key: 'agent:main:main', because: 'it already exists here' },
    ])
    expect((await main.get('agent:main:main'))?.entry.label).toBe('mine')
    await importOpenClaw(store, fixture('2026.7.1'), { onExisting: 'replace' })
    expect((await main.get('agent:main:main'))?.entry).toMatchObject({ lastTo: '42' })
  })

  it('old spellings, bare keys and odd entries are taken, joined or named in the receipt', async () => {
    const directory = scratch()
    const sessions = join(directory, 'agents/main/sessions')
    mkdirSync(sessions, { recursive: true })
    const entry = (sessionId: string, updatedAt: number) => ({ sessionId, updatedAt, chatType: 'direct' })
    writeFileSync(
      join(sessions, 'sessions.json'),
      JSON.stringify({
        'agent:main:discord:direct:U1': entry('new', 2),
        'agent:main:discord:dm:u1': entry('old', 1),
        'cron:nightly': entry('cron', 1),
        'agent:codex:main': entry('foreign', 1),
        'agent:main:': entry('malformed', 1),
        'agent:main:bad': entry('../../etc/x', 1),
      }),
    )
    const store = openStore(backend)
    const [receipt] = await importOpenClaw(store, directory)
    expect(receipt?.imported.sort()).toEqual(['agent:main:cron:nightly', 'agent:main:discord:dm:u1'])
    expect(receipt?.skipped.map(({ key }) => key).sort()).toEqual([
      'agent:codex:main',
      'agent:main:',
      'agent:main:bad',
      'agent:main:discord:dm:u1',
    ])
    expect((await store.open('main').get('agent:main:discord:dm:u1'))?.entry).toMatchObject({
      sessionId: 'new',
      chatType: 'dm',
    })
  })

  it('what is exported and imported again is the same, threads, topics and bindings included', async () => {
    const store = openStore(backend, { surroundings: fakeWorld() })
    const main = store.open('main')
    await main.receive('agent:main:discord:dm:u1', { text: 'x', from: 'u1' })
    await main.append('agent:main:discord:dm:u1', { role: 'user', content: 'Grüße' })
    await main.bind('agent:main:discord:dm:u1', 'sdk-1', { cwd: '/p', mcp: 'x' })
    const thread = await main.thread('agent:main:discord:dm:u1', 7)
    await main.append(thread.key, { role: 'user', content: 'in the thread' })
    await main.spawn('agent:main:discord:dm:u1', { name: 'w' })
    await store.open('codex').receive('agent:codex:slack:group:g', {})
    const directory = scratch()
    const receipts = await exportOpenClaw(store, directory)
    expect(receipts.map(({ agent, entries, transcripts }) => [agent, entries, transcripts]).sort()).toEqual([
      ['codex', 1, 0],
      ['main', 3, 2],
    ])
    const again = openStore(backend)
    await importOpenClaw(again, directory)
    expect(await wholeStore(again)).toEqual(await wholeStore(store))
  })

  it('an export is the layout of OpenClaw, for its owner only, and never goes over a store that is there', async () => {
    const store = openStore(backend)
    const main = store.open('main')
    await main.receive('agent:main:discord:dm:u1', {})
    await main.append('agent:main:discord:dm:u1', { role: 'user', content: 'hi' })
    const path = await main.transcriptPath('agent:main:discord:dm:u1')
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"torn`)
    const directory = scratch()
    const [receipt] = await exportOpenClaw(store, directory)
    const sessions = dirname(receipt?.store ?? '')
    const entry = loadSessionStore(join(sessions, 'sessions.json'))['agent:main:discord:direct:u1']
    expect(entry?.chatType).toBe('direct')
    expect(readFileSync(entry?.sessionFile ?? '', 'utf8')).not.toContain('torn')
    for (const name of readdirSync(sessions)) expect(statSync(join(sessions, name)).mode & 0o777).toBe(0o600)
    const before = readFileSync(join(sessions, 'sessions.json'), 'utf8')
    await expect(exportOpenClaw(store, directory)).rejects.toMatchObject({ code: 'bad-input' })
    expect(readFileSync(join(sessions, 'sessions.json'), 'utf8')).toBe(before)
  })
})

it('a directory without a store is an error that says what to give', async () => {
  const directory = scratch()
  await expect(importOpenClaw(openStore('rows'), directory)).rejects.toMatchObject({
    code: 'bad-input',
    next: expect.stringContaining('.openclaw'),
  })
  mkdirSync(join(directory, 'agents/main/agent'), { recursive: true })
  writeFileSync(join(directory, 'agents/main/agent/openclaw-agent.sqlite'), '')
  await expect(importOpenClaw(openStore('rows'), directory)).rejects.toMatchObject({
    code: 'newer-format',
    message: expect.stringContaining('nothing was imported'),
  })
  expect(existsSync(join(directory, 'agents/main/agent/openclaw-agent.sqlite'))).toBe(true)
})
