import type { ServerResponse } from 'node:http'
import {
  isOperationName,
  loadOperation,
  OPERATION_NAMES,
  type Operation,
  type OperationContext,
  type OperationName,
  openApi,
  readInput,
  readQuery,
} from '../../operations/index.js'
import { isPartMissing } from '../program-guard.js'
import type { ToOperation } from './operation-process.js'
import { NotFound, type Request } from './server.js'

/**
 * Every operation under its name: `GET /v1/cost`, `POST /v1/agents.send`. What only reads can be asked for by POST as well: a query has
 * to fit into the head of a request. An operation on one agent has a second path, with the agent in it: `POST /v1/agents/<agent>/send`.
 */
export class OperationRoutes {
  constructor(
    private readonly context: Omit<OperationContext, 'nowMs' | 'abandoned'> & { now(): number },
    private readonly version: string,
    /** Runs an operation in another process. */
    private readonly apart: (asked: ToOperation, actor: string | undefined, abandoned: AbortSignal) => Promise<object>,
    /** Runs something as done by this actor. */
    private readonly as: <T>(actor: string | undefined, work: () => Promise<T>) => Promise<T>,
  ) {}

  /** Undefined when the path names no operation. */
  async answer(request: Request, response: ServerResponse): Promise<object | undefined> {
    const [, name = ''] = request.path
    if (name === 'openapi.json' && request.method === 'GET') return this.#document()
    if (!isOperationName(name)) return undefined
    return this.#run(await loaded(name), {}, request, response)
  }

  /** Undefined when there is no such operation on an agent. */
  async answerFor(
    agent: string,
    verb: string,
    request: Request,
    response: ServerResponse,
  ): Promise<object | undefined> {
    const name = `agents.${verb}`
    if (!isOperationName(name)) return undefined
    const operation: Operation = await loaded(name)
    if ('agent' in operation.input) return this.#run(operation, { agent }, request, response)
    if (!('agents' in operation.input)) return undefined
    const answer = await this.#run(operation, { agents: [agent] }, request, response)
    return onlyReceipt(answer) ?? answer
  }

  async #run(operation: Operation, named: object, request: Request, response: ServerResponse): Promise<object> {
    const { name } = operation
    const { now, ...context } = this.context
    const nowMs = now()
    const scope = { nowMs }
    const isRead = request.method === 'GET' && operation.does === 'reads'
    if (!isRead && request.method !== 'POST') throw new NotFound(`${request.method} /${request.path.join('/')}`)
    const input = isRead
      ? readQuery(operation, withNamed(request.query, named), scope)
      : readInput(operation, { ...(await request.body()), ...named }, scope)
    if (operation.isHeavy) return this.apart({ name, input, nowMs }, request.actor, abandonedBy(response))
    return this.as(request.actor, () =>
      operation.run(input, { ...context, nowMs, abandoned: () => abandonedBy(response) }),
    )
  }

  async #document(): Promise<object> {
    return openApi(await Promise.all(OPERATION_NAMES.map((name) => loadOperation(name))), this.version)
  }
}

/** What cannot be loaded any more is an operation that this daemon does not have: its caller does it itself. */
async function loaded(name: OperationName): Promise<Operation> {
  try {
    return await loadOperation(name)
  } catch (error) {
    if (!isPartMissing(error)) throw error
    throw new NotFound(`${name} in this daemon any more: its program was replaced, and it restarts within seconds`)
  }
}

function withNamed(query: URLSearchParams, named: object): URLSearchParams {
  const all = new URLSearchParams(query)
  for (const [name, value] of Object.entries(named)) all.set(name, String(value))
  return all
}

/** Whoever names one agent in the path wants its receipt, not a list of one. */
function onlyReceipt(answer: object): object | undefined {
  return 'receipts' in answer && Array.isArray(answer.receipts) ? answer.receipts[0] : undefined
}

/** Aborted when the connection ends before there is an answer. */
function abandonedBy(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  response.on('close', () => controller.abort())
  if (response.destroyed) controller.abort()
  return controller.signal
}
