import { createHash } from 'node:crypto'
import { closeSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { openGuarded } from '../../disk/index.js'
import type { SpooledMessage } from '../../journal/index.js'
import type { Evidence } from '../../model/index.js'
import { type JsonObject, objectAt, textAt } from '../json-value.js'
import { readHook } from '../run/read-hook.js'
import type { AgentReport, AskedPermission } from '../run/tool-runner.js'

/** The hooks that a run is given. Codex has none for a failed or interrupted turn: its title and screen tell those. */
export const CODEX_HOOKS = [
  'SessionStart',
  'UserPromptSubmit',
  'PermissionRequest',
  'PostToolUse',
  'PreCompact',
  'PostCompact',
  'Stop',
  'SessionEnd',
] as const

/** The first line of a log says what kind of thread it is, before its instructions. */
const HEAD_BYTES = 16 * 1024

/** What a hook says; the payloads are like Claude Code's. SessionStart comes with the first prompt, not with the start. */
export function readCodexHook(message: SpooledMessage): AgentReport | undefined {
  const telling = readHook(message, tellingOf)
  const log = telling?.identity?.log
  // A sub-agent is a thread in the same process, whose conversation is not the agent's.
  return log && telling.identity?.how === 'startup' && isSubAgent(log) ? {} : telling
}

function isSubAgent(log: string): boolean {
  const [first = ''] = headOf(log).split('\n', 1)
  return /"thread_source"\s*:\s*"subagent"|"source"\s*:\s*\{\s*"subagent"/i.test(first)
}

/** Empty when there is no log yet. */
function headOf(path: string): string {
  try {
    const file = openGuarded(path)
    try {
      const bytes = Buffer.alloc(HEAD_BYTES)
      return bytes.toString('utf8', 0, readSync(file, bytes, 0, HEAD_BYTES, 0))
    } finally {
      closeSync(file)
    }
  } catch {
    return ''
  }
}

function tellingOf(event: string, payload: JsonObject): AgentReport | undefined {
  switch (event) {
    case 'SessionStart':
      return {} // the prompt that comes with it says more
    case 'UserPromptSubmit': {
      const prompt = textAt(payload, 'prompt')
      return { evidence: says(event, 'running', 'it received a prompt'), ...(prompt ? { prompt } : {}) }
    }
    case 'PermissionRequest':
      return requestTelling(payload)
    case 'PostToolUse':
      return {
        evidence: says(event, 'running', `after ${textAt(payload, 'tool_name') ?? 'a tool'}`),
        settled: requestId(payload),
      }
    case 'PreCompact':
      return { evidence: { ...says(event, 'running', 'compacting the conversation'), ...ASIDE } }
    case 'PostCompact':
      // By hand, a compaction is a turn of its own that ends here; by itself it is in the middle of one.
      return { evidence: { ...says(event, payload.trigger === 'manual' ? 'idle' : 'running', 'compacted'), ...ASIDE } }
    case 'Stop': {
      const reply = textAt(payload, 'last_assistant_message')
      const evidence = { ...says(event, 'idle', 'it has finished its turn'), turn: 'finished' as const }
      return { evidence, background: 0, ...(reply ? { reply } : {}) }
    }
    case 'SessionEnd':
      return { ended: { reason: textAt(payload, 'reason') ?? 'other' } }
    default:
      return undefined
  }
}

function requestTelling(payload: JsonObject): AgentReport {
  const tool = textAt(payload, 'tool_name') ?? 'a tool'
  const input = objectAt(payload, 'tool_input')
  return {
    evidence: { ...says('PermissionRequest', 'waiting', `permission prompt: ${tool}`), waiting_for: 'permission' },
    request: { id: requestId(payload), tool, kind: 'permission', ...subjectOf(input) },
  }
}

/** The command, or of a patch the files that it changes. */
function subjectOf(input: JsonObject | undefined): Pick<AskedPermission, 'what' | 'exactly' | 'shows'> {
  const command = textAt(input, 'command')
  const patched = [...(command ?? '').matchAll(/^\*\*\* (?:Add|Update|Delete) File: (.+)$/gm)]
  const files = patched.flatMap(([, file]) => file ?? [])
  if (files.length > 0) return { what: files.join(', '), shows: files.slice(0, 1).map((file) => basename(file)) }
  if (command) return { what: command, exactly: command }
  const rest = textAt(input, 'description')
  return rest ? { what: rest } : {}
}

/** The request has no id: what the two hooks have in common is the turn, the tool and the command. */
function requestId(payload: JsonObject): string {
  const command = objectAt(payload, 'tool_input')?.command
  const asked = JSON.stringify([payload.turn_id, payload.tool_name, command])
  return createHash('sha256').update(asked).digest('hex').slice(0, 16)
}

/** No turn begins or ends here. */
const ASIDE = { turn: 'none' } as const

const says = (event: string, status: Evidence['status'], reason: string): Omit<Evidence, 'at'> => ({
  source: 'hook',
  status,
  reason,
  rule: `hook:${event}`,
})
