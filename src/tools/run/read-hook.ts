import type { SpooledMessage } from '../../journal/index.js'
import { isSessionId } from '../../model/index.js'
import { isObject, type JsonObject, textAt } from '../json-value.js'
import type { AgentReport } from './tool-runner.js'

const SOURCES = ['startup', 'resume', 'clear', 'compact', 'fork'] as const

/**
 * What a hook of Claude Code's form says: what `tellingOf` makes of it, and the conversation it comes from, which changes only
 * with a SessionStart (`how` other than `unchanged`).
 */
export function readHook(
  { payload }: SpooledMessage,
  tellingOf: (event: string, payload: JsonObject) => AgentReport | undefined,
): AgentReport | undefined {
  if (!isObject(payload)) return undefined
  const event = textAt(payload, 'hook_event_name') ?? ''
  const telling = tellingOf(event, payload)
  if (!telling) return undefined
  const session = textAt(payload, 'session_id')
  const log = textAt(payload, 'transcript_path')
  const how = event === 'SessionStart' ? (SOURCES.find((one) => one === payload.source) ?? 'unchanged') : 'unchanged'
  return isSessionId(session) ? { identity: { session, how, ...(log ? { log } : {}) }, ...telling } : telling
}
