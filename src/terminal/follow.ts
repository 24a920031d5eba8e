import { setTimeout as sleep } from 'node:timers/promises'
import { type Context, SkeinError } from '../model/index.js'
import { Connection } from './connection.js'
import { RING, readEvent, readPosition, waitForEventAfter } from './event-hooks.js'
import { NUDGE_MS, nudge } from './nudge.js'
import { paneId } from './pane-list.js'
import { KEEPER, type TmuxServer } from './server.js'
import type { PaneEvent } from './terminal.js'

type Happening = PaneEvent extends infer E ? (E extends PaneEvent ? Omit<E, 'number'> : never) : never

const SHORTEST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 500

/**
 * Reads the event bus over a connection of its own, which spends its life in one waiting command. The first event says that
 * listening has begun: `sessions-changed`, or `server-gone`. What is looked up after it cannot have been missed.
 */
export async function* follow(
  server: TmuxServer,
  context: Context,
  timeoutMs: number,
  signal: AbortSignal,
): AsyncGenerator<PaneEvent> {
  await using connection = new Connection(server, context, { timeoutMs, isKept: true })
  let number = 0
  for await (const happening of happenings(connection, signal)) {
    number += 1
    yield { number, ...happening }
  }
}

async function* happenings(connection: Connection, signal: AbortSignal): AsyncGenerator<Happening> {
  let told: 'nothing' | 'there' | 'gone' = 'nothing'
  let life: string | undefined
  let seen = 0
  let pauseMs = SHORTEST_PAUSE_MS
  while (!signal.aborted) {
    let nudging: NodeJS.Timeout | undefined
    try {
      const now = await position(connection)
      if (now.life !== life && told === 'there') {
        // Killed and started again before we noticed.
        told = 'gone'
        yield { type: 'server-gone' }
      }
      if (told !== 'there') yield { type: told === 'gone' ? 'server-back' : 'sessions-changed' }
      if (now.life !== life) seen = now.newest
      life = now.life
      told = 'there'
      nudging = setInterval(nudge, NUDGE_MS, now.pid)
      for (;;) {
        pauseMs = SHORTEST_PAUSE_MS
        await untilAborted(connection.ask(waitForEventAfter(seen), { timeoutMs: Number.POSITIVE_INFINITY }), signal)
        const { newest } = await position(connection)
        yield* await eventsBetween(connection, seen, newest)
        seen = newest
      }
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof SkeinError)) throw error
      // Anything else than gone is not known to be gone: the server may only be slow, or the client was detached.
      if (error.code === 'tmux-gone' && told !== 'gone') {
        told = 'gone'
        yield { type: 'server-gone' }
      }
    } finally {
      clearInterval(nudging)
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => {})
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)
  }
}

/** How far the server has counted, and which life of it counts: a new one begins at nought. */
async function position(connection: Connection): Promise<{ newest: number; pid: number; life: string }> {
  const [text = ''] = await connection.ask(readPosition(), { repeatable: true })
  const [newest, pid, started] = text.split(' ')
  return { newest: Number(newest), pid: Number(pid), life: `${pid} ${started}` }
}

/** Those after `seen` up to `newest`; what has been overwritten meanwhile is reported as missed, once. */
async function eventsBetween(connection: Connection, seen: number, newest: number): Promise<Happening[]> {
  const first = Math.max(seen + 1, newest - RING + 1)
  const numbers = Array.from({ length: newest - first + 1 }, (_, at) => first + at)
  const texts = await Promise.all(numbers.map((event) => connection.ask(readEvent(event), { repeatable: true })))
  const events = texts.map((lines, at) => parseEvent(lines.join('\n'), numbers[at] ?? 0))
  const isWhole = first === seen + 1 && !events.includes(undefined)
  const told = events.filter((event) => event !== undefined && !isOfKeeper(event)) as Happening[]
  return isWhole ? told : [{ type: 'missed' }, ...told]
}

/** Nothing when another event has taken its place. */
function parseEvent(text: string, wanted: number): Happening | undefined {
  const [, number, type, rest = ''] = /^(\d+) ([a-z-]+) ?(.*)$/su.exec(text) ?? []
  if (Number(number) !== wanted) return undefined
  const [, pane, after = ''] = /^(%\d+) ?(.*)$/su.exec(rest) ?? []
  if (type === 'session-closed') return { type, session: rest }
  // The pane went away before its hook ran: what is left to say is that the list has changed.
  if (pane === undefined) return { type: 'sessions-changed' }
  switch (type) {
    case 'died':
      return { type, pane: paneId(pane), ...(after === '' ? {} : { exitStatus: Number(after) }) }
    case 'title':
      return { type, pane: paneId(pane), title: after }
    case 'bell':
      return { type, pane: paneId(pane) }
    default:
      return { type: 'sessions-changed' }
  }
}

const isOfKeeper = (event: Happening): boolean => event.type === 'session-closed' && event.session === KEEPER

function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason)
    signal.addEventListener('abort', abort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
    if (signal.aborted) abort()
  })
}
