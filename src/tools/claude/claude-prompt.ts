import { isObject, type JsonObject, listAt, objectAt, textAt } from '../json-value.js'
import type { PromptBy } from '../log/fact.js'

export interface Prompt {
  kind: 'prompt'
  text: string
  by: PromptBy
}

/** What a line of type `user` is. Most are not a person's words: tool results, commands, notes of the program to itself. */
type UserLine =
  | Prompt
  /** A slash command. It becomes a prompt when the model answers it, and nothing when the program answers itself. */
  | { kind: 'command'; text: string }
  | { kind: 'command-output' }
  | { kind: 'interrupted' }
  | { kind: 'other' }

/** What the program and the editor put beside a person's words. */
const INJECTED = /^<(?:system-reminder|ide_opened_file|ide_selection|ide_diagnostics)>/

const BY_SOURCE: Readonly<Record<string, PromptBy>> = {
  typed: 'person',
  queued: 'queue',
  sdk: 'program',
  system: 'tool',
}

export function readUserLine(record: JsonObject): UserLine {
  const text = textOf(objectAt(record, 'message')?.content)
  if (text.startsWith('[Request interrupted by user')) return { kind: 'interrupted' }
  if (record.isMeta === true || record.isCompactSummary === true || text === '') return { kind: 'other' }
  // 2.1.x marks prompts. Earlier versions do not, so prompts are recognised by exclusion.
  const source = textAt(record, 'promptSource')
  if (source) return { kind: 'prompt', text, by: BY_SOURCE[source] ?? 'person' }
  if (!text.startsWith('<')) return { kind: 'prompt', text, by: record.isSidechain === true ? 'tool' : 'person' }
  if (text.startsWith('<command-name>') || text.startsWith('<command-message>')) {
    return { kind: 'command', text: commandLine(text) }
  }
  if (/^<(?:local-command|bash)-/.test(text)) return { kind: 'command-output' }
  if (/^<(?:task-notification|teammate-message)\b/.test(text)) return { kind: 'prompt', text, by: 'tool' }
  return { kind: 'prompt', text, by: record.isSidechain === true ? 'tool' : 'person' }
}

/** `/compact now` out of the tags it is logged in. */
function commandLine(text: string): string {
  const name = /<command-name>([^<]*)<\/command-name>/.exec(text)?.[1]?.trim() ?? ''
  const args = /<command-args>([\s\S]*?)<\/command-args>/.exec(text)?.[1]?.trim() ?? ''
  return `${name} ${args}`.trim()
}

/** The words of a message. A picture is named, results of tools are not words. */
export function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  if (content.some((block) => isObject(block) && block.type === 'tool_result')) return interruption(content)
  const typed = content.filter((block) => !isObject(block) || !INJECTED.test(textAt(block, 'text') ?? ''))
  return joinText(typed.length > 0 ? typed : content)
}

/** Words that stand beside tool results are the program's; the only ones that matter say that the user stepped in. */
function interruption(content: readonly unknown[]): string {
  const text = joinText(content)
  return text.startsWith('[Request interrupted by user') ? text : ''
}

export function joinText(content: readonly unknown[]): string {
  const parts = content.map((block) => {
    if (!isObject(block)) return ''
    if (block.type === 'image') return '[image]'
    if (block.type === 'document') return '[document]'
    return block.type === 'text' ? (textAt(block, 'text') ?? '') : ''
  })
  return parts.filter((part) => part !== '').join('\n')
}

/** A program that was ended in the middle of a call says so when its conversation is taken up again. */
export const isCutOff = (record: JsonObject): boolean =>
  toolResults(record).some(({ content }) => {
    const text = typeof content === 'string' ? content : Array.isArray(content) ? joinText(content) : ''
    return text.startsWith('[Tool call interrupted: the session ended')
  })

/** What the program itself puts in the place of a reply that never came, when it is resumed. */
export function isFiller(record: JsonObject): boolean {
  const message = objectAt(record, 'message')
  return message?.model === '<synthetic>' && joinText(listAt(message, 'content')) === 'No response requested.'
}

/** The tool results in a line: one as a rule, several when they were sent together. */
export function toolResults(record: JsonObject): JsonObject[] {
  return listAt(objectAt(record, 'message'), 'content').filter(
    (block): block is JsonObject => isObject(block) && block.type === 'tool_result',
  )
}
