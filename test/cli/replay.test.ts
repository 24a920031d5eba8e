import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { frameOf, layOut } from '../../src/cli/replay/frame.js'
import { play } from '../../src/cli/replay/play.js'
import {
  advance,
  FASTEST,
  isOver,
  KEYS,
  type Playback,
  type PlaybackKey,
  playbackFrom,
  press,
  SLOWEST,
} from '../../src/cli/replay/playback.js'
import { plainLines, type Scene, scriptOf } from '../../src/cli/replay/script.js'
import { displayWidth } from '../../src/cli/screen/display-width.js'
import { PLAIN_PAINT } from '../../src/cli/screen/paint.js'
import { exportDocument } from '../../src/interchange/index.js'
import { DEFAULT_PRIVACY } from '../../src/privacy/index.js'
import type { LoggedTurn } from '../../src/tools/index.js'
import { AT, aCall, aHistory, aTurn } from '../interchange/history.js'

function scriptWith(turns: LoggedTurn[]): Scene[] {
  const { sessions } = exportDocument([{ history: aHistory({ turns }), policy: DEFAULT_PRIVACY }], { at: AT })
  return sessions.flatMap(scriptOf)
}

const script = scriptWith([
  aTurn({ prompt: 'one', reply: 'first answer', tool_calls: [aCall(), aCall({ name: 'Grep', success: false })] }),
  aTurn({ number: 2, prompt: 'two', reply: 'second answer' }),
  aTurn({ number: 3, prompt: 'three', reply: 'third answer' }),
])
const start = playbackFrom(0, 1)
const WHOLE_TURN = 10_000

const screenAt = (playback: Playback, size = { rows: 12, columns: 60 }, of = script): string[] => {
  const scene = of[playback.scene]
  return frameOf(playback, of, scene ? layOut(scene, size.columns) : [], { ...size, paint: PLAIN_PAINT })
}

describe('a replay', () => {
  it('types the prompt, shows each call on a line, then streams the reply', () => {
    const [, prompt, call] = script[0]?.pieces ?? []
    const shown = (ms: number): string => screenAt(advance(start, script, ms)).join('\n')
    expect(shown(0)).not.toContain('> o')
    expect(shown(300 + (prompt?.ms ?? 0) * 0.9)).toContain('> o')
    const calls = 300 + (prompt?.ms ?? 0) + (call?.ms ?? 0) + 1
    expect(shown(calls)).toContain('* Bash ls\n* Grep ls (failed)')
    expect(shown(calls)).not.toContain('first')
    expect(shown(calls + (call?.ms ?? 0) + 30)).toMatch(/^first\b.{0,3}$/m)
    expect(shown(script[0]?.ms ?? 0)).toContain('first answer')
  })

  it('says what was said between calls where it was said', () => {
    const remarks = [{ text: 'Let me look.', after_calls: 1 }]
    const calls = [aCall({ name: 'Glob' }), aCall({ name: 'Grep' })]
    const of = scriptWith([aTurn({ prompt: 'one', remarks, tool_calls: calls, reply: 'Found.' })])
    expect(of.flatMap(plainLines).slice(4)).toEqual([
      '* Glob ls',
      '',
      'Let me look.',
      '',
      '* Grep ls',
      '',
      'Found.',
      '',
    ])
  })

  it('goes on to the next turn after a rest, and stays at the end of the last', () => {
    const second = advance(start, script, (script[0]?.ms ?? 0) + 1_600)
    expect(second.scene).toBe(1)
    const end = advance(start, script, 1_000_000)
    expect(end.scene).toBe(2)
    expect(isOver(end, script)).toBe(true)
    expect(advance(end, script, 50_000)).toEqual(end)
    expect(screenAt(end).at(-1)).toContain('turn 3 of 3 · 1x · the end')
  })

  it('stands still while paused', () => {
    const paused = press(start, script, 'pause')
    expect(advance(paused, script, WHOLE_TURN)).toEqual(paused)
    expect(screenAt(paused).at(-1)).toContain('paused')
    expect(press(paused, script, 'pause').isPaused).toBe(false)
  })

  it('steps to the next and the previous turn, also while paused', () => {
    const second = press(press(start, script, 'pause'), script, 'next')
    expect(second).toMatchObject({ scene: 1, atMs: 0, isPaused: true })
    expect(press(second, script, 'previous').scene).toBe(0)
    expect(press(start, script, 'previous').scene).toBe(0)
    const last = press(press(second, script, 'next'), script, 'next')
    expect(isOver(last, script)).toBe(true)
  })

  it('steps from piece to piece and stands still there, into the next turn and up to the end', () => {
    const shown: string[] = []
    let playback = start
    for (let step = 0; step < 9; step += 1) {
      playback = press(playback, script, 'step')
      expect(playback.isPaused).toBe(true)
      shown.push(
        screenAt(playback)
          .filter((line) => line !== '')
          .at(-2) ?? '',
      )
    }
    expect(shown).toEqual([
      ...['> one', '* Bash ls', '* Grep ls (failed)', 'first answer', '> two', 'second answer', '> three'],
      ...['third answer', 'third answer'],
    ])
    expect(isOver(playback, script)).toBe(true)
  })

  it('takes as much time as the speed says', () => {
    const fast = press(press(start, script, 'faster'), script, 'faster')
    expect(fast.speed).toBe(4)
    expect(advance(fast, script, 100).atMs).toBe(400)
    expect(press(start, script, 'slower').speed).toBe(0.5)
  })

  it('is never anywhere else than in its script, whatever is pressed', () => {
    const act = fc.oneof(fc.constantFrom<PlaybackKey>(...Object.values(KEYS)), fc.integer({ min: 0, max: 20_000 }))
    fc.assert(
      fc.property(fc.array(act), fc.nat({ max: 2 }), fc.double({ noNaN: true }), (acts, from, speed) => {
        let playback = playbackFrom(from, speed)
        for (const one of acts)
          playback = typeof one === 'number' ? advance(playback, script, one) : press(playback, script, one)
        expect(script[playback.scene]).toBeDefined()
        expect(playback.atMs).toBeGreaterThanOrEqual(0)
        expect(playback.speed).toBeGreaterThanOrEqual(SLOWEST)
        expect(playback.speed).toBeLessThanOrEqual(FASTEST)
        if (acts.includes('quit')) expect(playback.isQuit).toBe(true)
      }),
    )
  })
})

describe('a frame of a replay', () => {
  it('fits the screen and holds nothing that a terminal obeys, whatever the texts and the size', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.constant('\x1b[2J\x1b]0;x\x07 \u202e 漢字 👩‍👩‍👧 a\tb\r\nc'),
    )
    fc.assert(
      fc.property(
        text,
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 2, max: 90 }),
        fc.nat(),
        (one, rows, columns, ms) => {
          const call = aCall({ name: one, arguments: { command: one } })
          const of = scriptWith([aTurn({ prompt: one, reply: one, error: one, tool_calls: [call] })])
          const frame = screenAt(advance(playbackFrom(0, 1), of, ms % 20_000), { rows, columns }, of)
          expect(frame.length).toBe(Math.max(2, rows))
          for (const line of frame) {
            expect(line).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202a-\u202e]/)
            expect(displayWidth(line)).toBeLessThanOrEqual(columns)
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  it('shows the newest rows of a turn that is longer than the screen', () => {
    const reply = Array.from({ length: 100 }, (_, at) => `line ${at + 1}`).join('\n')
    const of = scriptWith([aTurn({ reply })])
    const frame = screenAt(advance(start, of, 100_000), { rows: 10, columns: 40 }, of)
    expect(frame.slice(0, -2)).toEqual(Array.from({ length: 8 }, (_, at) => `line ${93 + at}`))
  })
})

it('into a pipe every word of a turn is printed', () => {
  expect(script.slice(0, 1).flatMap(plainLines)).toEqual([
    'Turn 1',
    '',
    '> one',
    '',
    '* Bash ls',
    '* Grep ls (failed)',
    '',
    'first answer',
    '',
  ])
})

describe('playing on a terminal', () => {
  const terminalThat = (write: (text: string) => void) => {
    let heard: ((typed: string) => void) | undefined
    return {
      size: () => ({ rows: 10, columns: 60 }),
      write,
      onResize: () => {},
      onKeys: (listener: typeof heard) => {
        heard = listener
      },
      [Symbol.dispose]: () => {},
      type: (typed: string) => heard?.(typed),
      isHeard: () => heard !== undefined,
    }
  }

  it('ends with the error when the terminal cannot be written to, and lets go of the keys', async () => {
    const terminal = terminalThat(() => {
      throw new Error('gone')
    })
    const { signal } = new AbortController()
    await expect(play(script, { terminal, paint: PLAIN_PAINT, start, signal })).rejects.toThrow('gone')
    expect(terminal.isHeard()).toBe(false)
  })

  it('ends when it is interrupted, and when somebody quits', async () => {
    const terminal = terminalThat(() => {})
    const controller = new AbortController()
    const played = play(script, { terminal, paint: PLAIN_PAINT, start, signal: controller.signal })
    controller.abort()
    await played
    const again = play(script, { terminal, paint: PLAIN_PAINT, start, signal: new AbortController().signal })
    terminal.type('xn q')
    await again
    expect(terminal.isHeard()).toBe(false)
  })
})
