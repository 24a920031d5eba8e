import { type JsonObject, objectAt, textAt } from '../../../src/tools/json-value.js'
import type { Message } from '../request.js'
import type { Reply } from '../script.js'
import { objectsAt, offered, parsed, pieces, plain, textsOf, type Wire } from './wire.js'

/** OpenAI's Responses API. */
export const responses: Wire = {
  name: 'responses',
  matches: (path) => path.endsWith('/responses'),
  read: (body) => ({
    wire: 'responses',
    model: textAt(body, 'model') ?? '',
    system: textAt(body, 'instructions') ?? '',
    messages:
      typeof body.input === 'string'
        ? [{ role: 'user', texts: [body.input], calls: [], results: [] }]
        : objectsAt(body, 'input').map(readItem),
    tools: objectsAt(body, 'tools').map((tool) =>
      offered(textAt(tool, 'name') ?? textAt(tool, 'type'), objectAt(tool, 'parameters'), tool.type === 'custom'),
    ),
    isStream: body.stream !== false,
    schema: objectAt(objectAt(body, 'text'), 'format')?.schema,
  }),
  *stream(reply) {
    let sequence_number = 0
    const event = (type: string, more: object) => ({
      event: type,
      data: { type, sequence_number: sequence_number++, ...more },
    })
    yield event('response.created', { response: envelope(reply, 'in_progress') })
    for (const [output_index, item] of items(reply).entries()) {
      const at = { item_id: item.id, output_index }
      if (item.type === 'message') {
        yield event('response.output_item.added', {
          output_index,
          item: { ...item, status: 'in_progress', content: [] },
        })
        const part = { ...at, content_index: 0 }
        const empty = { type: 'output_text', text: '', annotations: [] }
        yield event('response.content_part.added', { ...part, part: empty })
        for (const delta of pieces(reply.text)) yield event('response.output_text.delta', { ...part, delta })
        yield event('response.output_text.done', { ...part, text: reply.text })
        yield event('response.content_part.done', { ...part, part: { ...empty, text: reply.text } })
      } else yield event('response.output_item.added', { output_index, item })
      yield event('response.output_item.done', { output_index, item })
    }
    yield event('response.completed', { response: envelope(reply, 'completed') })
  },
  document: (reply) => envelope(reply, 'completed'),
  error: (_status, message) => ({ error: { message, type: 'server_error', code: null } }),
}

function readItem(item: JsonObject): Message {
  const type = textAt(item, 'type') ?? 'message'
  if (type === 'message') {
    const role = item.role === 'assistant' || item.role === 'user' ? item.role : 'other'
    return { role, texts: textsOf(item.content), calls: [], results: [] }
  }
  if (type.endsWith('_call_output')) return { role: 'tool', texts: [], calls: [], results: [plain(item.output)] }
  if (type.endsWith('_call')) {
    const input = 'arguments' in item ? parsed(textAt(item, 'arguments')) : item.input
    return { role: 'assistant', texts: [], calls: [{ name: textAt(item, 'name') ?? type, input }], results: [] }
  }
  return { role: 'other', texts: [type], calls: [], results: [] }
}

const items = ({ id, text, calls }: Reply) => [
  ...(text === ''
    ? []
    : [
        {
          type: 'message',
          id: `msg_${id}`,
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text, annotations: [] }],
        },
      ]),
  ...calls.map((call) =>
    call.isFreeform
      ? { type: 'custom_tool_call', id: `ctc_${call.id}`, call_id: call.id, name: call.name, input: call.input }
      : {
          type: 'function_call',
          id: `fc_${call.id}`,
          call_id: call.id,
          name: call.name,
          arguments: JSON.stringify(call.input),
          status: 'completed',
        },
  ),
]

function envelope(reply: Reply, status: 'in_progress' | 'completed') {
  const { input, output, cacheRead, reasoning } = reply.usage
  const usage = {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  }
  const isDone = status === 'completed'
  return {
    id: `resp_${reply.id}`,
    object: 'response',
    created_at: 1_700_000_000,
    status,
    model: reply.model,
    output: isDone ? items(reply) : [],
    usage: isDone ? usage : null,
  }
}
