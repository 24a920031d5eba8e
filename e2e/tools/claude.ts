import type { ModelServer } from '../model-server/model-server.js'
import { pathWith } from '../programs.js'
import type { Scratch } from '../scratch.js'
import type { RealTool } from './real-tool.js'

const KEY = `sk-ant-test-${'0'.repeat(40)}`

export const claude: RealTool = {
  name: 'claude',
  version: '2.1.325',
  argv: ['claude'],
  ready: /^❯/m,
  asksAbout: { run: 'touch asked.txt' },
  doesFreely: { run: 'ls -1' },
  refusal: { status: 401, message: 'invalid API key', trouble: 'auth' },
  another: { command: '/clear' },
  untrusted: (scratch, server) => setUp(scratch, server, {}),
  setUp: (scratch, server) => setUp(scratch, server, { [scratch.project]: { hasTrustDialogAccepted: true } }),
}

function setUp(scratch: Scratch, server: ModelServer, projects: object): Record<string, string> {
  // Each of these is a dialog on a new machine.
  scratch.write('home/.claude.json', {
    hasCompletedOnboarding: true,
    customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
    projects,
  })
  // Without these the mode is one that decides by itself what to ask, or a dialog that offers it.
  scratch.write('home/.claude/settings.json', {
    permissions: { defaultMode: 'default', disableAutoMode: 'disable' },
  })
  return scratch.env({
    PATH: pathWith('claude'),
    ANTHROPIC_BASE_URL: server.url,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    CLAUDE_CODE_TMPDIR: scratch.path('tmp'),
    DISABLE_AUTOUPDATER: '1',
    DISABLE_TELEMETRY: '1',
    DISABLE_ERROR_REPORTING: '1',
  })
}
