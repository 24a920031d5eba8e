import { request } from 'node:http'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { EventHub } from '../../src/daemon/http/event-hub.js'
import { streamEvents } from '../../src/daemon/http/event-stream.js'
import { ApiServer } from '../../src/daemon/http/server.js'
import type { Home } from '../../src/home/index.js'
import { type EventId, isEventId } from '../../src/model/index.js'
import { openTestHome, scratch } from '../home/scratch.js'

interface Message {
  id?: string
  event: string
  data: unknown
}

/** A daemon's stream over a real socket, from a real journal. */
async function serving(): Promise<{ home: Home; socket: string; hub: EventHub }> {
  const root = scratch()
  const { home } = await openTestHome(root)
  await home.events.append({ type: 'boot' })
  const ending = new AbortController()
  const { hub, running } = await EventHub.open(home, ending.signal)
  const server = new ApiServer(
    async ({ query }, response) => {
      const after = query.get('after')
      const types = query.get('types')
      await streamEvents(response, hub, {
        after: isEventId(after) ? after : hub.last,
        filter: types ? { types: [types] } : {},
        signal: ending.signal,
      })
      return undefined
    },
    (error) => {
      throw error
    },
  )
  const socket = join(root, 's')
  await server.listen(socket)
  onTestFinished(async () => {
    ending.abort()
    await running
    await server[Symbol.asyncDispose]()
    await home[Symbol.asyncDispose]()
  })
  return { home, socket, hub }
}

/** Reads messages until `enough` says so, then hangs up without a word. */
function listen(socket: string, path: string, enough: (messages: readonly Message[]) => boolean): Promise<Message[]> {
  return new Promise((resolve, reject) => {
    const messages: Message[] = []
    const asked = request({ socketPath: socket, path, agent: false }, (response) => {
      let rest = ''
      response.setEncoding('utf8')
      response.on('error', () => resolve(messages))
      response.on('end', () => resolve(messages))
      response.on('data', (chunk: string) => {
        const frames = (rest + chunk).split('\n\n')
        rest = frames.pop() ?? ''
        for (const frame of frames) {
          if (frame.startsWith(':') || enough(messages)) continue
          const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(frame)?.[1]
          const id = field('id')
          messages.push({ event: field('event') ?? '', data: JSON.parse(field('data') ?? ''), ...(id ? { id } : {}) })
        }
        if (!enough(messages)) return
        asked.destroy()
        resolve(messages)
      })
    })
    asked.on('error', (error) => (messages.length > 0 ? resolve(messages) : reject(error)))
    asked.end()
  })
}

const idsOf = (messages: readonly Message[]): string[] => messages.flatMap(({ id }) => id ?? [])

describe('the live stream', () => {
  it('tells nothing that was purged since it was told, and loses nothing else', async () => {
    const { home, socket } = await serving()
    for (const body of ['the Wombat-4242 sleeps', 'an otter'])
      await home.events.append({ type: 'mail', payload: { body } })
    const before = '00000000-0000-7000-8000-000000000000'
    const bodies = async (): Promise<unknown[]> => {
      const isEnough = (messages: readonly Message[]): boolean =>
        messages.filter(({ event }) => event === 'mail').length === 2
      const messages = await listen(socket, `/?after=${before}`, isEnough)
      return messages.flatMap(({ event, data }) =>
        event === 'mail' ? [(data as { payload: { body: string } }).payload.body] : [],
      )
    }
    expect(await bodies()).toEqual(['the Wombat-4242 sleeps', 'an otter'])
    await home.privacy.purge({ secret: 'Wombat-4242' })
    expect(await bodies()).toEqual(['the [PURGED] sleeps', 'an otter'])
  })

  it('begins now when nobody says otherwise, and tells what happens from then on', async () => {
    const { home, socket } = await serving()
    const heard = listen(socket, '/', (messages) => idsOf(messages).length === 2)
    await new Promise((resolve) => setTimeout(resolve, 100))
    const sent = [await home.events.append({ type: 'mail' }), await home.events.append({ type: 'nudge' })]
    expect((await heard).map(({ event }) => event)).toEqual(['hello', 'mail', 'nudge'])
    expect(idsOf(await heard)).toEqual(sent.map(({ id }) => id))
  })

  it('joined over any number of disconnections is the journal: nothing twice, nothing left out, all in order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 0, max: 40 }),
        async (stretches, early) => {
          const { home, socket } = await serving()
          const [first] = await home.events.read()
          for (let at = 0; at < early; at += 1) await home.events.append({ type: 'mail' })
          const total = early + stretches.reduce((sum, length) => sum + length, 0)
          const writing = (async () => {
            for (let at = early; at < total; at += 1) await home.events.append({ type: 'mail', payload: { at } })
          })()
          let after = first?.id as string
          const joined: string[] = []
          for (const length of stretches) {
            const left = total - joined.length
            const take = Math.min(length, left)
            const heard = idsOf(await listen(socket, `/?after=${after}`, (all) => idsOf(all).length >= take))
            joined.push(...heard)
            after = heard.at(-1) ?? after
          }
          const rest = total - joined.length
          if (rest > 0)
            joined.push(...idsOf(await listen(socket, `/?after=${after}`, (all) => idsOf(all).length >= rest)))
          await writing
          expect(joined).toEqual((await home.events.read()).slice(1).map(({ id }) => id))
        },
      ),
      { numRuns: 12 },
    )
  })

  it('reads from the journal what lies further back than it remembers', async () => {
    const { home, socket } = await serving()
    await Promise.all(Array.from({ length: 2_500 }, (_, at) => home.events.append({ type: 'nudge', payload: { at } })))
    const all = (await home.events.read()).map(({ id }) => id)
    const start = '00000000-0000-7000-8000-000000000000' as EventId
    expect(idsOf(await listen(socket, `/?after=${start}`, (heard) => idsOf(heard).length >= 2_501))).toEqual(all)
  })

  it('remembers by bytes, too, and tells large events all the same', async () => {
    const { home, socket, hub } = await serving()
    const first = hub.last as EventId
    for (let n = 0; n < 24; n += 1)
      await home.events.append({ type: 'large', payload: { n, text: 'x'.repeat(500_000) } })
    const told = await listen(socket, `/?after=${first}`, (messages) => messages.length > 24)
    expect(told.slice(1).map(({ data }) => (data as { payload: { n: number } }).payload.n)).toEqual(
      Array.from({ length: 24 }, (_, n) => n),
    )
    expect(hub.since(first)).toBeUndefined()
    const ids = told.slice(1).map(({ id }) => id as EventId)
    const nearest = ids.findLastIndex((id) => hub.since(id) === undefined)
    const atHand = hub.since(ids[nearest + 1]) ?? []
    expect(atHand.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(4 * 1024 * 1024)
  })

  it('keeps its place over events that a reader does not want', async () => {
    const { home, socket } = await serving()
    const [first] = await home.events.read()
    for (const type of ['mail', 'nudge', 'mail', 'nudge']) await home.events.append({ type })
    const heard = await listen(socket, `/?after=${first?.id}&types=mail`, (all) => idsOf(all).length === 2)
    expect(heard.slice(1).map(({ event }) => event)).toEqual(['mail', 'mail'])
  })

  it('lets a reader go that does not read, and tells it where to go on', async () => {
    const { home, socket } = await serving()
    const [first] = await home.events.read()
    const reset = await new Promise<string>((resolve, reject) => {
      const asked = request({ socketPath: socket, path: '/', agent: false }, (response) => {
        response.pause()
        const big = 'x'.repeat(60_000)
        const flood = async (): Promise<void> => {
          const other = listen(socket, `/?after=${first?.id}`, (all) => idsOf(all).length >= 60)
          for (let at = 0; at < 60; at += 1) await home.events.append({ type: 'mail', payload: { big } })
          await other // who reads has heard it all, so this one was told as much as it gets
        }
        flood().then(() => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
          response.on('end', () => resolve(text)).resume()
        }, reject)
      })
      asked.on('error', reject)
      asked.end()
    })
    const told = [...reset.matchAll(/^id: (.+)$/gm)].map(([, id]) => id)
    const after = /event: reset\ndata: {"after":"(.+?)"}/.exec(reset)?.[1]
    expect(after).toBe(told.at(-1))
    const all = (await home.events.read()).map(({ id }) => id as string)
    const rest = all.length - 1 - told.length
    expect(rest).toBeGreaterThan(0)
    const resumed = idsOf(await listen(socket, `/?after=${after}`, (heard) => idsOf(heard).length >= rest))
    expect([...told, ...resumed]).toEqual(all.slice(1))
  })
})
