import type { ServerResponse } from 'node:http'
import type { Agents, AgentView } from '../../lifecycle/index.js'
import {
  isEventId,
  parseInstant,
  STATUSES,
  type Status,
  TROUBLES,
  type Trouble,
  WAITS,
  type Wait,
} from '../../model/index.js'
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
    const [version, noun, reference, verb] = path
    if (version !== 'v1' || noun === undefined || path.length > 4) throw new NotFound(`path /${path.join('/')}`)
    if (noun === 'agents') {
      if (method === 'GET') return this.#look(request, reference, verb)
      if (method === 'POST' && reference && verb) return this.#act(await request.body(), reference, verb)
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

  async #look(request: Request, reference: string | undefined, verb: string | undefined): Promise<object> {
    const { agents, hub } = this.sources
    if (reference === undefined) {
      // Asked before the list: whoever follows from this id on may see a change twice, and never misses one.
      const last_event_id = hub.last
      const group = request.query.get('group')
      const all = request.query.get('all') === '1'
      const list = await this.sources.list({ ...(group === null ? {} : { group }), all })
      return { agents: list, statusline: this.sources.segment(), ...(last_event_id ? { last_event_id } : {}) }
    }
    const explained = await agents.why(reference)
    if (verb === undefined) return explained.agent
    if (verb === 'why') return explained
    throw new NotFound(`/v1/agents/${reference}/${verb}`)
  }

  #act(body: Record<string, unknown>, reference: string, verb: string): Promise<object> {
    const { agents } = this.sources
    switch (verb) {
      case 'ack':
        return agents.ack(reference)
      case 'snooze': {
        const until = parseInstant(textOf(body, 'until'))
        if (!until) throw badRequest('"until" is not a time', 'Write it like 2026-01-17T08:30:00Z')
        return agents.snooze(reference, until)
      }
      case 'send':
        return agents.send(reference, textOf(body, 'text'), { wait: false })
      case 'answer':
        return agents.answer(
          reference,
          answerOf(body),
          body.token === undefined ? {} : { token: textOf(body, 'token') },
        )
      case 'stop':
        return agents.stop(reference)
      case 'kill':
        return agents.kill(reference)
      case 'archive':
        return agents.archive(reference)
      case 'unarchive':
        return agents.unarchive(reference)
      default:
        throw new NotFound(`/v1/agents/${reference}/${verb}`)
    }
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

function answerOf(body: Record<string, unknown>): Parameters<Agents['answer']>[1] {
  if (body.choose !== undefined) return { choose: textOf(body, 'choose') }
  return { decision: oneOf(body, 'decision', ['allow', 'allow-always', 'deny'] as const) }
}
