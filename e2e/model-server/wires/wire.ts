import { isObject, type JsonObject, listAt, textAt } from '../../../src/tools/json-value.js'
import type { ModelRequest, OfferedTool } from '../request.js'
import type { Reply } from '../script.js'

/** One protocol of model providers: how a request reads and how a reply is written. */
export interface Wire {
  readonly name: string
  matches(path: string): boolean
  read(body: JsonObject, path: string): ModelRequest
  /** The reply as server-sent events. */
  stream(reply: Reply): Iterable<ServerEvent>
  /** The reply as one document. */
  document(reply: Reply): unknown
  error(status: number, message: string): unknown
}

export interface ServerEvent {
  readonly event?: string
  readonly data: unknown
}

/** Content as providers spell it: a text, or a list of parts of which some are text. */
export function textsOf(content: unknown): string[] {
  if (typeof content === 'string') return [content]
  if (!Array.isArray(content)) return []
  return content.flatMap((part) =>
    typeof part === 'string' ? [part] : isObject(part) ? (textAt(part, 'text') ?? []) : [],
  )
}

/** Text that may also be any other JSON. */
export const plain = (value: unknown): string =>
  typeof value === 'string' ? value : Array.isArray(value) ? textsOf(value).join('') : JSON.stringify(value ?? '')

export function parsed(json: string | undefined): unknown {
  try {
    return JSON.parse(json ?? '{}')
  } catch {
    return json
  }
}

export const objectsAt = (from: JsonObject | undefined, key: string): JsonObject[] => listAt(from, key).filter(isObject)

export function offered(name: string | undefined, schema: JsonObject | undefined, isFreeform = false): OfferedTool {
  const properties = schema?.properties
  return { name: name ?? '', parameters: isObject(properties) ? Object.keys(properties) : [], isFreeform }
}

/** Text in the small pieces that a model sends. */
export const pieces = (text: string): string[] => text.match(/.{1,24}/gsu) ?? []
