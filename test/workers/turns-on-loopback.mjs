// Runs in a network namespace that has loopback only: starts the scripted model server, then one process per turn.
import { execFile } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startMessagesServer } from '../stubs/messages-server.mjs'

const { sdk, root } = JSON.parse(process.argv[2])
const run = promisify(execFile)
const server = await startMessagesServer()
const config = join(root, 'config')
const env = {
  PATH: process.env.PATH,
  HOME: join(root, 'home'),
  CLAUDE_CONFIG_DIR: config,
  ANTHROPIC_BASE_URL: server.url,
  ANTHROPIC_API_KEY: `sk-ant-fake-${'0'.repeat(40)}`,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_TELEMETRY: '1',
  DISABLE_AUTOUPDATER: '1',
  IS_SANDBOX: '1',
}
const KEY = 'agent:main:discord:dm:user123'
const turn = async (prompt, { key = KEY, ...more } = {}) => {
  const request = {
    sdk,
    directory: join(root, 'store'),
    key,
    prompt,
    options: { cwd: join(root, 'project'), model: 'claude-sonnet-4-5', env, ...more },
  }
  const worker = fileURLToPath(new URL('run-turn.mjs', import.meta.url))
  const { stdout } = await run(process.execPath, [worker, JSON.stringify(request)], { env, cwd: join(root, 'project') })
  return JSON.parse(stdout)
}

const results = { first: await turn('my name is Ada'), second: await turn('what is my name?') }
rmSync(join(config, 'projects'), { recursive: true, force: true }) // the tool's own clean-up, a month later
results.lost = await turn('still there?')
results.afterLoss = await turn('and now?')
results.otherModel = await turn('with another model', { model: 'claude-haiku-4-5' })
results.fresh = await turn('/new hello again', { model: 'claude-haiku-4-5' })
results.onlyNew = await turn('/new', { model: 'claude-haiku-4-5' })
results.otherAgent = await turn('hi', { key: 'agent:codex:discord:dm:user123' })
console.log(JSON.stringify({ results, requests: server.requests }))
await server.close()
