import { expect, it } from 'vitest'
import { codedTurns } from '../../src/history/coded-turns.js'
import type { Snapshot } from '../../src/snapshots/index.js'
import type { LoggedTurn } from '../../src/tools/index.js'

const at = (seconds: number): string => new Date(Date.UTC(2026, 0, 17, 8) + seconds * 1_000).toISOString()
const turn = (number: number, seconds?: number, copied = false): LoggedTurn =>
  ({ number, copied, ...(seconds === undefined ? {} : { started_at: at(seconds) }) }) as LoggedTurn
const snapshot = (seq: number, moment: Snapshot['moment'], seconds: number): Snapshot =>
  ({ seq, moment, as_of: at(seconds), at: at(seconds + 0.05) }) as Snapshot
const bound = (turns: LoggedTurn[], snapshots: Snapshot[]): unknown =>
  codedTurns(turns, snapshots).map(({ turn: number, before, after }) => [number, before?.seq, after?.seq])

it('binds the snapshots at prompt and end to their turn by time', () => {
  const snapshots = [
    snapshot(1, 'prompt', 0),
    snapshot(2, 'stop', 10),
    snapshot(3, 'prompt', 20),
    snapshot(4, 'stop', 30),
  ]
  expect(bound([turn(1, 0.1), turn(2, 20.2)], snapshots)).toEqual([
    [1, 1, 2],
    [2, 3, 4],
  ])
  // The log may date a prompt before the report of it.
  expect(bound([turn(1, -1), turn(2, 19)], snapshots)).toEqual([
    [1, 1, 2],
    [2, 3, 4],
  ])
})

it('leaves out a turn that the log does not have yet, and binds none of its snapshots to another', () => {
  const snapshots = [snapshot(1, 'prompt', 0), snapshot(2, 'stop', 3), snapshot(3, 'prompt', 5)]
  expect(bound([turn(1, 0)], snapshots)).toEqual([[1, 1, 2]])
  expect(bound([turn(1, 0)], snapshots.slice(1))).toEqual([[1, undefined, 2]])
})

it('a prompt that was sent while the turn went on begins a turn of its own, and the one end belongs to the last', () => {
  const snapshots = [snapshot(1, 'prompt', 0), snapshot(2, 'prompt', 8), snapshot(3, 'stop', 20)]
  expect(bound([turn(1, 0), turn(2, 8)], snapshots)).toEqual([
    [1, 1, undefined],
    [2, 2, 3],
  ])
})

it('a turn that was interrupted, one without a time and one that was copied by a fork have only what was taken for them', () => {
  const snapshots = [snapshot(1, 'prompt', 100), snapshot(2, 'safety', 103), snapshot(3, 'prompt', 200)]
  expect(bound([turn(1, 0, true), turn(2), turn(3, 100), turn(4, 200)], snapshots)).toEqual([
    [3, 1, undefined],
    [4, 3, undefined],
  ])
})

it('a turn that began right after the end of another does not take that end for its own', () => {
  const snapshots = [snapshot(1, 'prompt', 0), snapshot(2, 'stop', 10), snapshot(3, 'prompt', 10.9)]
  expect(bound([turn(1, 0), turn(2, 11)], snapshots)).toEqual([
    [1, 1, 2],
    [2, 3, undefined],
  ])
  // Its prompt was not captured.
  expect(bound([turn(1, 0), turn(2, 11)], snapshots.slice(0, 2))).toEqual([
    [1, 1, 2],
    [2, undefined, undefined],
  ])
  // A turn that is over before the log dates it has its own end.
  const quick = [...snapshots, snapshot(4, 'stop', 10.95)]
  expect(bound([turn(1, 0), turn(2, 11)], quick)).toEqual([
    [1, 1, 2],
    [2, 3, 4],
  ])
})

it('a prompt that waited for the end of the turn before does not take that end for its own', () => {
  const snapshots = [snapshot(1, 'prompt', 0), snapshot(2, 'prompt', 9), snapshot(3, 'stop', 10)]
  const waiting = { ...turn(2, 10.5), outcome: 'open' } as LoggedTurn
  expect(bound([turn(1, 0), waiting], snapshots)).toEqual([
    [1, 1, 3],
    [2, 2, undefined],
  ])
  expect(bound([turn(1, 0), turn(2, 10.5)], [...snapshots, snapshot(4, 'stop', 20)])).toEqual([
    [1, 1, 3],
    [2, 2, 4],
  ])
  // One end for two turns that are both over: nothing says whose it is.
  expect(bound([turn(1, 0), turn(2, 10.5)], snapshots)).toEqual([
    [1, 1, undefined],
    [2, 2, undefined],
  ])
})

it('a second end of a turn is not taken for that of the next one, whose prompt was not captured', () => {
  const snapshots = [snapshot(1, 'prompt', 0), snapshot(2, 'stop', 10), snapshot(3, 'stop', 12)]
  expect(bound([turn(1, 0), turn(2, 13)], snapshots)).toEqual([
    [1, 1, 2],
    [2, undefined, undefined],
  ])
})
