import { type ChildProcess, spawn } from 'node:child_process'
import { appendFileSync, cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { SearchOptions } from '../../src/home/index.js'
import { searchText, TextStore } from '../../src/ingest/index.js'
import {
  answers,
  CLAUDE,
  EVERYTHING,
  filesUnder,
  NOW,
  OWN,
  sessionsWith,
  whereNeedlesAre,
  withCorpus,
  withFixture,
} from '../home/corpus-home.js'
import { openTestHome, profileDirectory, scratch } from '../home/scratch.js'
import { seededRandom, someTime } from '../support/random.js'

const WORKER = join(import.meta.dirname, '..', 'workers', 'ingest.mjs')

describe('scripts without blanks between words', () => {
  it('a word is found within a sentence, by itself, in a phrase and beside other words', async () => {
    const root = scratch()
    const prompts = [
      '请修改密码验证模块，并更新API接口文档',
      'パスワードの検証を直してください',
      '비밀번호를 바꿔 주세요',
      'plain words',
    ]
    const path = join(root, '.claude', 'projects', '-srv', `${OWN}.jsonl`)
    mkdirSync(dirname(path), { recursive: true })
    const lines = prompts.map((content, at) => ({
      ...{ type: 'user', uuid: `u${at}`, parentUuid: at === 0 ? null : `u${at - 1}`, sessionId: OWN, cwd: '/srv' },
      ...{ timestamp: `2026-11-14T10:00:0${at}.000Z`, message: { role: 'user', content } },
    }))
    writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    const { home } = await openTestHome(root, NOW)
    onTestFinished(() => home[Symbol.asyncDispose]())
    await home.history.ingest()
    const found = async (text: string): Promise<number[]> =>
      (await home.history.search({ text })).hits.map(({ turn }) => turn).sort()
    for (const text of ['密码', '验证模块', '码', '接口', 'API接口', '修改 文档', '"验证模块 并更新"', '密码*'])
      expect([text, ...(await found(text))]).toEqual([text, 1])
    expect(await found('検証')).toEqual([2])
    expect(await found('パスワード')).toEqual([2])
    expect(await found('비밀번호')).toEqual([3])
    for (const text of ['码密', '密码 plain', '"修改 文档"', '検証モ'])
      expect([text, ...(await found(text))]).toEqual([text])
    const [hit] = (await home.history.search({ text: '密码' })).hits
    expect(hit?.marks.map(([from, to]) => hit.snippet.slice(from, to))).toEqual(['密码'])
  })

  it('a part of very many words is looked for in the most frequent of them, and the answer says so', async () => {
    using store = TextStore.empty()
    store.db.run("update text_facts set value = '0' where name = 'passages'")
    for (let n = 0; n < 1_200; n += 1)
      store.db.run('insert into words (rowid, text) values (?, ?)', n + 1, `码${String.fromCodePoint(0x4e00 + n)}`)
    expect(searchText(store, { text: '码', limit: 5 })).toMatchObject({ hits: [], is_complete: false })
    expect(searchText(store, { text: '码一', limit: 5 })).toMatchObject({ is_complete: true })
  })
})

it('what a log says that was moved, or copied to another place, is found once', async () => {
  const { root, log } = withFixture()
  const { home } = await openTestHome(root, NOW)
  onTestFinished(() => home[Symbol.asyncDispose]())
  await home.history.ingest()
  const before = (await home.history.search({ text: 'readme', limit: 100 })).hits
  expect(before.length).toBeGreaterThan(1)
  const moved = join(root, '.claude', 'projects', '-srv-renamed')
  cpSync(dirname(log), moved, { recursive: true })
  await home.history.ingest()
  expect((await home.history.search({ text: 'readme', limit: 100 })).hits).toHaveLength(before.length)
  rmSync(dirname(log), { recursive: true })
  await home.history.ingest()
  expect((await home.history.search({ text: 'readme', limit: 100 })).hits).toHaveLength(before.length)
})

describe('searching a tree of logs', () => {
  it('finds every needle, in the session that it was planted in', async () => {
    const { root, projects, manifest } = withCorpus(41)
    writeFileSync(join(root, 'privacy.yaml'), EVERYTHING)
    const { home } = await openTestHome(root, NOW)
    await home.history.ingest()
    const places = whereNeedlesAre(projects, manifest)
    expect(places.length).toBeGreaterThan(3)
    for (const [needle, session] of places)
      expect([needle, ...(await sessionsWith(home, { text: needle }))]).toContain(session)
    await home[Symbol.asyncDispose]()
  })

  it('keeps no planted secret in any file, packed or not, also where the policy keeps everything', async () => {
    const { root, manifest } = withCorpus(42)
    writeFileSync(join(root, 'privacy.yaml'), EVERYTHING)
    const { home } = await openTestHome(root, NOW)
    await home.history.ingest()
    await home[Symbol.asyncDispose]()
    const values = manifest.secrets.flatMap(({ s }) => s.match(/[A-Za-z0-9]{16,}/g)?.slice(-1) ?? [])
    expect(values.length).toBeGreaterThan(3)
    const everything = filesUnder(profileDirectory(root)).map((path) => readFileSync(path, 'latin1'))
    using text = TextStore.open(join(profileDirectory(root), 'text.db'))
    for (const { n } of text.db.all('select n from text_blocks') as { n: number }[])
      everything.push(text.block(n).toString())
    const all = everything.join('\n')
    const words = text.db.all('select term from words_vocabulary').map((row) => (row as { term: string }).term)
    expect(values.filter((value) => all.includes(value) || words.includes(value.toLowerCase()))).toEqual([])
  })

  it('says the same when the text was lost and read again, in pieces, or after the logs are gone', async () => {
    const { root, projects, manifest } = withCorpus(43)
    const { home } = await openTestHome(root, NOW)
    await home.history.ingest()
    const expected = await answers(home, manifest)
    rmSync(join(profileDirectory(root), 'text.db'))
    expect((await home.history.search({ text: 'error' })).is_ingested).toBe(false)
    await home.history.ingest()
    expect(await answers(home, manifest)).toEqual(expected)
    expect(await home.history.ingest()).toMatchObject({ read: 0 })

    const other = scratch()
    const { home: piecemeal } = await openTestHome(other, NOW)
    const logs = filesUnder(projects, '.jsonl')
    const targetOf = (log: string): string => join(other, '.claude', 'projects', log.slice(projects.length))
    for (const share of [0.1, 0.4, 0.7, 1]) {
      for (const log of logs) {
        mkdirSync(dirname(targetOf(log)), { recursive: true })
        const bytes = readFileSync(log)
        const done = statSync(targetOf(log), { throwIfNoEntry: false })?.size ?? 0
        appendFileSync(targetOf(log), bytes.subarray(done, Math.floor(bytes.length * share)))
      }
      await piecemeal.history.ingest()
    }
    expect(await answers(piecemeal, manifest)).toEqual(expected)
    rmSync(join(root, '.claude'), { recursive: true })
    await home.history.ingest()
    const gone = JSON.stringify(await answers(home, manifest))
    expect(JSON.parse(gone.replaceAll('"log_gone":true', '"log_gone":false'))).toEqual(expected)
    await home[Symbol.asyncDispose]()
    await piecemeal[Symbol.asyncDispose]()
  })

  it('says the same after processes that were killed in the middle, and two at once', async () => {
    const random = seededRandom()
    const { root, manifest } = withCorpus(44)
    const ingest = (): { child: ChildProcess; ended: Promise<unknown> } => {
      const child = spawn(process.execPath, [WORKER, root, root, '1'], { stdio: ['ignore', 'pipe', 'inherit'] })
      return { child, ended: new Promise((resolve) => child.on('exit', resolve)) }
    }
    for (let kill = 0; kill < 8; kill += 1) {
      const { child, ended } = ingest()
      await new Promise((resolve) => child.stdout?.once('data', resolve))
      await someTime(random, 700)
      child.kill('SIGKILL')
      await ended
    }
    expect(await Promise.all([ingest().ended, ingest().ended])).toEqual([0, 0])
    const { home } = await openTestHome(root, NOW)
    expect(await home.history.ingest()).toMatchObject({ read: 0 })
    const fresh = scratch()
    cpSync(join(root, '.claude'), join(fresh, '.claude'), { recursive: true, preserveTimestamps: true })
    const { home: clean } = await openTestHome(fresh, NOW)
    await clean.history.ingest()
    expect(await answers(home, manifest)).toEqual(await answers(clean, manifest))
    await home[Symbol.asyncDispose]()
    await clean[Symbol.asyncDispose]()
  })
})

/** The session of the fixtures, read. `found` says where a search finds something. */
async function readFixture() {
  const { root } = withFixture()
  const { home } = await openTestHome(root, NOW)
  await home.history.ingest()
  onTestFinished(() => home[Symbol.asyncDispose]())
  const found = async (options: SearchOptions): Promise<string[]> =>
    (await home.history.search(options)).hits.map((hit) => `${hit.turn} ${hit.in} ${hit.tool_name ?? ''}`.trim())
  return { home, found }
}

describe('searching one session', () => {
  it('finds words, phrases, beginnings and identifiers', async () => {
    const { found } = await readFixture()
    expect(await found({ text: 'turn four' })).toEqual(['4 prompts'])
    expect(await found({ text: '"written and edited"' })).toEqual(['2 replies'])
    expect(await found({ text: '"edited and written"' })).toEqual([])
    expect(await found({ text: 'stream* slow' })).toEqual(['5 replies'])
    expect(await found({ text: 'repo/README.md' })).toEqual(['1 tools Read'])
    expect(await found({ text: 'README' })).toContain('1 tools Read')
    expect(await found({ text: 'nonexistent-file' })).toEqual(['3 tools Bash'])
  })

  it('finds the words also when they were left for later', async () => {
    const { root } = withFixture()
    const { home } = await openTestHome(root, NOW)
    const first = await home.history.ingest({ words: false })
    expect(first).toMatchObject({ read: 2, sessions_found: 1 })
    const query = { text: 'file', limit: 5 }
    expect((await home.history.search(query)).hits).toEqual([])
    const counts = await home.history.counts(OWN)
    expect(await home.history.ingest({ words: false })).toMatchObject({ read: 0 })
    expect(await home.history.ingest()).toMatchObject({ read: 2, turns: 0, sessions_found: 0 })
    expect((await home.history.search(query)).hits.length).toBeGreaterThan(0)
    expect(await home.history.counts(OWN)).toEqual(counts)
    await home[Symbol.asyncDispose]()
  })

  it('narrows down by place, tool, time and agent', async () => {
    const { found } = await readFixture()
    expect(await found({ text: 'readme', in: 'replies' })).toEqual(['1 replies'])
    expect(await found({ text: 'purpose', in: 'tools', tool: 'Bash' })).toEqual(['3 tools Bash'])
    expect(await found({ text: 'purpose', in: 'tools', tool: 'Read' })).toEqual([])
    expect(await found({ text: 'turn', tool: 'codex' })).toEqual([])
    expect((await found({ text: 'turn', tool: 'claude' })).length).toBeGreaterThan(3)
    expect(await found({ text: 'turn', since: '2026-11-16T00:00:00.000Z' as never })).toEqual([])
    expect(await found({ text: 'turn', agent: 'web/nobody' })).toEqual([])
  })

  it('a hit names session, turn, and the next command, and marks what was found', async () => {
    const { home } = await readFixture()
    const [hit] = (await home.history.search({ text: 'SLOWLY' })).hits
    expect(hit).toMatchObject({
      session: OWN,
      tool: 'claude',
      turn: 5,
      in: 'replies',
      next: `skein turns ${OWN} --turn 5`,
    })
    expect(hit?.marks.map(([from, to]) => hit.snippet.slice(from, to))).toEqual(['slowly'])
    const [inside] = (await home.history.search({ text: 'SUBTASK', in: 'prompts' })).hits
    expect(inside).toMatchObject({ session: OWN, sub_agent: expect.stringMatching(/./) })
  })

  it('keeps what a changed file held to itself, as the policy says', async () => {
    const { found } = await readFixture()
    expect(await found({ text: 'old_string' })).toEqual(['2 tools Edit'])
    expect(await found({ text: 'replace_all boolean' })).toEqual(['2 tools Edit'])
    expect(await found({ text: 'world' })).toEqual([])
  })

  it('keeps what a log said that was only cut, and forgets what one that says something else no longer says', async () => {
    const other = withFixture()
    const { home: own } = await openTestHome(other.root, NOW)
    await own.history.ingest()
    expect((await own.history.search({ text: 'slowly' })).hits).toHaveLength(1)
    const lines = readFileSync(other.log, 'utf8').trimEnd().split('\n')
    writeFileSync(other.log, `${lines.slice(0, 20).join('\n')}\n`)
    await own.history.ingest()
    expect((await own.history.search({ text: 'slowly' })).hits).toHaveLength(1)
    const message = { role: 'user', content: 'something else entirely' }
    appendFileSync(other.log, `${JSON.stringify({ type: 'user', uuid: 'o1', parentUuid: null, message })}\n`)
    await own.history.ingest()
    expect((await own.history.search({ text: 'entirely' })).hits).toHaveLength(1)
    expect((await own.history.search({ text: 'slowly' })).hits).toEqual([])
    expect((await own.history.search({ text: 'please' })).hits.length).toBeGreaterThan(0)
    await own[Symbol.asyncDispose]()
  })

  it('a sub-agent is kept like the call that started it', async () => {
    const { root } = withFixture()
    writeFileSync(join(root, 'privacy.yaml'), 'tool_privacy: { Agent: none }\n')
    const { home } = await openTestHome(root, NOW)
    await home.history.ingest()
    expect((await home.history.search({ text: 'SUBTASK' })).hits).toEqual([])
    expect((await home.history.search({ text: '"task notification"' })).hits).toEqual([])
    await home[Symbol.asyncDispose]()
  })

  it('a project that hides a tool is heard, and one whose policy cannot be read hides them all', async () => {
    for (const [content, isHeard] of [
      ['tool_privacy: { Bash: none }\n', true],
      ['tool_privacy: [broken\n', false],
    ] as const) {
      const other = scratch()
      const work = join(other, 'work')
      mkdirSync(join(work, '.skein'), { recursive: true })
      writeFileSync(join(work, '.skein', 'privacy.yaml'), content)
      const target = join(other, '.claude', 'projects', '-srv', `${OWN}.jsonl`)
      mkdirSync(dirname(target), { recursive: true })
      const told = readFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), 'utf8').replaceAll(
        /"cwd":"[^"]*"/g,
        `"cwd":${JSON.stringify(work)}`,
      )
      writeFileSync(target, told)
      const { home: own, warnings } = await openTestHome(other, NOW)
      await own.history.ingest()
      expect((await own.history.search({ text: 'oneline' })).hits).toEqual([])
      expect((await own.history.search({ text: 'README.md', in: 'tools' })).hits.length > 0).toBe(isHeard)
      expect(warnings.length > 0).toBe(!isHeard)
      await own[Symbol.asyncDispose]()
    }
  })
})
