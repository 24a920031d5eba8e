import { pathWith } from '../programs.js'
import type { RealTool } from './real-tool.js'

export const opencode: RealTool = {
  name: 'opencode',
  version: '1.18.33',
  argv: ['opencode'],
  ready: /ctrl\+p commands/,
  asksAbout: { run: 'touch asked.txt' },
  doesFreely: { write: { path: 'note.md', content: '# README\\n' } },
  refusal: { status: 400, message: 'no such parameter', trouble: 'api-error' },
  another: { command: '/new' },
  untrusted: 'trusts all',
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
    // Before it loads a plugin it waits for a package of its own, which on a new machine it would have to fetch.
    const dependencies = { '@opencode-ai/plugin': opencode.version }
    scratch.write('home/.config/opencode/package.json', { dependencies })
    scratch.write('home/.config/opencode/package-lock.json', { lockfileVersion: 3, packages: { '': { dependencies } } })
    scratch.write('home/.config/opencode/node_modules/.keep', '')
    return scratch.env({
      PATH: pathWith('opencode'),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
    })
  },
}
