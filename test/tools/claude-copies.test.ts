import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { originAmong } from '../../src/tools/claude/claude-copies.js'
import type { LogRef } from '../../src/tools/index.js'
import { openTestHome, scratch } from '../home/scratch.js'
import { toolNamed } from './log-file.js'

const ONE = '11111111-1111-4111-8111-111111111111'
const TWO = '22222222-2222-4222-8222-222222222222'
const THREE = '33333333-3333-4333-8333-333333333333'
const claude = toolNamed('claude')

/** Prompts and replies, a second apart; `own` sets apart the ids of what two logs do not share. */
function conversation(turns: number, fromMs: number, { shared = turns, own = '' } = {}): object[] {
  return Array.from({ length: turns * 2 }, (_, at) => {
    const isPrompt = at % 2 === 0
    const id = (n: number): string => `${n < shared * 2 ? '' : own}${n}`
    const content = isPrompt ? `question ${at / 2 + 1}` : [{ type: 'text', text: 'answer' }]
    return {
      type: isPrompt ? 'user' : 'assistant',
      uuid: id(at),
      parentUuid: at === 0 ? null : id(at - 1),
      timestamp: new Date(fromMs + at * 10).toISOString(),
      message: {
        role: isPrompt ? 'user' : 'assistant',
        content,
        ...(isPrompt ? {} : { id: `m${id(at)}`, model: 'x' }),
      },
    }
  })
}

function written(root: string, session: string, lines: object[]): LogRef {
  const path = join(root, '.claude', 'projects', '-srv', `${session}.jsonl`)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, lines.map((line) => `${JSON.stringify({ ...line, sessionId: session })}\n`).join(''))
  const log = claude.logAt(path)
  if (!log) throw new Error('no log')
  return log
}

describe('a copy that names no origin', () => {
  const T0 = Date.UTC(2026, 0, 1)
  const root = scratch
  const born = (times: Record<string, number | undefined>) => (path: string) =>
    Object.entries(times).find(([id]) => path.includes(id))?.[1]

  it('was forked from the log that was there before their last shared entry, at the turn where they part', () => {
    const at = root()
    const one = written(at, ONE, conversation(5, T0, { shared: 3, own: 'a' }))
    const two = written(at, TWO, conversation(4, T0, { shared: 3, own: 'b' }))
    const births = born({ [ONE]: T0 + 5, [TWO]: T0 + 500 })
    expect(originAmong(two, [one], births)).toEqual({ session: ONE, turn: 3 })
    expect(originAmong(one, [two], births)).toBeUndefined()
  })

  it('of several, was forked from the one it shares most with', () => {
    const at = root()
    const one = written(at, ONE, conversation(5, T0, { shared: 2, own: 'a' }))
    const two = written(at, TWO, conversation(4, T0, { shared: 4 }))
    const three = written(at, THREE, conversation(6, T0, { shared: 4, own: 'c' }))
    const births = born({ [ONE]: T0 + 5, [TWO]: T0 + 35, [THREE]: T0 + 900 })
    expect(originAmong(three, [one, two], births)).toEqual({ session: TWO, turn: 4 })
  })

  it('has none where the times of the files do not prove it', () => {
    const at = root()
    const one = written(at, ONE, conversation(3, T0))
    const two = written(at, TWO, conversation(4, T0, { shared: 3, own: 'b' }))
    // A tree that was copied: both files are younger than all that is in them. Or the system does not say.
    expect(originAmong(two, [one], born({ [ONE]: T0 + 9_000, [TWO]: T0 + 9_500 }))).toBeUndefined()
    expect(originAmong(two, [one], born({ [ONE]: undefined, [TWO]: T0 + 500 }))).toBeUndefined()
    expect(
      originAmong(
        two,
        [written(at, THREE, conversation(3, T0, { shared: 0, own: 'z' }))],
        born({ [THREE]: T0 + 1, [TWO]: T0 + 500 }),
      ),
    ).toBeUndefined()
  })

  const probe = statSync(import.meta.filename)
  it.runIf(probe.birthtimeMs > 0)('appears as a fork in the list, whichever order the logs are found in', async () => {
    const at = root()
    const now = Date.now()
    written(at, ONE, conversation(3, now + 20, { shared: 3 }))
    await wait(150)
    written(at, TWO, conversation(4, now + 20, { shared: 3, own: 'b' }))
    const { home } = await openTestHome(at, { ms: now + 1_000 })
    await home.history.ingest()
    expect((await home.sessions.get(TWO))?.forked_from).toEqual({ session: ONE, turn: 3 })
    expect((await home.sessions.get(ONE))?.forked_from).toBeUndefined()
    const tree = await home.sessions.tree(TWO)
    expect(JSON.stringify(tree)).toContain(ONE)
    await home[Symbol.asyncDispose]()
  })
})
