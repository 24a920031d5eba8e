import type { Cut, CutPoint, CutTarget } from '../cut/cut.js'
import { keptTurns, TurnEnd } from '../cut/cut-point.js'
import { asLines, Teller, type ToldRecord, turnBegunBy, wholeRecords } from '../cut/whole-log.js'
import { type JsonObject, textAt } from '../json-value.js'
import { foldSession } from '../log/fold.js'
import type { LogRef } from '../log/log-tool.js'
import { piLogPath } from './pi-name.js'
import { PiTranslator } from './pi-translator.js'

/**
 * pi's log up to a turn, as pi branches a session: a header that names the session it comes from, and the entries on the way to the last
 * one. `pi --fork` copies all entries, and chooses the id.
 */
export function cutPi(log: LogRef, at: CutPoint, target: CutTarget): Cut {
  const { session, cwd, environment, now } = target
  const teller = new Teller(log, (setup) => new PiTranslator(setup))
  const told = wholeRecords(log).map((record) => teller.accept(record))
  const kept = keptTurns(foldSession([told.flatMap(({ facts }) => facts)]), at)
  if (kept.length === 0) return { session, turns: 0, files: [] }
  const records = told.map(({ record }) => record)
  const old = records.find(({ type }) => type === 'session')
  const prompt = told.findIndex((one) => turnBegunBy(one) === at.turn)
  const way = at.edge === 'after' ? upTo(records, endOf(told, at.turn)) : before(records, prompt)
  const {
    type: _type,
    id: _id,
    timestamp: _timestamp,
    cwd: _cwd,
    parentSession: _parent,
    ...more
  } = old ?? { version: 3 }
  const header = { type: 'session', ...more, id: session, timestamp: now, cwd, parentSession: log.path }
  const path = piLogPath(environment, { session, cwd, at: now })
  const says = foldSession([told.flatMap(({ facts }, index) => (way.has(index) ? facts : []))]).turns
  return { session, turns: kept.length, says, files: [{ path, content: asLines([header, ...way.values()]) }] }
}

function endOf(told: readonly ToldRecord[], turn: number): number {
  const end = new TurnEnd(turn)
  for (const [index, { facts }] of told.entries()) end.note(facts, index)
  return end.at ?? 0
}

type Way = ReadonlyMap<number, JsonObject>

/** The way to the last entry before `end`. */
function upTo(records: readonly JsonObject[], end: number): Way {
  const last = end - 1
  return records[last]?.id === undefined ? allBefore(records, end) : wayTo(records, last)
}

function before(records: readonly JsonObject[], prompt: number): Way {
  if (records[prompt]?.id === undefined) return allBefore(records, prompt)
  const parent = textAt(records[prompt], 'parentId')
  if (parent === undefined) return new Map()
  const at = records.findIndex(({ id }) => id === parent)
  return wayTo(records, at < 0 ? prompt - 1 : at)
}

/** Entries of the first version have no ids: they follow one another. */
const allBefore = (records: readonly JsonObject[], end: number): Way =>
  new Map([...records.entries()].filter(([at, { type }]) => at < end && type !== 'session'))

/** From the root. An entry whose parent is in no line follows the entry before it, so that nothing of what it comes after is lost. */
function wayTo(records: readonly JsonObject[], leaf: number): Way {
  const places = new Map(records.map((entry, index) => [textAt(entry, 'id') ?? '', index]))
  const way: [number, JsonObject][] = []
  for (let at = leaf; at >= 0; ) {
    const entry = records[at] ?? {}
    if (entry.type === 'session') break
    const parent = textAt(entry, 'parentId')
    const known = parent === undefined ? -1 : places.get(parent)
    const above = known ?? at - 1
    const isFirst = records[above]?.type === 'session'
    way.push([
      at,
      known === undefined ? { ...entry, parentId: isFirst ? null : (textAt(records[above], 'id') ?? null) } : entry,
    ])
    if (above >= at) break // no entry follows a later one
    at = above
  }
  return new Map(way.reverse())
}
