import type { ServerResponse } from 'node:http'
import {
  isOperationName,
  loadOperation,
  OPERATION_NAMES,
  type Operation,
  type OperationContext,
  openApi,
  readInput,
  readQuery,
} from '../../operations/index.js'
import type { ToOperation } from './operation-process.js'
import { NotFound, type Request } from './server.js'

/**
 * Every operation under its name: `GET /v1/cost`, `POST /v1/agents.send`. What only reads can be asked for by POST as well: a query has
 * to fit into the head of a request.
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
    const operation: Operation = await loadOperation(name)
    const { now, ...context } = this.context
    const nowMs = now()
    const scope = { nowMs }
    const isRead = request.method === 'GET' && operation.does === 'reads'
    if (!isRead && request.method !== 'POST') throw new NotFound(`${request.method} /v1/${name}`)
    const input = isRead
      ? readQuery(operation, request.query, scope)
      : readInput(operation, await request.body(), scope)
    if (operation.isHeavy) return this.apart({ name, input, nowMs }, request.actor, abandonedBy(response))
    return this.as(request.actor, () =>
      operation.run(input, { ...context, nowMs, abandoned: () => abandonedBy(response) }),
    )
  }

  async #document(): Promise<object> {
    return openApi(await Promise.all(OPERATION_NAMES.map((name) => loadOperation(name))), this.version)
  }
}

/** Aborted when the connection ends before there is an answer. */
function abandonedBy(response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  response.on('close', () => controller.abort())
  if (response.destroyed) controller.abort()
  return controller.signal
}
