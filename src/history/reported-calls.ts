import { FactFilter } from '../archive/index.js'
import type { Event } from '../model/index.js'
import type { Policy } from '../privacy/index.js'
import { emptyTurn, type LoggedSession, type LoggedToolCall, type LoggedTurn } from '../tools/index.js'

/** A tool call that a hook reported while its session ran. */
export interface ReportedCall {
  /** As the log will name it: by this the log's own record of the call replaces it. */
  readonly id: string
  readonly name: string
  readonly arguments: Record<string, unknown>
  readonly result?: string
  readonly success?: boolean
}

export const CALLED = 'tool_called'

/** What may be kept of a call: no secrets, and arguments and result as the policy allows. */
export function keptCall({ id, name, result, success, arguments: given }: ReportedCall, policy: Policy): ReportedCall {
  const filter = new FactFilter({ policy, isOfSubAgent: false, toolOf: () => undefined })
  const place = { agent: '', turn: 0 }
  const call = filter.kept({ kind: 'tool-call', ...place, call: id, name, arguments: given })
  const told = result === undefined ? undefined : filter.kept({ kind: 'tool-result', ...place, call: id, result })
  return {
    id,
    name: call?.kind === 'tool-call' ? call.name : '',
    arguments: call?.kind === 'tool-call' ? call.arguments : {},
    ...(told?.kind === 'tool-result' ? { result: told.result } : {}),
    ...(success === undefined ? {} : { success }),
  }
}

/** What may be kept of a prompt. */
export function keptPrompt(prompt: string, policy: Policy): string {
  const filter = new FactFilter({ policy, isOfSubAgent: false, toolOf: () => undefined })
  const fact = filter.kept({ kind: 'turn', agent: '', turn: 1, prompt, by: 'person', follows: 0 })
  return fact?.kind === 'turn' ? fact.prompt : ''
}

/** The session with the calls that hooks reported and its log does not have: all of them where there is no log. They are before its first turn. */
export function withReported<Told extends LoggedSession>(told: Told, events: readonly Event[]): Told {
  const known = new Set([...told.turns, ...told.sub_agents, ...(told.before ? [told.before] : [])].flatMap(idsIn))
  const calls = events.flatMap((event) => {
    const call = callOf(event)
    if (!call || known.has(call.id)) return []
    known.add(call.id)
    return [call]
  })
  if (calls.length === 0) return told
  const begun = calls[0]?.started_at
  const before = told.before ?? { ...emptyTurn(0, 'person'), ...(begun ? { started_at: begun } : {}) }
  return { ...told, before: { ...before, tool_calls: [...before.tool_calls, ...calls] } }
}

const idsIn = ({ tool_calls }: LoggedTurn): string[] =>
  tool_calls.flatMap(({ id, sub_agent }) => [id, ...(sub_agent ?? []).flatMap(idsIn)])

function callOf({ payload, ts }: Event): LoggedToolCall | undefined {
  const { call, tool, arguments: given, result, success } = payload
  if (typeof call !== 'string' || typeof tool !== 'string') return undefined
  return {
    id: call,
    name: tool,
    arguments: typeof given === 'object' && given !== null ? (given as Record<string, unknown>) : {},
    ...(typeof result === 'string' ? { result } : {}),
    ...(typeof success === 'boolean' ? { success } : {}),
    started_at: ts,
  }
}
