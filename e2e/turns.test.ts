import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listAt, objectAt, textAt } from '../src/tools/json-value.js'
import { ModelServer } from './model-server/model-server.js'
import { Scratch } from './scratch.js'
import { Skein, until } from './skein.js'
import { REAL_TOOLS } from './tools/index.js'

const AGENT = 'web/worker'
const TURNS = ['one', 'two', 'three'] as const

describe.each(REAL_TOOLS)('the code of the turns of $name $version', (tool) => {
  let scratch: Scratch
  let server: ModelServer
  let skein: Skein
  const file = (name: string): string => join(scratch.project, name)

  beforeAll(async () => {
    const rules = TURNS.map((name) => ({
      when: new RegExp(`turn ${name}`),
      steps: [{ gate: name, text: `Done ${name}.` }],
    }))
    server = await ModelServer.start({ rules: [...rules.reverse(), { when: /.*/, steps: [{ text: 'Gladly.' }] }] })
    scratch = new Scratch(tool.name)
    skein = new Skein(scratch, tool.setUp(scratch, server))
    writeFileSync(file('notes.txt'), 'begun\n')
    const who = ['-c', 'user.name=a', '-c', 'user.email=a@example.org']
    for (const args of [
      ['init', '-q'],
      ['add', '-A'],
      [...who, 'commit', '-qm', 'begun', '--allow-empty'],
    ])
      execFileSync('git', args, { cwd: scratch.project, env: { PATH: process.env.PATH, HOME: scratch.home } })
    await skein.run('group', 'create', 'web')
  })
  afterAll(async () => {
    await skein?.run('daemon', 'stop').catch(() => undefined)
    scratch?.[Symbol.dispose]()
    await server?.[Symbol.asyncDispose]()
  })

  /** Snapshots that were taken so far. */
  const taken = async (): Promise<number> =>
    listAt(await skein.run('snapshots', 'stats'), 'stores').reduce<number>(
      (sum, one) => sum + Number((one as { snapshots: number }).snapshots),
      0,
    )
  const takes = async (count: number): Promise<void> =>
    until(`${count} snapshots are there`, async () => (await taken()) >= count, 30_000)

  it('are shown as files and lines, with what a person changed in between, and can be put back', async () => {
    const started = await skein.run('start', '.', '--agent', AGENT, '--tool', tool.name)
    await skein.listed(AGENT, { status: 'idle' }, 60_000)
    for (const [n, name] of TURNS.entries()) {
      const before = await taken()
      const sent = skein.run('send', AGENT, `turn ${name}`, '--wait', '--timeout', '60s')
      await server.arrival(name)
      await takes(before + 1)
      writeFileSync(file(`${name}.txt`), `${name}\n`.repeat(n + 1))
      server.release(name)
      expect(await sent).toMatchObject({ reply: `Done ${name}.` })
      await takes(before + 2)
      if (n === 0) writeFileSync(file('notes.txt'), 'begun\nby a person\n')
    }
    const session = String((await skein.agent(AGENT)).session_id ?? objectAt(started, 'agent')?.session_id)
    await skein.run('ingest')
    const shown = await skein.run('turns', session)
    const turns = listAt(shown, 'turns').map((turn) => turn as Record<string, unknown>)
    const asked = turns.filter(({ prompt }) => /^turn /.test(String(prompt)))
    expect(
      asked.map(({ prompt, files, added, removed, is_partial }) => [prompt, files, added, removed, is_partial]),
    ).toEqual([
      ['turn one', 1, 1, 0, false],
      ['turn two', 1, 2, 0, false],
      ['turn three', 1, 3, 0, false],
    ])
    const [first, second] = asked.map(({ number }) => String(number))
    expect(listAt(shown, 'edits')).toMatchObject([
      { kind: 'edit', after_turn: Number(first), files: 1, added: 1, removed: 0 },
    ])
    const patch = textAt(await skein.run('diff', session, second ?? ''), 'patch')
    expect(patch).toContain('+++ b/two.txt\n@@ -0,0 +1,2 @@\n+two\n+two\n')
    expect(patch).not.toContain('by a person')
    const rewound = await skein.run('rewind', AGENT, '--turn', second ?? '', '--before', '--yes')
    expect(listAt(rewound, 'changes').map((one) => (one as { path: string }).path)).toEqual(['three.txt', 'two.txt'])
    expect(readFileSync(file('notes.txt'), 'utf8')).toBe('begun\nby a person\n')
    await skein.run('rewind', AGENT, '--redo', '--yes')
    expect(readFileSync(file('three.txt'), 'utf8')).toBe('three\nthree\nthree\n')

    const [fork] = listAt(await skein.run('fork', AGENT, '--turn', second ?? '', '--prompt', 'and now?'), 'forks')
    expect(fork).toMatchObject({ conversation: 'cut', turns: Number(second), source_session_id: session })
    const next = () => server.requests.find(({ prompts }) => prompts.at(-1)?.includes('and now?'))
    await until('the fork asks the model', () => next() !== undefined, 90_000)
    const said = next()?.prompts.flatMap((text) => /turn (?:one|two|three)|and now\?/.exec(text)?.[0] ?? []) ?? []
    expect(said).toEqual(['turn one', 'turn two', 'and now?'])
    const files = readdirSync(String((fork as { worktree: string }).worktree)).filter((name) => name.endsWith('.txt'))
    expect(files.sort()).toEqual(['notes.txt', 'one.txt', 'two.txt'])
    expect((await skein.run('turns', session)).turns).toEqual(shown.turns)
  }, 240_000)
})
