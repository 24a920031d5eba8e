import { isObject, type JsonObject, objectAt, textAt } from '../json-value.js'

export interface CalledTool {
  id: string
  name: string
  arguments: unknown
}
export interface ToolAnswer {
  id: string
  name: string | undefined
  text: string
  success: boolean
}

/** What a message in Gemini's form holds: words (thoughts left out), calls of tools, and their results. */
export function partsOf(parts: readonly unknown[]): { text: string; calls: CalledTool[]; results: ToolAnswer[] } {
  const words: string[] = []
  const calls: CalledTool[] = []
  const results: ToolAnswer[] = []
  for (const part of parts) {
    if (!isObject(part)) continue
    const text = textAt(part, 'text')
    if (text && part.thought !== true) words.push(text)
    if (isObject(part.inlineData) || isObject(part.fileData)) words.push('[file]')
    const call = objectAt(part, 'functionCall')
    const id = textAt(call, 'id')
    if (id) calls.push({ id, name: textAt(call, 'name') ?? '(unknown)', arguments: call?.args })
    const response = objectAt(part, 'functionResponse')
    const answered = textAt(response, 'id')
    if (answered)
      results.push({ id: answered, name: textAt(response, 'name'), ...answerOf(objectAt(response, 'response')) })
  }
  return { text: words.join('\n'), calls, results }
}

/** A command that failed is a success to the tool: its exit code is only in the text. */
export function answerOf(response: JsonObject | undefined): { text: string; success: boolean } {
  const error = textAt(response, 'error')
  if (error) return { text: error, success: false }
  const text = textAt(response, 'output') ?? ''
  return { text, success: !/^Exit Code: (?!0$)/m.test(text) }
}
