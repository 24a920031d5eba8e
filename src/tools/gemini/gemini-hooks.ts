import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { followed } from '../../disk/index.js'
import type { SpooledMessage } from '../../journal/index.js'
import { type Evidence, isSessionId, type Wait } from '../../model/index.js'
import { isObject, type JsonObject, listAt, objectAt, textAt } from '../json-value.js'
import type { AgentReport, AskedPermission } from '../run/tool-runner.js'

/**
 * The hooks that a run is given: few, for the program waits for each. Those around the model run for every piece of a reply, and
 * SessionEnd makes it print what it does, on the screen that its user has back.
 */
export const GEMINI_HOOKS = ['SessionStart', 'BeforeAgent', 'Notification', 'AfterTool', 'AfterAgent'] as const

/** What a hook says. */
export function readGeminiHook({ payload }: SpooledMessage): AgentReport | undefined {
  if (!isObject(payload)) return undefined
  const event = textAt(payload, 'hook_event_name') ?? ''
  const telling = tellingOf(event, payload)
  const session = textAt(payload, 'session_id')
  if (!telling || !isSessionId(session)) return telling
  const log = textAt(payload, 'transcript_path')
  const how =
    event === 'SessionStart'
      ? (SOURCES.find((one) => one === payload.source) ?? 'unchanged')
      : event === 'BeforeAgent' && isOwnLog(log)
        ? 'prompted' // nothing else says that a conversation was chosen in its list (/resume)
        : 'unchanged'
  return { identity: { session, how, ...(log ? { log: withoutLinks(log) } : {}) }, ...telling }
}

/** Logs of sub-agents are in a folder of their own. */
const isOwnLog = (log: string | undefined): boolean => log !== undefined && basename(dirname(log)) === 'chats'

const SOURCES = ['startup', 'resume', 'clear'] as const
/** The placeholder for a missing reply. */
const NO_REPLY = '[no response text]'

/** A run's home is made of links: where the log really is, is where all others look for it. It may not be there yet. */
function withoutLinks(path: string): string {
  try {
    return followed(path)
  } catch {
    const folder = dirname(path)
    return folder === path ? path : join(withoutLinks(folder), basename(path))
  }
}

function tellingOf(event: string, payload: JsonObject): AgentReport | undefined {
  switch (event) {
    case 'SessionStart':
      return { evidence: { ...says(event, 'idle', 'it has started'), turn: 'none' } }
    case 'BeforeAgent': {
      const prompt = textAt(payload, 'prompt')
      return { evidence: says(event, 'running', 'it received a prompt'), ...(prompt ? { prompt } : {}) }
    }
    case 'Notification':
      return payload.notification_type === 'ToolPermission' ? askedTelling(payload) : {}
    case 'AfterTool':
      return {
        evidence: says(event, 'running', `after ${textAt(payload, 'tool_name') ?? 'a tool'}`),
        settled: requestId(payload, objectAt(payload, 'tool_input')),
      }
    case 'AfterAgent':
      // Its text repeats pieces of the reply: the log has it right. Without one, the turn failed or was cancelled, which its screen tells.
      return payload.prompt_response === NO_REPLY
        ? { evidence: { ...says(event, 'idle', 'its turn has ended'), turn: 'none' } }
        : { evidence: { ...says(event, 'idle', 'it has finished its turn'), turn: 'finished' } }
    default:
      return undefined
  }
}

/** The kinds of its confirmations, and the tool that each is for. */
const ASKED: Readonly<Record<string, { tool: string; kind: Wait }>> = {
  exec: { tool: 'run_shell_command', kind: 'permission' },
  edit: { tool: 'write_file', kind: 'permission' },
  info: { tool: 'web_fetch', kind: 'permission' },
  mcp: { tool: 'an MCP tool', kind: 'permission' },
  ask_user: { tool: 'ask_user', kind: 'question' },
  exit_plan_mode: { tool: 'exit_plan_mode', kind: 'plan' },
}

function askedTelling(payload: JsonObject): AgentReport {
  const details = objectAt(payload, 'details')
  const { tool, kind } = ASKED[String(details?.type)] ?? { tool: 'a tool', kind: 'permission' }
  const request: AskedPermission = { id: requestId(payload, details), tool, kind, ...subjectOf(details) }
  const reason =
    kind === 'permission'
      ? `permission prompt: ${tool}`
      : kind === 'plan'
        ? 'asks to approve a plan'
        : 'asks a question'
  return { evidence: { ...says('Notification', 'waiting', reason), waiting_for: kind }, request }
}

function subjectOf(details: JsonObject | undefined): Pick<AskedPermission, 'what' | 'exactly' | 'shows'> {
  const command = textAt(details, 'command')
  if (command) return { what: command, exactly: command }
  const file = textAt(details, 'filePath') ?? textAt(details, 'fileName')
  if (file) return { what: file, shows: [basename(file)] }
  const questions = listAt(details, 'questions')
    .filter(isObject)
    .flatMap((question) => textAt(question, 'question') ?? [])
  if (questions.length > 0) return { what: questions.join('\n'), shows: questions.slice(0, 1) }
  const what = textAt(details, 'prompt') ?? textAt(details, 'toolDisplayName') ?? textAt(details, 'title')
  return what ? { what } : {}
}

/** A request has no id; it and the call that it was for have the conversation and the command or file in common. */
function requestId(payload: JsonObject, subject: JsonObject | undefined): string {
  const dialog = [payload.tool_name, subject?.type].find((name) => name === 'ask_user' || name === 'exit_plan_mode')
  if (dialog) return `${String(payload.session_id)}/${dialog}`
  const path = textAt(subject, 'file_path') ?? textAt(subject, 'fileName')
  const what = textAt(subject, 'command') ?? (path && basename(path)) ?? textAt(subject, 'title') ?? ''
  return createHash('sha256')
    .update(JSON.stringify([payload.session_id, what]))
    .digest('hex')
    .slice(0, 16)
}

const says = (event: string, status: Evidence['status'], reason: string): Omit<Evidence, 'at'> => ({
  source: 'hook',
  status,
  reason,
  rule: `hook:${event}`,
})
