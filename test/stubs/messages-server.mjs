// A stand-in for the Anthropic Messages API on loopback, for tests that run the real Agent SDK. It answers every request
// with the prompts it was sent, so the reply itself proves which history the client remembered.
import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'

const USAGE = { input_tokens: 12, output_tokens: 5, cache_read_input_tokens: 100, cache_creation_input_tokens: 7 }

/** Starts on a free port; `requests` collects the prompts of every main request. */
export async function startMessagesServer() {
  const requests = []
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const path = new URL(request.url, 'http://stub').pathname
    if (path === '/v1/messages/count_tokens') return json(response, 200, { input_tokens: 10 })
    if (path !== '/v1/messages') return json(response, request.method === 'HEAD' ? 200 : 404, {})
    const body = JSON.parse(Buffer.concat(chunks).toString())
    const prompts = promptsOf(body.messages)
    const isMain = (body.tools ?? []).length > 0
    if (isMain) requests.push(prompts)
    const text = isMain ? `heard: ${prompts.join(' | ')}` : '{"title": "A talk"}'
    const message = { id: `msg_${randomUUID()}`, type: 'message', role: 'assistant', model: body.model, usage: USAGE }
    if (body.stream) stream(response, message, text)
    else
      json(response, 200, {
        ...message,
        content: [{ type: 'text', text }],
        stop_reason: 'end_turn',
        stop_sequence: null,
      })
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    requests,
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

/** What people wrote: the texts of user messages, without what the client puts around them. */
const promptsOf = (messages) =>
  messages
    .filter((message) => message.role === 'user')
    .flatMap((message) =>
      typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content,
    )
    .filter((block) => block.type === 'text' && !/^\s*<system-reminder>/.test(block.text))
    .map((block) => block.text.trim())

function json(response, status, value) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}

function stream(response, message, text) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (event) => response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  send({ type: 'message_start', message: { ...message, content: [], stop_reason: null, stop_sequence: null } })
  send({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
  send({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })
  send({ type: 'content_block_stop', index: 0 })
  send({ type: 'message_delta', delta: { stop_reason: 'end_turn', stop_sequence: null }, usage: USAGE })
  send({ type: 'message_stop' })
  response.end()
}
