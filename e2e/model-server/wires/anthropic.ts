import { objectAt, textAt } from '../../../src/tools/json-value.js'
import type { Reply } from '../script.js'
import { objectsAt, offered, pieces, plain, type ServerEvent, textsOf, type Wire } from './wire.js'

/** Anthropic's Messages API. */
export const anthropic: Wire = {
  name: 'anthropic',
  matches: (path) => path.endsWith('/messages'),
  read: (body) => ({
    wire: 'anthropic',
    model: textAt(body, 'model') ?? '',
    system: textsOf(body.system).join('\n'),
    messages: objectsAt(body, 'messages').map((message) => {
      const parts = typeof message.content === 'string' ? [] : objectsAt(message, 'content')
      const results = parts.filter((part) => part.type === 'tool_result').map((part) => plain(part.content))
      return {
        role: message.role === 'assistant' || message.role === 'user' ? message.role : 'other',
        texts:
          typeof message.content === 'string' ? [message.content] : textsOf(parts.filter((p) => p.type === 'text')),
        calls: parts
          .filter((part) => part.type === 'tool_use')
          .map((part) => ({ name: textAt(part, 'name') ?? '', input: part.input })),
        results,
        images: parts
          .filter((part) => part.type === 'image')
          .map((part) => textAt(objectAt(part, 'source') ?? {}, 'media_type') ?? ''),
      }
    }),
    tools: objectsAt(body, 'tools').map((tool) => offered(textAt(tool, 'name'), objectAt(tool, 'input_schema'))),
    isStream: body.stream === true,
  }),
  *stream(reply) {
    const { content, stop_reason, usage, ...head } = message(reply)
    const started = { ...head, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } }
    yield event({ type: 'message_start', message: started })
    for (const [index, block] of content.entries()) {
      if (block.type === 'text') {
        yield event({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } })
        for (const text of pieces(block.text))
          yield event({ type: 'content_block_delta', index, delta: { type: 'text_delta', text } })
      } else {
        yield event({ type: 'content_block_start', index, content_block: { ...block, input: {} } })
        const partial_json = JSON.stringify(block.input)
        yield event({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json } })
      }
      yield event({ type: 'content_block_stop', index })
    }
    yield event({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage })
    yield event({ type: 'message_stop' })
  },
  document: message,
  error: (status, message) => ({ type: 'error', error: { type: ERRORS[status] ?? 'api_error', message } }),
}

const ERRORS: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  404: 'not_found_error',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

const event = (data: { type: string } & Record<string, unknown>): ServerEvent => ({ event: data.type, data })

type Block = { type: 'text'; text: string } | { type: 'tool_use'; id: string; name: string; input: unknown }

function message({ id, model, text, calls, usage }: Reply) {
  const content: Block[] = [
    ...(text === '' && calls.length > 0 ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ id, name, input }) => ({ type: 'tool_use' as const, id, name, input })),
  ]
  return {
    id: `msg_${id}`,
    type: 'message',
    role: 'assistant',
    model,
    content,
    stop_reason: calls.length > 0 ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: usage.input,
      output_tokens: usage.output,
      cache_read_input_tokens: usage.cacheRead,
      cache_creation_input_tokens: usage.cacheWrite,
    },
  }
}
