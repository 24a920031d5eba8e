import { pathWith } from '../programs.js'
import type { RealTool } from './real-tool.js'

export const opencode: RealTool = {
  name: 'opencode',
  version: '1.18.33',
  argv: ['opencode'],
  ready: /ctrl\+p commands/,
  asksAbout: { run: 'touch asked.txt' },
  setUp(scratch, server) {
    scratch.write('home/.config/opencode/opencode.json', {
      model: 'test/test-model',
      small_model: 'test/test-model',
      enabled_providers: ['test'],
      autoupdate: false,
      share: 'disabled',
      permission: { bash: 'ask', edit: 'allow' },
      provider: {
        test: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Test',
          options: { baseURL: `${server.url}/v1`, apiKey: 'test' },
          models: { 'test-model': { name: 'Test model', tool_call: true, limit: { context: 200_000, output: 8_000 } } },
        },
      },
    })
    return scratch.env({
      PATH: pathWith('opencode'),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
    })
  },
}
