import type { SpooledMessage } from '../../journal/index.js'
import { type Evidence, isSessionId, type Trouble } from '../../model/index.js'
import { isObject, type JsonObject, textAt } from '../json-value.js'
import type { AgentReport } from '../run/tool-runner.js'
import { failedTurn } from '../run/trouble.js'

/** What the extension says. */
export function readPiEvent({ payload }: SpooledMessage): AgentReport | undefined {
  if (!isObject(payload)) return undefined
  const type = textAt(payload, 'type') ?? ''
  const telling = tellingOf(type, payload)
  const session = textAt(payload, 'session')
  if (!telling || !isSessionId(session)) return telling
  const log = textAt(payload, 'log')
  const how = (type === 'session_start' && HOWS[String(payload.reason)]) || 'unchanged'
  return { identity: { session, how, ...(log ? { log } : {}) }, ...telling }
}

/** How a conversation began; the reason of the first one in a process is what that process was started for. */
const HOWS: Readonly<Record<string, 'startup' | 'resume' | 'fork' | 'clear'>> = {
  startup: 'startup',
  new: 'startup',
  resume: 'resume',
  fork: 'fork',
  cleared: 'clear',
}

function tellingOf(type: string, payload: JsonObject): AgentReport | undefined {
  switch (type) {
    case 'session_start':
      return { evidence: { ...says(type, 'idle', 'it has started'), turn: 'none' } }
    case 'input': {
      const prompt = textAt(payload, 'text')
      return prompt && payload.source === 'interactive' ? { prompt } : {}
    }
    case 'agent_start':
      return { evidence: says(type, 'running', 'working') }
    case 'agent_end':
      return endTelling(payload)
    case 'session_compact':
      return {}
    case 'session_shutdown':
      // With the other reasons the same process goes on in another conversation.
      return payload.reason === 'quit' ? { ended: { reason: 'quit' } } : {}
    default:
      return undefined
  }
}

function endTelling(payload: JsonObject): AgentReport {
  const reply = textAt(payload, 'reply')
  if (payload.stopReason === 'error') {
    const { reason, trouble } = failedTurn(textAt(payload, 'error') ?? '')
    if (isFinal(trouble)) return { evidence: { ...says('agent_end', 'error', reason), trouble } }
    return { evidence: says('agent_end', 'running', reason.replace(/^the turn failed/, 'a try failed')) }
  }
  if (payload.stopReason === 'aborted')
    return { evidence: { ...says('agent_end', 'idle', 'it was interrupted'), turn: 'interrupted' } }
  const evidence = { ...says('agent_end', 'idle', 'it has finished its turn'), turn: 'finished' as const }
  return { evidence, ...(reply ? { reply } : {}) }
}

/** Any other error pi may answer by trying again, up to three times, of which it tells nothing: its screen does, and shows the last one. */
const isFinal = (trouble: Trouble): boolean => trouble === 'auth' || trouble === 'model-unavailable'

const says = (event: string, status: Evidence['status'], reason: string): Omit<Evidence, 'at'> => ({
  source: 'hook',
  status,
  reason,
  rule: `hook:${event}`,
})
