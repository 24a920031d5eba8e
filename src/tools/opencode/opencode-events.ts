import type { SpooledMessage } from '../../journal/index.js'
import { type Evidence, instantIfAny, isSessionId, type Wait } from '../../model/index.js'
import { isObject, type JsonObject, listAt, numberAt, objectAt, textAt } from '../json-value.js'
import type { AgentReport, AskedPermission } from '../run/tool-runner.js'
import { failedTurn, troubleOf } from '../run/trouble.js'

/** What the plugin says: opencode's own events, and a few of the plugin's. */
export function readOpencodeEvent({ payload }: SpooledMessage): AgentReport | undefined {
  if (!isObject(payload)) return undefined
  const telling = tellingOf(textAt(payload, 'type') ?? '', payload)
  const session = textAt(payload, 'sessionID')
  if (!telling || !isSessionId(session) || isAsked(payload)) return telling
  const how = HOWS.find((one) => one === payload.how) ?? 'unchanged'
  return { identity: { session, how }, ...telling }
}

const HOWS = ['startup', 'resume', 'clear', 'fork'] as const
/** What is asked may come from a sub-agent, whose conversation is not the agent's. */
const isAsked = ({ type }: JsonObject): boolean => /^(permission|question)\./.test(String(type))

function tellingOf(type: string, payload: JsonObject): AgentReport | undefined {
  switch (type) {
    case 'skein.started': // the screen is drawn a little later: this is no sign of readiness
    case 'session.created':
    case 'session.compacted':
      return {}
    case 'skein.failed':
      return { evidence: says(type, 'error', `it could not open its conversation: ${textAt(payload, 'error') ?? ''}`) }
    case 'chat.message': {
      const prompt = textAt(payload, 'prompt')
      return { evidence: says(type, 'running', 'it received a prompt'), ...(prompt ? { prompt } : {}) }
    }
    case 'session.status':
      return statusTelling(objectAt(payload, 'status'))
    case 'session.idle': {
      if (payload.refused === true)
        return { evidence: { ...says(type, 'idle', 'what it asked for was refused'), turn: 'interrupted' } }
      const reply = textAt(payload, 'reply')
      return {
        evidence: { ...says(type, 'idle', 'it has finished its turn'), turn: 'finished' },
        ...(reply ? { reply } : {}),
      }
    }
    case 'session.error':
      return errorTelling(objectAt(payload, 'error'))
    case 'permission.asked':
      return askedTelling(payload, 'permission')
    case 'question.asked':
      return askedTelling(payload, 'question')
    case 'permission.replied':
    case 'question.replied':
    case 'question.rejected': {
      const settled = textAt(payload, 'requestID')
      return { evidence: says(type, 'running', 'it was answered'), ...(settled ? { settled } : {}) }
    }
    default:
      return undefined
  }
}

/** Idle is reported again by an event of its own, with the reply. */
function statusTelling(status: JsonObject | undefined): AgentReport {
  if (status?.type === 'busy') return { evidence: says('session.status', 'running', 'working') }
  if (status?.type !== 'retry') return {}
  const message = textAt(status, 'message') ?? 'the model did not answer'
  const trouble = troubleOf(message)
  const next = numberAt(status, 'next')
  const at = next === undefined ? undefined : instantIfAny(next)
  const again = trouble === 'usage-limit' && at ? `trying again at ${at}` : 'trying again'
  return { evidence: { ...says('session.status', 'running', `${again}: ${line(message)}`), trouble } }
}

function errorTelling(error: JsonObject | undefined): AgentReport {
  const data = objectAt(error, 'data')
  const message = textAt(data, 'message') ?? textAt(error, 'name') ?? 'no reason given'
  if (error?.name === 'MessageAbortedError')
    return { evidence: { ...says('session.error', 'idle', 'it was interrupted'), turn: 'interrupted' } }
  const known = error?.name === 'ProviderAuthError' ? 'auth' : undefined
  const { reason, trouble } = failedTurn(message, { status: numberAt(data, 'statusCode'), trouble: known })
  return { evidence: { ...says('session.error', 'error', reason), trouble } }
}

function askedTelling(payload: JsonObject, kind: Wait): AgentReport {
  const questions = listAt(payload, 'questions').filter(isObject)
  const patterns = listAt(payload, 'patterns').filter((one) => typeof one === 'string')
  const metadata = objectAt(payload, 'metadata')
  const asked = questions.flatMap((question) => textAt(question, 'question') ?? [])
  const what = textAt(metadata, 'command') ?? textAt(metadata, 'filepath') ?? (asked.join('\n') || patterns.join(', '))
  const tool = textAt(payload, 'permission') ?? 'question'
  const request: AskedPermission = {
    id: textAt(payload, 'id') ?? '',
    tool,
    kind,
    ...(what ? { what } : {}),
    options: kind === 'permission' ? PERMISSION_OPTIONS : optionsOf(questions[0]),
    isTracked: true,
  }
  const reason = kind === 'permission' ? `permission prompt: ${tool}` : 'asks a question'
  return { evidence: { ...says(`${kind}.asked`, 'waiting', reason), waiting_for: kind }, request }
}

/** As its dialog calls them. */
const PERMISSION_OPTIONS: NonNullable<AskedPermission['options']> = [
  { label: 'Allow once', meaning: 'allow' },
  { label: 'Allow always', meaning: 'allow-always' },
  { label: 'Reject', meaning: 'deny' },
]

const optionsOf = (question: JsonObject | undefined): { label: string; meaning: 'other' }[] =>
  listAt(question, 'options')
    .filter(isObject)
    .map((option) => ({ label: textAt(option, 'label') ?? '', meaning: 'other' }))

const line = (text: string): string => text.split('\n', 1)[0]?.slice(0, 200) ?? ''

const says = (event: string, status: Evidence['status'], reason: string): Omit<Evidence, 'at'> => ({
  source: 'hook',
  status,
  reason,
  rule: `hook:${event}`,
})
