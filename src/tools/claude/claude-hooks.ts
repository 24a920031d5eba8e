import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import type { SpooledMessage } from '../../journal/index.js'
import type { Evidence, Trouble, Wait } from '../../model/index.js'
import { isObject, type JsonObject, listAt, objectAt, textAt } from '../json-value.js'
import { readHook } from '../run/read-hook.js'
import type { AgentReport, AskedPermission } from '../run/tool-runner.js'
import { failedTurn } from '../run/trouble.js'

/**
 * The hooks that a run is given: few, for each costs the agent some milliseconds. Not asked for: PreToolUse (the registry and
 * PermissionRequest tell what it would), SubagentStart and -Stop (Stop lists what goes on in the background), PreCompact and
 * PostCompact (the registry tells, and Claude Code prints the command of each on its screen).
 */
export const CLAUDE_HOOKS = [
  'SessionStart',
  'UserPromptSubmit',
  'PermissionRequest',
  'PostToolUse',
  'PostToolUseFailure',
  'Notification',
  'Stop',
  'StopFailure',
  'SessionEnd',
] as const

/**
 * What a hook says. Who it speaks for is for the caller to check: a message counts when it names this run and its process is
 * the run's own. (A `claude -p` that the agent starts is not given these hooks, but inherits the environment.) Every
 * telling carries the conversation it comes from; it changes only with a SessionStart (`how` other than `unchanged`).
 */
export const readClaudeHook = (message: SpooledMessage): AgentReport | undefined => readHook(message, tellingOf)

function tellingOf(event: string, payload: JsonObject): AgentReport | undefined {
  switch (event) {
    case 'SessionStart':
      // In the middle of a turn after a compaction, else at the prompt.
      return payload.source === 'compact' ? {} : { evidence: aside('SessionStart', 'idle', 'it has started') }
    case 'UserPromptSubmit':
      return promptTelling(payload)
    case 'PermissionRequest':
      return requestTelling(payload)
    case 'PostToolUse':
    case 'PostToolUseFailure':
      return {
        evidence: says(event, 'running', `after ${textAt(payload, 'tool_name') ?? 'a tool'}`),
        settled: requestId(payload),
      }
    case 'Notification':
      return notificationTelling(payload)
    // Of runs that an earlier version of Skein began.
    case 'PreCompact':
      return { evidence: aside(event, 'running', 'compacting the conversation') }
    case 'PostCompact':
      // By hand it ends at the prompt, without a Stop; by itself the turn goes on.
      return { evidence: aside(event, payload.trigger === 'manual' ? 'idle' : 'running', 'compacted') }
    case 'Stop':
      return stopTelling(payload)
    case 'StopFailure':
      return failureTelling(payload)
    case 'SessionEnd': {
      const reason = textAt(payload, 'reason') ?? 'other'
      // After these two the same process goes on in another conversation.
      return reason === 'clear' || reason === 'resume' ? { leaves: reason } : { ended: { reason } }
    }
    default:
      return undefined
  }
}

/** A finished background task is handed in as a prompt; no one typed it. */
function promptTelling(payload: JsonObject): AgentReport {
  const prompt = textAt(payload, 'prompt')
  const isTyped = prompt !== undefined && !prompt.startsWith('<task-notification>')
  return {
    evidence: says('UserPromptSubmit', 'running', isTyped ? 'it received a prompt' : 'a background task has ended'),
    ...(isTyped ? { prompt } : {}),
  }
}

function requestTelling(payload: JsonObject): AgentReport {
  const tool = textAt(payload, 'tool_name') ?? 'a tool'
  const kind = waitOf(tool)
  const request: AskedPermission = {
    id: requestId(payload),
    tool,
    kind,
    ...subjectOf(tool, objectAt(payload, 'tool_input')),
  }
  const asks =
    kind === 'permission'
      ? `permission prompt: ${tool}`
      : kind === 'plan'
        ? 'asks to approve a plan'
        : 'asks a question'
  return { evidence: { ...says('PermissionRequest', 'waiting', asks), waiting_for: kind }, request }
}

const waitOf = (tool: string): Wait =>
  tool === 'AskUserQuestion' ? 'question' : tool === 'ExitPlanMode' ? 'plan' : 'permission'

type Subject = Pick<AskedPermission, 'what' | 'exactly' | 'shows' | 'options'>

/** What is asked for, and what of it its dialog shows. */
function subjectOf(tool: string, input: JsonObject | undefined): Subject {
  if (tool.startsWith('mcp__')) return argumentSubject(input)
  const command = textAt(input, 'command')
  if (command) return { what: command, exactly: command }
  const looked = textAt(input, 'url') ?? textAt(input, 'query')
  if (looked) return { what: looked, shows: [textAt(input, 'url') ? `url: ${looked}\nprompt:` : looked] }
  const path = textAt(input, 'file_path') ?? textAt(input, 'notebook_path')
  if (path) {
    const change = textAt(input, 'new_string') ?? textAt(input, 'content') ?? textAt(input, 'new_source')
    return { what: path, shows: [basename(path), ...firstLine(change)] }
  }
  const questions = listAt(input, 'questions').filter(isObject)
  if (questions.length > 0) return questionSubject(questions)
  const plan = textAt(input, 'plan')
  if (plan) return { what: plan, shows: firstLine(withoutMarks(plan)) }
  const rest = textAt(input, 'description')
  return rest ? { what: rest } : {}
}

/** Its dialog has a line for each argument. Of longer ones it may show less, and of those that are no text something else. */
function argumentSubject(input: JsonObject = {}): Subject {
  const lines = Object.entries(input).map(([name, value]) => ({ text: `${name}: ${JSON.stringify(value)}`, value }))
  const shows = lines.flatMap(({ text, value }) => (typeof value === 'string' ? firstLine(text) : []))
  return { ...(lines.length > 0 ? { what: lines.map(({ text }) => text).join('\n') } : {}), shows }
}

/** They are asked one after the other, each in a dialog of its own: the first one is what the request shows. */
function questionSubject(questions: readonly JsonObject[]): Subject {
  const asked = questions.flatMap((question) => textAt(question, 'question') ?? [])
  const options = listAt(questions[0], 'options').filter(isObject)
  return {
    what: asked.join('\n'),
    shows: asked.slice(0, 1),
    options: options.map((option) => ({ label: textAt(option, 'label') ?? '', meaning: 'other' })),
  }
}

/** The first line that shows something; a longer one may be cut. */
const firstLine = (text: string | undefined): string[] =>
  (text ?? '')
    .split('\n')
    .filter((line) => line.trim() !== '' && line.length < 80)
    .slice(0, 1)

/** A plan is shown as its Markdown reads. */
const withoutMarks = (text: string): string => text.replace(/^[\s#>*-]+/gm, '').replace(/[*`_]/g, '')

/** A request has no id of its own until it is granted: the same tool with the same input in the same turn is the same request. */
function requestId(payload: JsonObject): string {
  const { answers: _answers, annotations: _annotations, ...input } = objectAt(payload, 'tool_input') ?? {}
  const asked = JSON.stringify([payload.prompt_id, payload.agent_id, payload.tool_name, input])
  return createHash('sha256').update(asked).digest('hex').slice(0, 16)
}

/** It comes six seconds late and does not tell a question from a permission: without `waiting_for`, what was known stays. */
function notificationTelling(payload: JsonObject): AgentReport {
  const message = textAt(payload, 'message') ?? ''
  switch (payload.notification_type) {
    case 'idle_prompt':
      return { evidence: aside('Notification', 'idle', 'it waits for input') }
    case 'permission_prompt': {
      const evidence = says('Notification', 'waiting', message)
      return { evidence: /\bplan\b/.test(message) ? { ...evidence, waiting_for: 'plan' } : evidence }
    }
    case 'elicitation_dialog':
      return { evidence: { ...says('Notification', 'waiting', message), waiting_for: 'question' } }
    default:
      return {}
  }
}

/** The turn is over; the agent is not while something it started goes on and will wake it. */
function stopTelling(payload: JsonObject): AgentReport {
  const tasks = listAt(payload, 'background_tasks')
  const crons = listAt(payload, 'session_crons')
  const reply = textAt(payload, 'last_assistant_message')
  const background = tasks.length + crons.length
  const first = tasks.find(isObject)
  const name = textAt(first, 'description') ?? textAt(first, 'command')
  const what =
    tasks.length > 0
      ? `${counted(tasks.length, 'background task')} still running`
      : `${counted(crons.length, 'scheduled prompt')} pending`
  return {
    evidence:
      background > 0
        ? says('Stop', 'running', name && tasks.length > 0 ? `${what}: ${name.slice(0, 80)}` : what)
        : { ...says('Stop', 'idle', 'it has finished its turn'), turn: 'finished' },
    background,
    ...(reply ? { reply } : {}),
  }
}

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`

function failureTelling(payload: JsonObject): AgentReport {
  const error = String(payload.error ?? '')
  const message = textAt(payload, 'last_assistant_message') ?? error
  const { reason, trouble } = failedTurn(message, { trouble: TROUBLE_OF[error] })
  return { evidence: { ...says('StopFailure', 'error', reason), trouble } }
}

/** Where the program has a word for the error. */
const TROUBLE_OF: Readonly<Record<string, Trouble>> = {
  authentication_failed: 'auth',
  oauth_org_not_allowed: 'auth',
  billing_error: 'usage-limit',
  rate_limit: 'usage-limit',
  model_not_found: 'model-unavailable',
}

const says = (event: string, status: Evidence['status'], reason: string): Omit<Evidence, 'at'> => ({
  source: 'hook',
  status,
  reason,
  rule: `hook:${event}`,
})

/** No turn begins or ends here. */
const aside = (event: string, status: Evidence['status'], reason: string): Omit<Evidence, 'at'> => ({
  ...says(event, status, reason),
  turn: 'none',
})
