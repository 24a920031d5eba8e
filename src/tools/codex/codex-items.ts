import { isObject, type JsonObject, listAt, numberAt, objectAt, textAt } from '../json-value.js'

/** The words of a message item. */
export function wordsOf(item: JsonObject): string {
  return listAt(item, 'content')
    .map((part) => (isObject(part) ? (textAt(part, 'text') ?? (/image/.test(String(part.type)) ? '[image]' : '')) : ''))
    .filter((text) => text !== '')
    .join('\n')
}

/**
 * Messages with the role `user` that nobody typed: Codex puts instructions and its surroundings there. Newer versions say so
 * in the metadata, older ones only by how the text begins.
 */
export function isTyped(item: JsonObject, text: string): boolean {
  const kinds = listAt(objectAt(item, 'internal_chat_message_metadata_passthrough'), 'content_item_kinds')
  if (kinds.length > 0) return kinds.some((kind) => typeof kind === 'string' && kind.startsWith('user.'))
  return !/^(?:<(?:environment_context|user_instructions|turn_aborted|skills_instructions|permissions instructions|user_shell_command|INSTRUCTIONS|subagent_notification)\b|# AGENTS\.md instructions)/.test(
    text,
  )
}

/** The result of a tool call, as `function_call_output` and its kin carry it. */
export interface Output {
  text: string
  /** Absent when the text does not say. */
  success?: boolean | undefined
  duration_ms?: number | undefined
}

/** What stands before the output itself: how the run went, for the model to read. */
const PREAMBLE =
  /^(?:(?:Chunk ID|Exit code|Wall time|Process exited with code|Process running with session ID|Original token count|Total output lines)\b.*\n)+Output:\n/

/** A call that its user refused or interrupted; newer versions say first how long it took. */
const ABORTED = /^(?:Wall time: [\d.]+ seconds\n)?aborted(?: by user)?\b[^\n]*$/

export function outputOf(item: JsonObject): Output {
  const output = item.output
  if (isObject(output)) return { text: textAt(output, 'content') ?? '', success: output.success !== false }
  if (Array.isArray(output)) return { text: wordsOf({ content: output }), success: true }
  const text = typeof output === 'string' ? output : ''
  // Before 0.50 the text was itself JSON with an exit code.
  const parsed = text.startsWith('{"output":') ? parsedObject(text) : undefined
  if (parsed) {
    const metadata = objectAt(parsed, 'metadata')
    const seconds = numberAt(metadata, 'duration_seconds')
    return {
      text: textAt(parsed, 'output') ?? '',
      success: (numberAt(metadata, 'exit_code') ?? 0) === 0,
      duration_ms: seconds === undefined ? undefined : Math.round(seconds * 1000),
    }
  }
  const exit = /^(?:Process exited with code|Exit code:) (-?\d+)$/m.exec(text.slice(0, 400))
  const success = exit ? exit[1] === '0' : ABORTED.test(text) ? false : undefined
  return { text: text.replace(PREAMBLE, ''), success }
}

function parsedObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Whether the call that a finished item belongs to worked. Its own duration is of no use: a shell is timed to its first answer. */
export function successOf(item: JsonObject): boolean | undefined {
  const exit = numberAt(item, 'exit_code')
  if (exit !== undefined) return exit === 0
  const status = textAt(item, 'status')
  return status === undefined ? undefined : status === 'completed'
}
