import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { displayWidth } from '../../src/cli/screen/display-width.js'
import { type Typed, type } from './typed.js'
import { buildWorld, profilesUnder, scratch } from './world.js'

const OWN = '22222222-2222-4222-8222-222222222222'
const BUSY = 'ba5eba11-aaaa-4aaa-8aaa-777777777777'

/** A log with three turns of three models: one that has a price, one that has none, and both. */
function logOf(id: string): string {
  const at = (minute: number): string => new Date(Date.UTC(2026, 0, 17, 11, minute)).toISOString()
  const usage = { input_tokens: 1_000_000, output_tokens: 0 }
  const says = (turn: number, model: string, n = 1) => ({
    ...{ type: 'assistant', uuid: `a${turn}${n}`, parentUuid: `p${turn}`, sessionId: id, timestamp: at(turn * 10 + n) },
    message: { id: `m${turn}${n}`, role: 'assistant', model, content: [{ type: 'text', text: 'ok' }], usage },
  })
  const asks = (turn: number, content: string) => ({
    ...{ type: 'user', uuid: `p${turn}`, parentUuid: turn === 1 ? null : `a${turn - 1}1`, sessionId: id },
    ...{ timestamp: at(turn * 10), cwd: '/srv/web', message: { role: 'user', content } },
  })
  const lines = [
    asks(1, `Rewrite the whole of the login page, ${'and then some, '.repeat(8)}\nthe second line`),
    says(1, 'claude-opus-4-1'),
    asks(2, 'And now with another model'),
    says(2, 'nobody-knows-1'),
    asks(3, 'Both'),
    says(3, 'claude-opus-4-1'),
    says(3, 'nobody-knows-1', 2),
  ]
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`
}

describe('the list of turns', () => {
  const world = scratch()
  const root = join(world.path, 'home')
  beforeAll(async () => {
    await buildWorld(root)
    writeFileSync(join(root, 'logs/claude/projects/-srv-web', `${BUSY}.jsonl`), logOf(BUSY))
    await skein(['ingest'])
    await using home = await profilesUnder(root).open('default')
    const fork = await home.sessions.start({ forked_from: { session: BUSY, turn: 2 }, agent: 'web/toast' })
    await home.sessions.start({ id: 'inner-fork', forked_from: { session: fork.id, turn: 1 } })
    await home.sessions.start({ id: 'early-fork', forked_from: { session: BUSY } })
  })
  afterAll(() => world[Symbol.dispose]())
  const skein = (args: readonly string[]): Promise<Typed> => type(args, { profiles: profilesUnder(root) })
  /** As a terminal of this width shows it, without colours. */
  const shown = async (args: readonly string[], columns = 200): Promise<string> => {
    let text = ''
    const stdout = { write: (some: string) => (text += some), columns, isTTY: true }
    await type(args, { profiles: profilesUnder(root), stdout })
    return text.replace(/\x1b\[[0-9;]*m/g, '')
  }
  const json = async (...args: string[]) =>
    JSON.parse((await type([...args, '--json'], { profiles: profilesUnder(root) })).stdout)

  it('has age and cost, and never shows an unknown price as nothing', async () => {
    const { turns } = await json('turns', BUSY)
    expect(
      turns.map(({ cost_micro_usd, unpriced_calls }: Record<string, number>) => [cost_micro_usd, unpriced_calls]),
    ).toEqual([
      [15_000_000, 0],
      [0, 1],
      [15_000_000, 1],
    ])
    const [head, ...rows] = (await shown(['turns', BUSY], 160)).trimEnd().split('\n')
    expect(head).toMatch(/^TURN +AGE +TIME +/)
    expect(head).toMatch(/COST.*PROMPT$/)
    const own = rows.filter((row) => /^ +\d /.test(row))
    expect(own.map((row) => /\$[\d.]+(?:\+\?)?|unknown/.exec(row)?.[0])).toEqual(['$15.00', 'unknown', '$15.00+?'])
    expect(own[0]).toMatch(/^ +1 +50m +1m /)
  })

  it('shows forks as a tree under the last turn that they share', async () => {
    const { forks } = await json('turns', BUSY)
    const inner = expect.objectContaining({ session: 'inner-fork', turn: 1, forks: [] })
    expect(forks).toHaveLength(2)
    expect(forks).toContainEqual(expect.objectContaining({ turn: 2, agent: 'web/toast', forks: [inner] }))
    expect(forks).toContainEqual({ session: 'early-fork', forks: [] })
    const rows = (await shown(['turns', BUSY], 160)).split('\n').map((row) => row.trim())
    const at = (text: string): number => rows.findIndex((row) => row.includes(text))
    expect(at('└─ fork: early-fo')).toBeLessThan(at('Rewrite the whole'))
    expect([at('└─ fork: web/toast'), at('└─ fork at its turn 1: inner-fo')]).toEqual([
      at('And now with another') + 1,
      at('And now with another') + 2,
    ])
    // A filter leaves out forks of turns that are not shown.
    expect((await json('turns', BUSY, '--turn', '3')).forks).toEqual([])
  })

  it.each([60, 80, 120, 160])('fits a screen of %d columns with number, age, files and the prompt', async (columns) => {
    for (const session of [BUSY, OWN]) {
      const rows = (await shown(['turns', session], columns)).trimEnd().split('\n')
      for (const row of rows) expect(displayWidth(row)).toBeLessThanOrEqual(columns)
      expect(rows[0]).toMatch(/TURN +AGE.*PROMPT/)
    }
    const [head, ...rows] = (await shown(['turns', BUSY], columns)).split('\n')
    expect(rows.some((row) => row.includes('Rewrite th'))).toBe(true)
    if (columns >= 80) expect(head).toContain('COST')
    expect(head?.includes('TOKENS')).toBe(columns >= 120)
    if (columns >= 80) expect((await shown(['turns', OWN], columns)).split('\n')[0]).toMatch(/FILES +LINES/)
  })

  it('a note on a turn is shown and found, and outlives a rebuild and the events', async () => {
    expect((await skein(['turns', 'note', BUSY.slice(0, 8), '2', 'the good one\nwith reasons'])).stdout).toBe(
      'Turn 2 of ba5eba11: note: the good one with reasons\n',
    )
    await skein(['turns', 'pin', BUSY, '3'])
    const marks = async (): Promise<unknown> =>
      (await json('turns', BUSY)).turns.map(({ note, is_pinned }: Record<string, unknown>) => [note, is_pinned])
    const both = [
      [undefined, undefined],
      ['the good one\nwith reasons', undefined],
      [undefined, true],
    ]
    expect(await marks()).toEqual(both)
    expect((await json('turns', BUSY, '--noted')).turns).toHaveLength(1)
    expect((await json('turns', BUSY, '--note', 'GOOD')).turns).toHaveLength(1)
    expect((await json('turns', BUSY, '--note', 'bad')).turns).toHaveLength(0)
    expect((await json('turns', BUSY, '--pinned')).turns).toMatchObject([{ number: 3 }])
    expect((await skein(['turns', '--note', 'bad', BUSY])).stderr).toBe('None of its 3 turns.\n')
    expect(await shown(['turns', BUSY], 160)).toMatch(/NOTE +PROMPT\n[\s\S]*the good one +And now/)
    expect(await shown(['show', BUSY], 160)).toContain('the good one')
    expect(await shown(['turns', BUSY, '--turn', '2'])).toContain('note:\nthe good one\nwith reasons')
    expect((await skein(['export', BUSY, '--format', 'md'])).stdout).toContain('the good one')
    await using home = await profilesUnder(root).open('default')
    await home.index.rebuild()
    expect(await marks()).toEqual(both)
    const later = await profilesUnder(root).open('default')
    await later[Symbol.asyncDispose]()
    expect((await json('sessions', 'show', BUSY)).turn_marks).toMatchObject([
      { turn: 2, note: 'the good one\nwith reasons' },
      { turn: 3, is_pinned: true },
    ])
    const [said] = await home.events.read({ type: 'session_turn_marked', session: BUSY })
    expect(said).toMatchObject({ session: BUSY, payload: { turn: 2, note: 'the good one\nwith reasons' } })
    await skein(['turns', 'note', BUSY, '2', '--remove'])
    await skein(['turns', 'unpin', BUSY, '3'])
    expect((await json('sessions', 'show', BUSY)).turn_marks).toBeUndefined()
  })

  it('a note has no secret in it, and a purge erases it from every file', async () => {
    const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'
    await skein(['turns', 'note', BUSY, '1', `use token ${secret} and plantedword-xyz`])
    const { turns } = await json('turns', BUSY, '--noted')
    expect(turns[0].note).not.toContain(secret)
    expect(turns[0].note).toContain('plantedword-xyz')
    await skein(['purge', '--pattern', 'plantedword-xyz', '--yes'])
    const files = (directory: string): string[] =>
      readdirSync(directory, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
    const holding = files(join(root, 'profiles')).filter((path) => readFileSync(path).includes('plantedword-xyz'))
    expect(holding).toEqual([])
    expect((await json('turns', BUSY, '--noted')).turns[0].note).not.toContain('plantedword')
  })

  it('refuses a note that says nothing, one of a turn that is not there, and one that is a book', async () => {
    const refused = async (...args: string[]): Promise<string> => {
      const { stderr, exitCode } = await skein(['turns', ...args])
      expect(exitCode).toBeGreaterThan(0)
      return stderr
    }
    expect(await refused('note', OWN, '2')).toContain('The note is empty')
    expect(await refused('note', OWN, '2', 'x', '--remove')).toContain('--remove takes no text')
    expect(await refused('note', OWN, '99', 'x')).toContain('has no turn 99')
    expect(await refused('note', OWN, '2', 'x'.repeat(2_001))).toContain('at most 2000')
    expect(await refused('unpin', OWN, '99')).toContain('has no turn 99')
    expect((await json('sessions', 'show', OWN)).turn_marks).toMatchObject([{ turn: 2, note: 'The one that worked' }])
  })

  it('show --turn has the words, the files and what the snapshot recorded of the start', async () => {
    const { turn } = await json('show', OWN, '--turn', '2')
    expect(turn).toMatchObject({ number: 2, files: expect.any(Number), code_before: { mode: expect.any(String) } })
    expect(turn.code_after.worktree_tree).toMatch(/^[0-9a-f]{40}$/)
    const text = await shown(['show', OWN, '--turn', '2'])
    expect(text).toMatch(/^turn +2$/m)
    expect(text).toMatch(/^code before +/m)
    expect(text).toContain('CHANGE')
    expect((await skein(['show', OWN, '--turn', '99'])).stderr).toContain('has no turn 99')
  })
})
