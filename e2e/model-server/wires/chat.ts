import { type JsonObject, objectAt, textAt } from '../../../src/tools/json-value.js'
import type { Message } from '../request.js'
import type { Reply } from '../script.js'
import { objectsAt, offered, parsed, pieces, plain, textsOf, type Wire } from './wire.js'

/** OpenAI's Chat Completions API, which most providers speak. */
export const chat: Wire = {
  name: 'chat',
  matches: (path) => path.endsWith('/chat/completions'),
  read: (body) => ({
    wire: 'chat',
    model: textAt(body, 'model') ?? '',
    system: objectsAt(body, 'messages')
      .filter(isSystem)
      .map((message) => textsOf(message.content).join(''))
      .join('\n'),
    messages: objectsAt(body, 'messages')
      .filter((message) => !isSystem(message))
      .map(readMessage),
    tools: objectsAt(body, 'tools')
      .map((tool) => objectAt(tool, 'function'))
      .map((tool) => offered(textAt(tool, 'name'), objectAt(tool, 'parameters'))),
    isStream: body.stream === true,
    schema: objectAt(objectAt(body, 'response_format'), 'json_schema')?.schema,
  }),
  *stream(reply) {
    const chunk = (more: object) => ({ data: { ...head(reply), object: 'chat.completion.chunk', ...more } })
    const delta = (delta: object, finish_reason: string | null = null) =>
      chunk({ choices: [{ index: 0, delta, finish_reason }] })
    yield delta({ role: 'assistant', content: '' })
    for (const content of pieces(reply.text)) yield delta({ content })
    if (reply.calls.length > 0) yield delta({ tool_calls: toolCalls(reply) })
    yield delta({}, finish(reply))
    yield chunk({ choices: [], usage: usage(reply) })
    yield { data: '[DONE]' }
  },
  document: (reply) => ({
    ...head(reply),
    object: 'chat.completion',
    usage: usage(reply),
    choices: [
      {
        index: 0,
        finish_reason: finish(reply),
        message: {
          role: 'assistant',
          content: reply.text,
          ...(reply.calls.length > 0 ? { tool_calls: toolCalls(reply) } : {}),
        },
      },
    ],
  }),
  error: (_status, message) => ({ error: { message, type: 'server_error', code: null } }),
}

const isSystem = (message: JsonObject): boolean => message.role === 'system' || message.role === 'developer'

function readMessage(message: JsonObject): Message {
  if (message.role === 'tool') return { role: 'tool', texts: [], calls: [], results: [plain(message.content)] }
  return {
    role: message.role === 'assistant' ? 'assistant' : 'user',
    texts: textsOf(message.content),
    calls: objectsAt(message, 'tool_calls')
      .map((call) => objectAt(call, 'function'))
      .map((call) => ({ name: textAt(call, 'name') ?? '', input: parsed(textAt(call, 'arguments')) })),
    results: [],
  }
}

const head = ({ id, model }: Reply) => ({ id: `chatcmpl-${id}`, created: 1_700_000_000, model })
const finish = ({ calls }: Reply): string => (calls.length > 0 ? 'tool_calls' : 'stop')
const toolCalls = ({ calls }: Reply) =>
  calls.map(({ id, name, input }, index) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
const usage = ({ usage: { input, output, cacheRead, reasoning } }: Reply) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
  prompt_tokens_details: { cached_tokens: cacheRead },
  completion_tokens_details: { reasoning_tokens: reasoning },
})
