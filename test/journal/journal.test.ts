import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Journal } from '../../src/journal/index.js'
import { DAY_MS, type Event, type EventId, type Instant, instantOf, nextEventId } from '../../src/model/index.js'
import { scratch } from '../home/scratch.js'
import { anyHistory } from '../model/history.js'

const NOW = Date.UTC(2026, 0, 17)
const options = { durable: false, nowMs: NOW }

let last: EventId | undefined
function mail(payload: Record<string, unknown> = {}, ms = NOW): Event {
  last = nextEventId(last, ms, new Uint8Array(10).fill(3))
  return { id: last, ts: instantOf(ms) as Instant, type: 'mail', actor: 'a', payload, visibility: 'both', host: 'h' }
}

function readAll(journal: Journal): { events: Event[]; unreadable: number; repeated: number } {
  const all = { events: [] as Event[], unreadable: 0, repeated: 0 }
  for (const batch of journal.read()) {
    all.events.push(...batch.events)
    all.unreadable += batch.unreadable
    all.repeated += batch.repeated
  }
  return all
}

describe('the journal', () => {
  it('gives back what was written, also when it was cut at any byte', () =>
    fc.assert(
      fc.property(anyHistory(12), fc.nat(), (events, cut) => {
        const directory = mkdtempSync(join(tmpdir(), 'skein-journal-'))
        try {
          using journal = new Journal(directory)
          if (events.length === 0) return
          journal.append(events, options)
          expect(readAll(journal).events).toEqual(events)
          const path = journal.path(1)
          const size = cut % (statSync(path).size + 1)
          truncateSync(path, size)
          const left = readFileSync(path)
          const whole = left.toString().split('\n').length - 1
          expect(readAll(journal).events).toEqual(events.slice(0, whole))
          // The next append starts on a fresh line, and what was torn never becomes an event.
          const more = { ...mail(), id: nextEventId(events.at(-1)?.id, NOW + 40 * DAY_MS, new Uint8Array(10)) }
          journal.append([more], options)
          const after = readAll(journal)
          expect(after.events).toEqual([...events.slice(0, whole), more])
          expect(after.unreadable).toBe(left.length > 0 && left.at(-1) !== 10 ? 1 : 0)
        } finally {
          rmSync(directory, { recursive: true, force: true })
        }
      }),
      { numRuns: 200 },
    ))

  it('never takes a torn line for an event, even when only its newline is missing', () => {
    using journal = new Journal(scratch())
    const [torn, next] = [mail({ n: 1 }), mail({ n: 2 })]
    journal.append([torn], options)
    truncateSync(journal.path(1), statSync(journal.path(1)).size - 1)
    journal.append([next], options)
    expect(readAll(journal)).toEqual({ events: [next], unreadable: 1, repeated: 0 })
  })

  it('counts lines that are no events and reads on behind them', () => {
    using journal = new Journal(scratch())
    const [first, second] = [mail(), mail()]
    journal.append([first], options)
    appendFileSync(journal.path(1), 'garbage\n{"id":1}\n[]\nnull\n\0\0\0\0\n\n{"id":"x"\n')
    appendFileSync(journal.path(1), Buffer.from([0xff, 0xfe, 0x0a]))
    journal.append([second], options)
    expect(readAll(journal)).toEqual({ events: [first, second], unreadable: 7, repeated: 0 })
  })

  it('takes an event once, however often its line was copied', () => {
    using journal = new Journal(scratch())
    const events = [mail(), mail()]
    journal.append(events, options)
    appendFileSync(journal.path(1), readFileSync(journal.path(1)))
    expect(readAll(journal)).toEqual({ events, unreadable: 0, repeated: 2 })
  })

  it.each([2, 3, 8])('a damaged id that leaps over the next %i events hides none of them', (over) => {
    using journal = new Journal(scratch())
    const events = Array.from({ length: 20 }, () => mail())
    journal.append(events, options)
    const [damaged, last] = [events[4], events[4 + over]] as [Event, Event]
    // One above the last that it leaps over.
    const raised = last.id.slice(0, -12) + (BigInt(`0x${last.id.slice(-12)}`) + 1n).toString(16).padStart(12, '0')
    writeFileSync(journal.path(1), readFileSync(journal.path(1), 'utf8').replace(damaged.id, raised))
    expect(readAll(journal).events).toEqual(events.filter((event) => event !== damaged))
  })

  it('keeps a payload of any size, in a blob when it does not fit a line', () => {
    const directory = scratch()
    using journal = new Journal(directory)
    const large = mail({ body: 'ü'.repeat(200_000), list: [1, 2, 3] })
    journal.append([large, mail()], options)
    expect(statSync(journal.path(1)).size).toBeLessThan(2_000)
    expect(readdirSync(join(directory, 'blobs'))).toHaveLength(1)
    expect(readAll(journal).events[0]).toEqual(large)
    // A blob that was changed is not believed.
    const [name = ''] = readdirSync(join(directory, 'blobs'))
    writeFileSync(join(directory, 'blobs', name), '{"body":"other"}')
    expect(readAll(journal)).toMatchObject({ unreadable: 1 })
  })

  it('skips a line of many megabytes that is no event', () => {
    using journal = new Journal(scratch())
    const [first, second] = [mail(), mail()]
    journal.append([first], options)
    appendFileSync(journal.path(1), `${'x'.repeat(40 * 1024 * 1024)}\n`)
    journal.append([second], options)
    expect(readAll(journal)).toEqual({ events: [first, second], unreadable: 1, repeated: 0 })
  })

  it('begins a new segment when the active one is a day old, and reads across', () => {
    using journal = new Journal(scratch())
    const [early, late] = [mail(), mail({}, NOW + DAY_MS + 1)]
    journal.append([early], options)
    journal.append([late], { durable: true, nowMs: NOW + DAY_MS + 1 })
    expect(journal.segments()).toEqual([1, 2])
    expect(readAll(journal).events).toEqual([early, late])
  })

  it('begins a new segment when the active one is full', () => {
    using journal = new Journal(scratch())
    const fat = { body: 'x'.repeat(60_000) }
    for (let n = 0; n < 150; n += 1) journal.append([mail(fat)], options)
    expect(journal.segments()).toEqual([1, 2])
    expect(readAll(journal).events).toHaveLength(150)
  })

  it('goes on in the segment that another process has begun', () => {
    const directory = scratch()
    using one = new Journal(directory)
    using other = new Journal(directory)
    const events = [mail(), mail(), mail()]
    one.append([events[0] as Event], options)
    other.seal()
    other.append([events[1] as Event], options)
    one.append([events[2] as Event], options)
    expect(one.segments()).toEqual([1, 2])
    expect(readAll(one).events).toEqual(events)
  })

  it('reads on from a position, and from the ids when that segment has been rewritten since', () => {
    using journal = new Journal(scratch())
    const [a, b, c] = [mail(), mail(), mail()]
    const position = journal.append([a, b], options)
    journal.append([c], options)
    const rest = (from: Parameters<Journal['read']>[0]): Event[] =>
      [...journal.read(from)].flatMap((batch) => batch.events)
    expect(rest({ position, after: b.id })).toEqual([c])
    journal.seal()
    writeFileSync(journal.path(1), readFileSync(journal.path(1), 'utf8').split('\n').slice(1).join('\n'))
    expect(rest({ position, after: b.id })).toEqual([c])
    expect(rest({ position: { segment: 1, offset: 999_999 }, after: b.id })).toEqual([c])
  })

  it('writes files that only their owner can read', () => {
    const directory = join(scratch(), 'events')
    mkdirSync(join(directory, '..'), { recursive: true })
    using journal = new Journal(directory)
    journal.append([mail({ body: 'x'.repeat(100_000) })], options)
    const modes = [
      directory,
      journal.path(1),
      join(directory, 'blobs'),
      join(directory, 'blobs', readdirSync(join(directory, 'blobs'))[0] ?? ''),
    ]
    expect(modes.map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600, 0o700, 0o600])
  })
})
