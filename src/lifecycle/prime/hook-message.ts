import { isSessionId, readJson, type SessionId, shapes } from '../../model/index.js'
import type { PrimeSource } from '../handoff/marker.js'

/** What a hook's message says, whichever program it comes from. What it does not say, or says wrongly, is absent. */
export interface HookMessage {
  event?: string
  session?: SessionId
  source?: PrimeSource
  cwd?: string
  log?: string
}

const SOURCES: Readonly<Record<string, PrimeSource>> = {
  startup: 'startup',
  fork: 'startup',
  resume: 'resume',
  clear: 'clear',
  compact: 'compact',
}

export function readHookMessage(text: string): HookMessage {
  const value = readJson(text)
  if (!shapes.isObject(value)) return {}
  const { hook_event_name, session_id, source, cwd, transcript_path } = value
  const isText = (one: unknown): one is string => typeof one === 'string' && one !== ''
  const from = isText(source) ? SOURCES[source] : undefined
  return {
    ...(isText(hook_event_name) ? { event: hook_event_name } : {}),
    ...(isSessionId(session_id) ? { session: session_id } : {}),
    ...(from ? { source: from } : {}),
    ...(isText(cwd) && shapes.path(cwd) ? { cwd } : {}),
    ...(isText(transcript_path) && shapes.path(transcript_path) ? { log: transcript_path } : {}),
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
