import { createHash } from 'node:crypto'

/** A request to the model, whichever of the four protocols it came by. */
export interface ModelRequest {
  readonly wire: string
  readonly model: string
  readonly system: string
  readonly messages: readonly Message[]
  readonly tools: readonly OfferedTool[]
  readonly isStream: boolean
  /** The reply must be JSON of this shape: programs ask so for titles and checks of their own. */
  readonly schema?: unknown
}

export interface Message {
  readonly role: 'user' | 'assistant' | 'tool' | 'other'
  /** The texts of the message as its client split them: reminders and context are texts of their own. */
  readonly texts: readonly string[]
  readonly calls: readonly { readonly name: string; readonly input: unknown }[]
  readonly results: readonly string[]
  /** The media types of its images, where the protocol's reader looks for them. */
  readonly images?: readonly string[]
}

export interface OfferedTool {
  readonly name: string
  readonly parameters: readonly string[]
  /** Takes free text instead of JSON (Codex's apply_patch). */
  readonly isFreeform: boolean
}

/** What programs put around and before the words of a person. */
const CONTEXT =
  /<(environment_context|session_context|user_instructions|system-reminder|hook_context|recommended_plugins|skills_instructions|permissions instructions)>[\s\S]*?<\/\1>/g

/** The words of a person in a message, or an empty text. */
function promptOf(message: Message): string {
  if (message.role !== 'user') return ''
  const words = message.texts.map((text) => text.replace(CONTEXT, '').trim()).filter((text) => text !== '')
  return words.at(-1) ?? ''
}

/** Every prompt in the history, oldest first: what the model remembers of the conversation. */
export const promptsOf = (request: ModelRequest): string[] =>
  request.messages.map(promptOf).filter((text) => text !== '')

/** Where in the script a request stands: its last prompt, and how many rounds of tool calls came after it. */
export function positionOf(request: ModelRequest): { prompt: string; round: number; results: readonly string[] } {
  const at = request.messages.findLastIndex((message) => promptOf(message) !== '')
  const after = request.messages.slice(at + 1)
  const message = request.messages[at]
  return {
    prompt: message ? promptOf(message) : '',
    round: after.filter((one, index) => one.calls.length > 0 && !after[index - 1]?.calls.length).length,
    results: after.flatMap((one) => one.results),
  }
}

/** Everything that the model is given to read. */
export const textOf = ({ system, messages }: ModelRequest): string =>
  [system, ...messages.flatMap(({ texts }) => texts)].join('\n\n')

/** One line per piece of each message, short enough to print and with a hash of the whole: what the model was really sent. */
export function digestOf(request: ModelRequest): string[] {
  const line = (role: string, text: string): string => {
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 8)
    return `${role} ${hash}: ${text.replaceAll('\n', '\\n').slice(0, 120)}`
  }
  return request.messages.flatMap(({ role, texts, calls, results, images = [] }) => [
    ...texts.map((text) => line(role, text)),
    ...images.map((type) => line(`${role} image`, type)),
    ...calls.map((call) => line(`${role} calls`, `${call.name} ${JSON.stringify(call.input)}`)),
    ...results.map((result) => line('result', result)),
  ])
}

/** Each piece of each message in full, in order. */
export const saidIn = ({ messages }: ModelRequest): string[] =>
  messages.flatMap(({ texts, calls, results }) => [
    ...texts,
    ...calls.map(({ name, input }) => `${name} ${JSON.stringify(input)}`),
    ...results,
  ])
