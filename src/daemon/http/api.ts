import type { ServerResponse } from 'node:http'
import type { Agents, AgentView } from '../../lifecycle/index.js'
import { isEventId, STATUSES, type Status, TROUBLES, type Trouble, WAITS, type Wait } from '../../model/index.js'
import type { Delivery } from '../notices/notifier.js'
import { WAYS, type Way } from '../notices/notify-settings.js'
import type { EventHub } from './event-hub.js'
import { streamEvents } from './event-stream.js'
import type { OperationRoutes } from './operation-routes.js'
import { badRequest, NotFound, type Request } from './server.js'

/** What the API answers from. */
export interface ApiSources {
  readonly agents: Agents
  readonly hub: EventHub
  readonly operations: OperationRoutes
  health(): object
  /** `!2 ▶3` */
  segment(): string
  /** The agent that has waited longest, if any. */
  next(): Promise<AgentView | undefined>
  list(filter: { group?: string; all?: boolean }): Promise<AgentView[]>
  /** Tells something made up in these ways, or in the configured ones. */
  tryNotice(ways: readonly Way[] | undefined): Promise<Delivery[]>
  /** Asks the daemon to end, after this request was answered. */
  stop(): void
  readonly signal: AbortSignal
}

/** Readers of the live stream at a time. */
const MAX_STREAMS = 64

/** Every path under `/v1`; docs/API.md is the promise. */
export class Api {
  #streams = 0

  constructor(private readonly sources: ApiSources) {}

  async answer(request: Request, response: ServerResponse): Promise<object | undefined> {
    const { method, path } = request
    const [version, noun] = path
    if (version !== 'v1' || noun === undefined || path.length > 4) throw new NotFound(`path /${path.join('/')}`)
    if (noun === 'agents') {
      const answer = await this.#ofAgents(request, response)
      if (answer) return answer
    } else if (path.length === 2) {
      const answer = await this.sources.operations.answer(request, response)
      if (answer) return answer
      switch (`${method} ${noun}`) {
        case 'GET health':
          return this.sources.health()
        case 'GET next': {
          const agent = await this.sources.next()
          return agent ? { agent } : {}
        }
        case 'GET events':
          return this.#stream(request, response)
        case 'POST report':
          return this.#report(await request.body())
        case 'POST notify':
          return this.#notify(await request.body())
        case 'POST stop':
          response.on('close', () => this.sources.stop())
          return { stopping: true }
      }
    }
    throw new NotFound(`${method} /${path.join('/')}`)
  }

  async #ofAgents(request: Request, response: ServerResponse): Promise<object | undefined> {
    const [, , reference, verb] = request.path
    if (reference !== undefined && verb !== undefined)
      return this.sources.operations.answerFor(reference, verb, request, response)
    if (request.method !== 'GET') return undefined
    return reference === undefined ? this.#list(request) : (await this.sources.agents.why(reference)).agent
  }

  async #list({ query }: Request): Promise<object> {
    // Asked before the list: whoever follows from this id on may see a change twice, and never misses one.
    const last_event_id = this.sources.hub.last
    const group = query.get('group')
    const list = await this.sources.list({ ...(group === null ? {} : { group }), all: query.get('all') === '1' })
    return { agents: list, statusline: this.sources.segment(), ...(last_event_id ? { last_event_id } : {}) }
  }

  async #report(body: Record<string, unknown>): Promise<object> {
    const agent = textOf(body, 'agent')
    return this.sources.agents.report(agent, {
      status: oneOf<Status>(body, 'status', STATUSES),
      ...(body.reason === undefined ? {} : { reason: textOf(body, 'reason').slice(0, 500) }),
      ...(body.waiting_for === undefined ? {} : { waiting_for: oneOf<Wait>(body, 'waiting_for', WAITS) }),
      ...(body.trouble === undefined ? {} : { trouble: oneOf<Trouble>(body, 'trouble', TROUBLES) }),
    })
  }

  async #notify({ by }: Record<string, unknown>): Promise<object> {
    const ways = by === undefined ? undefined : Array.isArray(by) ? by.map((way) => oneOf({ by: way }, 'by', WAYS)) : []
    return { deliveries: await this.sources.tryNotice(ways) }
  }

  async #stream({ query, lastEventId }: Request, response: ServerResponse): Promise<undefined> {
    const { hub, signal } = this.sources
    if (this.#streams >= MAX_STREAMS) throw badRequest(`${MAX_STREAMS} readers already follow the stream`)
    const after = lastEventId ?? query.get('after') ?? undefined
    if (after !== undefined && !isEventId(after)) throw badRequest('"after" is not the id of an event')
    if (after !== undefined && (await hub.isAhead(after))) {
      throw badRequest(`"after" is ${after}, which is not in this journal yet`, 'Leave it out to follow new events')
    }
    const types = query.get('types')?.split(',').filter(Boolean)
    const named = query.get('agent')
    const agent = named && ((await this.sources.agents.find(named)) ?? named) // one that was removed has events, too
    this.#streams += 1
    try {
      const filter = { ...(types?.length ? { types } : {}), ...(agent ? { agent } : {}) }
      await streamEvents(response, hub, { after: after ?? hub.last, filter, signal })
    } finally {
      this.#streams -= 1
    }
    return undefined
  }
}

function textOf(body: Record<string, unknown>, name: string): string {
  const value = body[name]
  if (typeof value === 'string' && value !== '') return value
  throw badRequest(`"${name}" is missing or not text`)
}

function oneOf<Word extends string>(body: Record<string, unknown>, name: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === body[name])
  if (found !== undefined) return found
  throw badRequest(`"${name}" has an unknown value`, `Use one of ${words.join(', ')}`)
}
