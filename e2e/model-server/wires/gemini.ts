import { objectAt, textAt } from '../../../src/tools/json-value.js'
import type { Reply } from '../script.js'
import { objectsAt, offered, pieces, textsOf, type Wire } from './wire.js'

/** Google's generateContent, whole and streamed. */
export const gemini: Wire = {
  name: 'gemini',
  matches: (path) => /:(?:stream)?generateContent$/i.test(path),
  read: (body, path) => {
    const config = objectAt(body, 'generationConfig')
    const isJson = config?.responseMimeType === 'application/json'
    return {
      wire: 'gemini',
      model: /models\/([^:]+):/.exec(path)?.[1] ?? '',
      system: textsOf(objectAt(body, 'systemInstruction')?.parts).join('\n'),
      messages: objectsAt(body, 'contents').map((content) => {
        const parts = objectsAt(content, 'parts').filter((part) => part.thought !== true)
        const results = parts
          .map((part) => objectAt(part, 'functionResponse'))
          .flatMap((result) => (result ? [JSON.stringify(result.response)] : []))
        return {
          role: content.role === 'model' ? 'assistant' : results.length > 0 ? 'tool' : 'user',
          texts: textsOf(parts),
          calls: parts
            .map((part) => objectAt(part, 'functionCall'))
            .flatMap((call) => (call ? [{ name: textAt(call, 'name') ?? '', input: call.args }] : [])),
          results,
        }
      }),
      tools: objectsAt(body, 'tools')
        .flatMap((tool) => objectsAt(tool, 'functionDeclarations'))
        .map((tool) =>
          offered(textAt(tool, 'name'), objectAt(tool, 'parametersJsonSchema') ?? objectAt(tool, 'parameters')),
        ),
      isStream: /:streamGenerateContent$/.test(path),
      ...(isJson ? { schema: config?.responseJsonSchema ?? config?.responseSchema ?? {} } : {}),
    }
  },
  *stream(reply) {
    for (const text of pieces(reply.text)) yield { data: chunk(reply, [{ text }]) }
    yield { data: last(reply, reply.calls.length > 0 ? callParts(reply) : [{ text: '' }]) }
  },
  document: (reply) => last(reply, [{ text: reply.text }, ...callParts(reply)]),
  error: (code, message) => ({ error: { code, message, status: code === 429 ? 'RESOURCE_EXHAUSTED' : 'INTERNAL' } }),
}

const callParts = ({ calls }: Reply) =>
  calls.map(({ id, name, input }) => ({ functionCall: { id, name, args: input } }))

const chunk = ({ id, model }: Reply, parts: readonly object[]) => ({
  candidates: [{ index: 0, content: { role: 'model', parts } }],
  modelVersion: model,
  responseId: id,
})

function last(reply: Reply, parts: readonly object[]) {
  const { input, output, cacheRead, reasoning } = reply.usage
  return {
    ...chunk(reply, parts),
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: {
      promptTokenCount: input,
      candidatesTokenCount: output,
      totalTokenCount: input + output + reasoning,
      thoughtsTokenCount: reasoning,
      cachedContentTokenCount: cacheRead,
    },
  }
}
