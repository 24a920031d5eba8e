import { describe, expect, it } from 'vitest'
import { noCounters } from '../../src/tools/log/counters.js'
import { LostPlace, MAIN, type SavedTracker, TurnTracker } from '../../src/tools/log/turn-tracker.js'

/** As it is stored and read again. */
const stored = (tracker: TurnTracker): SavedTracker => JSON.parse(JSON.stringify(tracker.save())) as SavedTracker

function threeTurns(ids: (entry: number) => string): TurnTracker {
  const tracker = new TurnTracker(noCounters())
  for (let entry = 0; entry < 300; entry += 1) {
    const after = entry === 0 ? null : ids(entry - 1)
    if (entry % 100 === 0) tracker.begin(MAIN, ids(entry), after)
    else tracker.place(MAIN, ids(entry), after)
  }
  return tracker
}

describe('the state of a tracker', () => {
  for (const [what, ids] of [
    ['of usual ids', (entry: number) => `entry-${entry}`],
    ['of ids with spaces', (entry: number) => `entry ${entry}`],
  ] as const) {
    it(`${what} reaches back to the newest entries and to the last of each turn`, () => {
      const again = new TurnTracker(noCounters(), stored(threeTurns(ids)))
      expect(again.place(MAIN, 'next', ids(299))).toBe(3)
      expect(again.begin(MAIN, 'back', ids(99))).toEqual({ turn: 4, follows: 1 })
      expect(again.turnOf(MAIN, ids(250))).toBe(3)
      expect(() => again.place(MAIN, 'too far back', ids(50))).toThrow(LostPlace)
    })

    it(`${what} is the same when it is saved again`, () => {
      const saved = stored(threeTurns(ids))
      expect(stored(new TurnTracker(noCounters(), saved))).toEqual(saved)
    })
  }

  it('is read as earlier versions saved it', () => {
    const saved = {
      [MAIN]: { follows: [0, 0], nodes: [['one', 1] as [string, number], ['two', 1] as [string, number]], newest: 1 },
    }
    const tracker = new TurnTracker(noCounters(), saved)
    expect(tracker.begin(MAIN, 'three', 'two')).toEqual({ turn: 2, follows: 1 })
    expect(tracker.turnOf(MAIN, 'one')).toBe(1)
  })
})
