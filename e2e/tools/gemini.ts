import type { ModelServer } from '../model-server/model-server.js'
import { pathWith } from '../programs.js'
import type { Scratch } from '../scratch.js'
import type { RealTool } from './real-tool.js'

export const gemini: RealTool = {
  name: 'gemini',
  version: '0.61.0',
  argv: ['gemini', '-m', 'gemini-2.5-pro'],
  ready: /Type your message/,
  asksAbout: { run: 'touch asked.txt' },
  doesFreely: { run: 'ls -1' },
  refusal: { status: 401, message: 'invalid API key', trouble: 'auth' },
  another: { command: '/clear' },
  untrusted: (scratch, server) => setUp(scratch, server, true),
  setUp: (scratch, server) => setUp(scratch, server, false),
}

function setUp(scratch: Scratch, server: ModelServer, asksForTrust: boolean): Record<string, string> {
  scratch.write('home/.gemini/settings.json', {
    security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: asksForTrust } },
    general: { disableAutoUpdate: true, disableUpdateNag: true, enableAutoUpdate: false },
    privacy: { usageStatisticsEnabled: false },
  })
  return scratch.env({ PATH: pathWith('gemini'), GEMINI_API_KEY: 'test', GOOGLE_GEMINI_BASE_URL: server.url })
}
