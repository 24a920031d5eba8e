import { expect, it } from 'vitest'
import { Journal, pruneSegment, tail } from '../../src/journal/index.js'
import { type Event, type EventId, type Instant, instantOf, nextEventId } from '../../src/model/index.js'
import { scratch } from '../home/scratch.js'

const NOW = Date.UTC(2026, 0, 17)
let last: EventId | undefined
function mail(n: number): Event {
  last = nextEventId(last, NOW, new Uint8Array(10))
  return {
    id: last,
    ts: instantOf(NOW) as Instant,
    type: 'mail',
    actor: 'a',
    payload: { n },
    visibility: 'both',
    host: 'h',
  }
}

it('a follower sees every event once, through sealing and pruning', async () => {
  const directory = scratch()
  using writer = new Journal(directory)
  using reader = new Journal(directory)
  const stop = new AbortController()
  const seen: number[] = []
  const following = (async () => {
    for await (const event of tail(reader, {}, stop.signal)) {
      seen.push(event.payload.n as number)
      if (seen.length % 7 === 0) await new Promise((resolve) => setTimeout(resolve, 3)) // it may fall behind
    }
  })()
  for (let n = 0; n < 200; n += 1) {
    writer.append([mail(n)], { durable: false, nowMs: NOW })
    if (n % 20 === 19) writer.seal()
    if (n % 50 === 49) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      // Only what the follower has passed may go, or it could not be expected to see it.
      const passed = new Set(seen)
      for (const segment of writer.segments().slice(0, -1)) {
        pruneSegment(writer, segment, (event) => passed.has(event.payload.n as number), { dryRun: false })
      }
    }
  }
  while (seen.length < 200) await new Promise((resolve) => setTimeout(resolve, 10))
  stop.abort()
  await following
  expect(seen).toEqual(Array.from({ length: 200 }, (_, n) => n))
})

it('a follower of a journal that does not exist yet sees its first event', async () => {
  const directory = `${scratch()}/events`
  using writer = new Journal(directory)
  const stop = new AbortController()
  const first = tail(new Journal(directory), {}, stop.signal).next()
  await new Promise((resolve) => setTimeout(resolve, 30))
  writer.append([mail(1)], { durable: false, nowMs: NOW })
  expect((await first).value.payload).toEqual({ n: 1 })
  stop.abort()
})

it('following ends when it is told to, also while nothing happens', async () => {
  const stop = new AbortController()
  using journal = new Journal(scratch())
  const ended = tail(journal, {}, stop.signal).next()
  stop.abort()
  expect(await ended).toEqual({ done: true, value: undefined })
})

it('the active segment is never pruned', () => {
  using journal = new Journal(scratch())
  journal.append([mail(1)], { durable: false, nowMs: NOW })
  expect(() => pruneSegment(journal, 1, () => true, { dryRun: false })).toThrow('active')
})
