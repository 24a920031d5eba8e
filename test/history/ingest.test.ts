import { appendFileSync, copyFileSync, cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openTestHome, scratch } from '../home/scratch.js'
import { asTruth } from '../ingest/corpus.js'
import { inAnyOrder, seededRandom, someTime } from '../support/random.js'
import { byModel, CLAUDE, ingestInProcess, logsUnder, told, withLogs } from './logs.js'

describe('ingesting', () => {
  it.each([11, 12, 13])(
    'counts every token of a tree of logs exactly once, with and without the index (seed %i)',
    async (seed) => {
      const { root, truth } = withLogs(seed)
      const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
      const report = await home.history.ingest()
      expect(report.unreadable).toEqual([])
      expect(await byModel(home)).toEqual(truth.byModel)
      expect(asTruth(await home.history.cost({ by: 'model', noIndex: true }))).toEqual(truth.byModel)
      expect((await home.sessions.query({ limit: 1_000 })).sessions).toHaveLength(report.sessions_found)
      expect(await home.history.ingest()).toMatchObject({ read: 0, sessions_found: 0 })
      expect((await home.index.check()).problems).toEqual([])
      await home[Symbol.asyncDispose]()
    },
  )

  it('says the same in whatever pieces and order the logs come', async () => {
    const random = seededRandom()
    const { root, projects, truth } = withLogs(21)
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await home.history.ingest()
    const expected = await told(home)
    await home[Symbol.asyncDispose]()

    for (let order = 0; order < 10; order += 1) {
      const other = scratch()
      const { home: piecemeal } = await openTestHome(other, { ms: Date.UTC(2026, 10, 15) })
      const logs = inAnyOrder(logsUnder(projects), random)
      for (let at = 0; at < logs.length; ) {
        const some = logs.slice(at, at + 1 + random(15))
        for (const log of some) {
          const target = join(other, '.claude', 'projects', log.slice(projects.length))
          mkdirSync(dirname(target), { recursive: true })
          const bytes = readFileSync(log)
          // First a part that ends anywhere, also inside a line and a character; then the rest.
          writeFileSync(target, bytes.subarray(0, random(bytes.length)))
        }
        await piecemeal.history.ingest()
        for (const log of some) {
          const target = join(other, '.claude', 'projects', log.slice(projects.length))
          appendFileSync(target, readFileSync(log).subarray(statSync(target).size))
        }
        if (random(10) < 7) await piecemeal.history.ingest()
        at += some.length
      }
      await piecemeal.history.ingest()
      expect(await byModel(piecemeal)).toEqual(truth.byModel)
      expect(await told(piecemeal)).toEqual(expected)
      await piecemeal[Symbol.asyncDispose]()
    }
  })

  it('by two processes at once, and by many that are killed in the middle, ends in the same state', async () => {
    const random = seededRandom()
    const { root, truth } = withLogs(31)
    for (let kill = 0; kill < 12; kill += 1) {
      const { child, started, ended } = ingestInProcess(root)
      await started
      await someTime(random, 150)
      child.kill('SIGKILL')
      await ended
    }
    const both = [ingestInProcess(root, 2), ingestInProcess(root, 2)]
    expect(await Promise.all(both.map((one) => one.ended))).toEqual([0, 0])
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    expect(await home.history.ingest()).toMatchObject({ read: 0 })
    expect(await byModel(home)).toEqual(truth.byModel)
    const seen = await told(home)
    await home[Symbol.asyncDispose]()

    const fresh = scratch()
    cpSync(join(root, '.claude'), join(fresh, '.claude'), { recursive: true })
    const { home: clean } = await openTestHome(fresh, { ms: Date.UTC(2026, 10, 15) })
    await clean.history.ingest()
    expect(seen).toEqual(await told(clean))
    await clean[Symbol.asyncDispose]()
  })

  it('reads a log that was rewritten or cut anew, and counts nothing twice', async () => {
    const root = scratch()
    const log = join(root, '.claude', 'projects', '-srv', '22222222-2222-4222-8222-222222222222.jsonl')
    mkdirSync(dirname(log), { recursive: true })
    copyFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), log)
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await home.history.ingest()
    const whole = await home.history.counts('22222222-2222-4222-8222-222222222222')
    expect(whole).toMatchObject({ turns: 7, tool_calls: 8, unread_lines: 0 })
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n')
    writeFileSync(log, `${lines.slice(0, 30).join('\n')}\n`)
    await home.history.ingest()
    // What it lacks now is kept, until it says something else.
    expect(await home.history.counts('22222222-2222-4222-8222-222222222222')).toEqual(whole)
    const message = { role: 'user', content: 'something else entirely' }
    appendFileSync(log, `${JSON.stringify({ type: 'user', uuid: 'o1', parentUuid: null, message })}\n`)
    await home.history.ingest()
    const other = await home.history.counts('22222222-2222-4222-8222-222222222222')
    expect(other.turns).toBeLessThan(whole.turns)
    writeFileSync(log, `${lines.join('\n')}\n`)
    await home.history.ingest()
    expect(await home.history.counts('22222222-2222-4222-8222-222222222222')).toEqual(whole)
    await home[Symbol.asyncDispose]()
  })

  it('makes sessions of what it finds, adds to those it knows, and links what took the place of another', async () => {
    const root = scratch()
    const id = '77777777-7777-4777-8777-777777777777'
    const log = join(root, '.claude', 'projects', '-srv', `${id}.jsonl`)
    mkdirSync(dirname(log), { recursive: true })
    copyFileSync(join(CLAUDE, 'interactive-with-ai-title.jsonl'), log)
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await home.sessions.start({ id, agent: 'web/kim', work_unit: 'w-1' })
    expect(await home.history.ingest()).toMatchObject({ sessions_found: 0, read: 1 })
    const known = await home.sessions.get(id)
    expect(known).toMatchObject({
      agent: 'web/kim',
      work_unit: 'w-1',
      tool: 'claude',
      title: expect.stringMatching(/./),
      cwd: expect.stringMatching(/^\//),
    })
    expect(known?.outcome).toBeUndefined() // whoever started it says when it ends
    expect((await home.history.cost({ by: 'agent' })).rows.map((row) => row.key)).toEqual(['web/kim'])
    expect((await home.history.cost({ by: 'work' })).rows.map((row) => row.key)).toEqual(['w-1'])
    await home[Symbol.asyncDispose]()
  })

  it("charges an agent's sessions to the name and group that it has now", async () => {
    const root = scratch()
    const id = '77777777-7777-4777-8777-777777777777'
    const log = join(root, '.claude', 'projects', '-srv', `${id}.jsonl`)
    mkdirSync(dirname(log), { recursive: true })
    copyFileSync(join(CLAUDE, 'interactive-with-ai-title.jsonl'), log)
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await home.roster.add({ address: 'web/kim', tool: 'claude' })
    await home.sessions.start({ id, agent: 'web/kim' })
    await home.history.ingest()
    const keysBy = async (by: 'agent' | 'group') => (await home.history.cost({ by })).rows.map(({ key }) => key)
    const idsOf = async (agent: string) =>
      (await home.sessions.query({ agent })).sessions.map((one) => [one.id, one.agent])
    await home.roster.rename('web/kim', 'lee')
    await home.roster.move('web/lee', 'back/end')
    expect(await keysBy('agent')).toEqual(['back/end/lee'])
    expect(await keysBy('group')).toEqual(['back/end'])
    for (const name of ['lee', 'back/end/lee']) expect(await idsOf(name)).toEqual([[id, 'back/end/lee']])
    expect((await home.history.cost({ by: 'session', session: 'lee' })).rows).toHaveLength(1)
    // The old name is another agent's once there is one.
    await home.roster.add({ address: 'web/kim', tool: 'claude' })
    expect(await idsOf('web/kim')).toEqual([])
    await home[Symbol.asyncDispose]()
  })

  it('follows what the log calls a session and where it goes on, but not over what a person said', async () => {
    const root = scratch()
    const project = join(root, '.claude', 'projects', '-srv')
    const [found, reported] = ['aaaaaaaa-0000-4000-8000-000000000001', 'bbbbbbbb-0000-4000-8000-000000000002']
    mkdirSync(project, { recursive: true })
    let line = 0
    const append = (id: string, gitBranch: string, aiTitle: string): void => {
      line += 1
      const [timestamp, message] = [`2026-01-01T00:00:0${line}.000Z`, { role: 'user', content: 'go' }]
      const prompt = {
        type: 'user',
        uuid: `${line}`,
        parentUuid: null,
        sessionId: id,
        cwd: '/srv',
        gitBranch,
        timestamp,
        message,
      }
      const title = { type: 'ai-title', aiTitle, sessionId: id }
      appendFileSync(join(project, `${id}.jsonl`), `${JSON.stringify(prompt)}\n${JSON.stringify(title)}\n`)
    }
    const { home } = await openTestHome(root)
    const read = async (branch: string, title: string) => {
      for (const id of [found, reported]) append(id, branch, title)
      await home.history.ingest()
      return [await home.sessions.get(found), await home.sessions.get(reported)]
    }
    await home.sessions.start({ id: reported, branch: 'mine' })
    expect(await read('main', 'First')).toMatchObject([
      { title: 'First', branch: 'main' },
      { title: 'First', branch: 'mine' },
    ])
    expect(await read('topic', 'Second')).toMatchObject([
      { title: 'Second', branch: 'topic' },
      { title: 'Second', branch: 'mine' },
    ])
    await home.sessions.update(found, { title: 'By hand' })
    expect(await read('topic', 'Third')).toMatchObject([{ title: 'By hand', log_title: 'Third' }, { title: 'Third' }])
    expect(await read('topic', 'Third')).toMatchObject([{ title: 'By hand' }, { title: 'Third' }])
    expect((await home.index.check()).problems).toEqual([])
    await home[Symbol.asyncDispose]()
  })

  it('shows turns of a log that nobody has read yet, and stores them', async () => {
    const root = scratch()
    const id = '22222222-2222-4222-8222-222222222222'
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await home.sessions.start({ id, tool: 'claude' })
    expect(await home.history.turns(id, { readsNew: true })).toMatchObject({ told_from: 'counts', turns: [] })
    const log = join(root, '.claude', 'projects', '-srv', `${id}.jsonl`)
    mkdirSync(dirname(log), { recursive: true })
    copyFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), log)
    // What only looks changes nothing.
    expect(await home.history.turns(id)).toMatchObject({ told_from: 'counts', turns: [] })
    const { told_from, turns } = await home.history.turns(id, { readsNew: true })
    expect([told_from, turns.length]).toEqual(['log', 7])
    expect(await home.history.counts(id)).toMatchObject({ turns: 7 })
    expect(await home.history.ingest()).toMatchObject({ read: 0 })
    await home[Symbol.asyncDispose]()
  })

  it('shows turns from the log, from the archive when it is gone, and their counts when both are', async () => {
    const root = scratch()
    const id = '22222222-2222-4222-8222-222222222222'
    const log = join(root, '.claude', 'projects', '-srv', `${id}.jsonl`)
    mkdirSync(dirname(log), { recursive: true })
    copyFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), log)
    const { home } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await home.history.ingest()
    const there = await home.history.turns(id)
    expect(there).toMatchObject({ from_log: true, told_from: 'log' })
    expect(there.turns).toHaveLength(7)
    expect(there.turns[0]?.prompt).not.toBe('')
    rmSync(log)
    const archived = await home.history.turns(id)
    expect(archived).toMatchObject({ from_log: false, told_from: 'archive', counters: there.counters })
    const said = (turns: typeof there.turns) => turns.map(({ prompt, reply, usage }) => ({ prompt, reply, usage }))
    expect(said(archived.turns)).toEqual(said(there.turns))
    rmSync(join(home.directory, 'archive'), { recursive: true })
    const counted = await home.history.turns(id)
    expect(counted).toMatchObject({ from_log: false, told_from: 'counts' })
    const shape = (turns: typeof there.turns) =>
      turns.map((turn) => [turn.number, turn.outcome, turn.tool_calls.map((call) => call.name)])
    expect(shape(counted.turns)).toEqual(shape(there.turns))
    expect(shape(archived.turns)).toEqual(shape(there.turns))
    await home[Symbol.asyncDispose]()
  })

  it('steps know the turns they cover', async () => {
    const root = scratch()
    const id = '22222222-2222-4222-8222-222222222222'
    const log = join(root, '.claude', 'projects', '-srv', `${id}.jsonl`)
    mkdirSync(dirname(log), { recursive: true })
    copyFileSync(join(CLAUDE, 'interactive-7turns-tools-subagent.jsonl'), log)
    const { home, clock } = await openTestHome(root, { ms: Date.UTC(2026, 10, 15) })
    await home.sessions.start({ id })
    await home.history.ingest()
    const { turns } = await home.history.turns(id)
    clock.ms = Date.parse(turns[1]?.started_at ?? '')
    await home.sessions.step(id, { step_ref: 'middle', state: 'started' })
    clock.ms = Date.parse(turns[3]?.started_at ?? '')
    await home.sessions.step(id, { step_ref: 'middle', state: 'completed' })
    const [step] = (await home.history.turns(id)).steps
    expect(step).toMatchObject({ step_ref: 'middle', turns: expect.arrayContaining([2, 3, 4]) })
    expect(step?.turns).not.toContain(7)
    await home[Symbol.asyncDispose]()
  })
})
