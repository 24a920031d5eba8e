import type { ModelServer } from '../model-server/model-server.js'
import { pathWith } from '../programs.js'
import type { Scratch } from '../scratch.js'
import type { RealTool } from './real-tool.js'

export const codex: RealTool = {
  name: 'codex',
  version: '0.166.0',
  // Otherwise it starts a daemon that outlives it and runs later sessions with the environment of the first.
  argv: ['codex', '--no-daemon'],
  ready: /^› /m,
  asksAbout: { run: 'touch asked.txt', outsideSandbox: true },
  doesFreely: { run: 'ls -1' },
  refusal: { status: 401, message: 'invalid API key', trouble: 'auth' },
  another: { command: '/new', asksWhere: true },
  untrusted: (scratch, server) => setUp(scratch, server, ''),
  setUp: (scratch, server) => setUp(scratch, server, `[projects."${scratch.project}"]\ntrust_level = "trusted"\n`),
}

function setUp(scratch: Scratch, server: ModelServer, projects: string): Record<string, string> {
  scratch.write(
    'home/.codex/config.toml',
    `model = "gpt-5.5"
model_provider = "test"
check_for_update_on_startup = false
approval_policy = "on-request"
sandbox_mode = "workspace-write"

[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"

[analytics]
enabled = false

[model_providers.test]
name = "test"
base_url = "${server.url}/v1"
wire_api = "responses"
env_key = "TEST_MODEL_KEY"

${projects}`,
  )
  return scratch.env({ PATH: pathWith('codex'), TEST_MODEL_KEY: 'sk-test' })
}
