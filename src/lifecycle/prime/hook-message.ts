import { isSessionId, readJson, type SessionId, shapes } from '../../model/index.js'
import type { PrimeSource } from '../handoff/marker.js'

/** What a hook's message says, whichever program it comes from. What it does not say, or says wrongly, is absent. */
export interface HookMessage {
  event?: string
  session?: SessionId
  source?: PrimeSource
  cwd?: string
  /** Why a session has ended. */
  reason?: string
  /** Of a compaction: somebody typed it. */
  isByHand?: true
}

const SOURCES: Readonly<Record<string, PrimeSource>> = {
  startup: 'startup',
  fork: 'startup',
  resume: 'resume',
  clear: 'clear',
  compact: 'compact',
}

export const readHookMessage = (text: string): HookMessage => readHookPayload(readJson(text))

export function readHookPayload(value: unknown): HookMessage {
  if (!shapes.isObject(value)) return {}
  const { hook_event_name, session_id, source, cwd, reason, trigger } = value
  const isText = (one: unknown): one is string => typeof one === 'string' && one !== ''
  const from = isText(source) ? SOURCES[source] : undefined
  return {
    ...(isText(hook_event_name) ? { event: hook_event_name } : {}),
    ...(isSessionId(session_id) ? { session: session_id } : {}),
    ...(from ? { source: from } : {}),
    ...(isText(cwd) && shapes.path(cwd) ? { cwd } : {}),
    ...(isText(reason) ? { reason: reason.slice(0, 80) } : {}),
    ...(trigger === 'manual' ? { isByHand: true } : {}),
  }
}

/** Variables in which programs tell their children the session they are in. Skein's own comes last: it is the one a run began with. */
const SESSION_VARIABLES = [
  'CLAUDE_SESSION_ID',
  'CLAUDE_CODE_SESSION_ID',
  'CODEX_SESSION_ID',
  'CODEX_THREAD_ID',
  'GEMINI_SESSION_ID',
  'OPENCODE_SESSION_ID',
  'PI_SESSION_ID',
  'SKEIN_SESSION',
]

/** The session that the environment names. */
export const sessionOfEnvironment = (env: Readonly<Record<string, string | undefined>>): SessionId | undefined =>
  SESSION_VARIABLES.map((name) => env[name]).find((value) => isSessionId(value)) as SessionId | undefined
