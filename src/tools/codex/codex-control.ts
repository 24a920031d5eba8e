import { join } from 'node:path'
import { SkeinError } from '../../model/index.js'
import { isObject, type JsonObject, objectAt, textAt } from '../json-value.js'
import type { Environment } from '../log/log-tool.js'
import { codexRoots } from './codex-roots.js'
import { UnixWebSocket } from './web-socket.js'

/** Where Codex's shared daemon listens. Agents that we start have no part in it; those started elsewhere do. */
export const codexControlSocket = (environment: Environment): string =>
  join(codexRoots(environment)[0] ?? '', 'app-server-control', 'app-server-control.sock')

const DECISIONS = { allow: 'accept', 'allow-always': 'acceptForSession', deny: 'decline' } as const

/** What can be asked: `item/commandExecution/requestApproval`, `item/fileChange/requestApproval`. */
const APPROVAL = /^item\/\w+\/requestApproval$/

/**
 * Answers what a conversation of the shared daemon asks for, without a key being pressed: to resume it makes the daemon ask
 * again, and the daemon confirms the answer. Throws `nothing-asked` when it asks for nothing, `not-answered` when the daemon
 * cannot be reached or does not confirm.
 */
export async function answerCodex(
  socket: string,
  { session, decision, signal }: { session: string; decision: keyof typeof DECISIONS; signal: AbortSignal },
): Promise<{ receipt: string }> {
  try {
    using connection = await UnixWebSocket.open(socket, signal)
    return await converse(connection, session, decision)
  } catch (error) {
    if (error instanceof SkeinError) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new SkeinError('not-answered', `Codex did not accept the answer: ${why}`, 'Attach and answer it yourself', {
      cause: error,
    })
  }
}

async function converse(
  connection: UnixWebSocket,
  session: string,
  decision: keyof typeof DECISIONS,
): Promise<{ receipt: string }> {
  const say = (message: object): void => connection.send(JSON.stringify({ jsonrpc: '2.0', ...message }))
  say({ id: 1, method: 'initialize', params: { clientInfo: { name: 'skein', title: 'Skein', version: '1' } } })
  let answered: unknown
  for await (const text of connection.messages()) {
    const message: unknown = JSON.parse(text)
    if (!isObject(message)) continue
    const params = objectAt(message, 'params')
    const isOurs = textAt(params, 'threadId') === session
    const method = textAt(message, 'method') ?? ''
    if (message.id === 1 && method === '') {
      refuseError(message)
      say({ method: 'initialized' })
      say({ id: 2, method: 'thread/resume', params: { threadId: session } })
    } else if (message.id === 2 && method === '') {
      refuseError(message)
      if (!isWaiting(objectAt(message, 'result'))) throw nothingAsked(session)
    } else if (APPROVAL.test(method) && isOurs && answered === undefined) {
      answered = message.id
      say({ id: message.id, result: { decision: DECISIONS[decision] } })
    } else if (
      method === 'serverRequest/resolved' &&
      isOurs &&
      answered !== undefined &&
      params?.requestId === answered
    ) {
      return { receipt: `the Codex daemon confirmed request ${String(answered)}` }
    }
  }
  throw new Error('the connection was closed')
}

function refuseError(message: JsonObject): void {
  const error = objectAt(message, 'error')
  if (error) throw new Error(textAt(error, 'message') ?? 'it answered with an error')
}

/** What the daemon says of the conversation that was resumed; a daemon that does not say is taken to wait. */
function isWaiting(result: JsonObject | undefined): boolean {
  const status = objectAt(objectAt(result, 'thread'), 'status')
  const flags = status?.activeFlags
  return !status || (status.type === 'active' && (!Array.isArray(flags) || flags.includes('waitingOnApproval')))
}

const nothingAsked = (session: string): SkeinError =>
  new SkeinError('nothing-asked', `Codex has no pending request in ${session}`, 'See: skein status')
