import type { ServerResponse } from 'node:http'
import { type Event, type EventId, matchesPattern } from '../../model/index.js'
import type { EventHub, Frame } from './event-hub.js'

/** Silence longer than this makes people, and programs in between, think that the line is dead. */
const HEARTBEAT_MS = 15_000
/** A reader that is this far behind is let go; it comes back with the last id it has seen. */
const MAX_WAITING_BYTES = 1024 * 1024
/** How long a reader may take nothing at all while it is being caught up. */
const STUCK_MS = 20_000

export interface StreamFilter {
  /** Exact types or patterns with `*`. */
  readonly types?: readonly string[]
  readonly agent?: string
}

/**
 * Streams the journal to one reader (server-sent events): first what it has missed, then what happens. Events come in order, each once.
 * Ends when the signal aborts, the reader leaves, or the reader is too slow; then its last message is `reset` with the id to resume from.
 */
export async function streamEvents(
  response: ServerResponse,
  hub: EventHub,
  options: { after: EventId | undefined; filter: StreamFilter; signal: AbortSignal },
): Promise<void> {
  const leaving = new AbortController()
  const leave = (): void => leaving.abort()
  response.on('close', leave)
  options.signal.addEventListener('abort', leave)
  response.writeHead(200, {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  const heartbeat = setInterval(() => response.write(': still here\n\n'), HEARTBEAT_MS)
  try {
    await new Reader(response, hub, options.filter, options.after, leaving.signal).serve()
  } finally {
    clearInterval(heartbeat)
    options.signal.removeEventListener('abort', leave)
    response.off('close', leave)
    if (!response.writableEnded) response.end()
    // A reader that never reads would keep the connection, and what waits in it, for ever.
    setTimeout(() => response.destroy(), STUCK_MS).unref()
  }
}

class Reader {
  #last: EventId | undefined

  constructor(
    private readonly response: ServerResponse,
    private readonly hub: EventHub,
    private readonly filter: StreamFilter,
    after: EventId | undefined,
    private readonly signal: AbortSignal,
  ) {
    this.#last = after
  }

  async serve(): Promise<void> {
    this.response.write(`event: hello\ndata: ${JSON.stringify({ after: this.#last ?? null })}\n\n`)
    for (;;) {
      if (!(await this.#catchUp())) return this.#reset()
      const missed = this.hub.since(this.#last)
      // From here to `listen` nothing waits, so no event can come in between.
      if (missed?.length === 0 || this.signal.aborted) break
      for (const frame of missed ?? []) {
        this.#write(frame)
        if (this.response.writableNeedDrain && !(await this.#drained())) return this.#reset()
      }
    }
    if (!(await this.#live())) this.#reset()
  }

  /** What happens, as it happens. False when the reader fell behind. */
  #live(): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (keptUp: boolean): void => {
        listening[Symbol.dispose]()
        this.signal.removeEventListener('abort', onAbort)
        resolve(keptUp)
      }
      const onAbort = (): void => settle(true)
      const listening = this.hub.listen((frame) => {
        this.#write(frame)
        if (this.response.writableLength > MAX_WAITING_BYTES) settle(false)
      })
      this.signal.addEventListener('abort', onAbort)
      if (this.signal.aborted) settle(true)
    })
  }

  /** From the files, at the reader's own pace, until the hub has the rest. False when the reader takes nothing. */
  async #catchUp(): Promise<boolean> {
    if (this.hub.since(this.#last) !== undefined) return true
    const enough = new AbortController()
    const stop = (): void => enough.abort()
    this.signal.addEventListener('abort', stop)
    try {
      for await (const frame of this.hub.fromJournal(this.#last, enough.signal)) {
        this.#write(frame)
        if (this.response.writableNeedDrain && !(await this.#drained())) return false
        if (this.hub.since(this.#last) !== undefined) break
      }
      return true
    } finally {
      enough.abort()
      this.signal.removeEventListener('abort', stop)
    }
  }

  #drained(): Promise<boolean> {
    return new Promise((resolve) => {
      const settle = (isDrained: boolean): void => {
        clearTimeout(timer)
        this.response.off('drain', onDrain)
        this.signal.removeEventListener('abort', onAbort)
        resolve(isDrained)
      }
      const onDrain = (): void => settle(true)
      const onAbort = (): void => settle(true) // the loop ends by itself
      const timer = setTimeout(() => settle(false), STUCK_MS)
      this.response.on('drain', onDrain)
      this.signal.addEventListener('abort', onAbort)
    })
  }

  #write(frame: Frame): void {
    if (this.#last !== undefined && frame.id <= this.#last) return
    this.#last = frame.id
    if (isWanted(frame.event, this.filter)) this.response.write(frame.text)
  }

  #reset(): void {
    this.response.write(`event: reset\ndata: ${JSON.stringify({ after: this.#last ?? null })}\n\n`)
  }
}

function isWanted(event: Event, { types, agent }: StreamFilter): boolean {
  return (
    (types === undefined || types.some((type) => matchesPattern(event.type, type))) &&
    (agent === undefined || event.agent === agent)
  )
}
