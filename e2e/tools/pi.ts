import { pathWith } from '../programs.js'
import type { RealTool } from './real-tool.js'

export const pi: RealTool = {
  name: 'pi',
  version: '0.74.2',
  argv: ['pi'],
  ready: /test-model/,
  doesFreely: { run: 'ls -1' },
  refusal: { status: 401, message: 'invalid API key', trouble: 'auth' },
  another: { command: '/new' },
  untrusted: 'trusts all',
  setUp(scratch, server) {
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
    scratch.write('home/.pi/agent/models.json', {
      providers: {
        test: {
          baseUrl: `${server.url}/v1`,
          apiKey: 'test',
          api: 'openai-completions',
          models: [
            {
              id: 'test-model',
              name: 'Test model',
              reasoning: false,
              input: ['text'],
              cost,
              contextWindow: 200_000,
              maxTokens: 8_000,
            },
          ],
        },
      },
    })
    scratch.write('home/.pi/agent/settings.json', { defaultProvider: 'test', defaultModel: 'test-model' })
    return scratch.env({ PATH: pathWith('pi'), PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1' })
  },
}
