import { expect, it } from 'vitest'
import { isObject, objectAt } from '../src/tools/json-value.js'
import { ModelServer } from './model-server/model-server.js'
import type { Refusal } from './model-server/script.js'
import { note, operation } from './operation.js'
import { Scratch } from './scratch.js'
import { Skein, until } from './skein.js'
import { claude } from './tools/claude.js'
import { codex } from './tools/codex.js'
import { REAL_TOOLS } from './tools/index.js'
import type { RealTool } from './tools/real-tool.js'

const AGENT = 'worker'
/** Two starts of each: all five tools take minutes. */
const TESTED = process.env.SKEIN_ALL_TOOLS ? REAL_TOOLS : [claude, codex]
const RESET_S = 2 * 3_600
const CONFIG = `[notify]\nby = []\n[recover]\nspacing = 0\n[watchdog]\nrespawn = "on-crash"\nbackoff = "1s"\n`

/** How each provider says that a limit is reached and when it ends. pi says what its provider says. */
const LIMITS: Readonly<Record<string, () => Omit<Refusal, 'status'>>> = {
  claude: () => ({
    message: 'This request would exceed your account rate limit',
    headers: {
      'anthropic-ratelimit-unified-status': 'rejected',
      'anthropic-ratelimit-unified-reset': String(resetSeconds()),
      'anthropic-ratelimit-unified-representative-claim': 'five_hour',
      'retry-after': String(RESET_S),
    },
  }),
  codex: () => ({
    message: 'The usage limit has been reached',
    facts: { type: 'usage_limit_reached', plan_type: 'plus', resets_at: resetSeconds() },
  }),
  gemini: () => ({
    message: `You exceeded your current quota. Please retry in ${RESET_S}s.`,
    facts: {
      status: 'RESOURCE_EXHAUSTED',
      details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${RESET_S}s` }],
    },
  }),
  opencode: () => ({ message: 'Rate limit reached', headers: { 'retry-after': String(RESET_S) } }),
  pi: () => ({ message: 'You exceeded your current quota. Please retry in 2h.' }),
}
const resetSeconds = (): number => Math.floor(Date.now() / 1_000) + RESET_S

/** Only a user who has logged in with a subscription sees its limits. */
function asSubscriber(tool: RealTool, scratch: Scratch, env: Record<string, string>): Record<string, string> {
  if (tool.name !== 'claude') return env
  const { ANTHROPIC_API_KEY: _key, ...rest } = env
  const accessToken = `sk-ant-oat01-${'0'.repeat(80)}`
  const login = { accessToken, refreshToken: `sk-ant-ort01-${'0'.repeat(80)}`, subscriptionType: 'max' }
  const claudeAiOauth = { ...login, expiresAt: Date.now() + 1e10, scopes: ['user:inference', 'user:profile'] }
  scratch.write('home/.claude/.credentials.json', { claudeAiOauth })
  return { ...rest, CLAUDE_CODE_OAUTH_TOKEN: accessToken }
}

for (const tool of TESTED) {
  operation(tool.name, 'limit and login hold', async (context) => {
    await using server = await ModelServer.start({
      rules: [
        { when: /^limit/, steps: [{ error: { status: 429, message: '', ...LIMITS[tool.name]?.() } }] },
        { when: /^login/, steps: [{ error: { status: 401, message: 'invalid API key' } }] },
        { when: /.*/, steps: [{ text: 'Hello to you.' }] },
      ],
    })
    using scratch = new Scratch(tool.name)
    scratch.write('skein/config.toml', CONFIG)
    const skein = new Skein(scratch, asSubscriber(tool, scratch, tool.setUp(scratch, server)))
    await skein.run('start', '.', '--agent', AGENT, '--tool', tool.name)
    await skein.listed(AGENT, { status: 'idle' }, 60_000)
    const shown = async (isSo: (agent: Record<string, unknown>) => boolean) => {
      let agent: Record<string, unknown> = {}
      const look = async (): Promise<boolean> => {
        agent = await skein.agent(AGENT)
        return isSo(agent)
      }
      await until('the list shows it', look, 90_000, async () => JSON.stringify(await skein.run('why', AGENT)))
      return agent
    }
    const die = async () => {
      process.kill(Number((await skein.agent(AGENT)).pid), 'SIGKILL')
      return shown(({ parked }) => isObject(parked))
    }

    // A limit that says when it ends.
    const before = Date.now()
    await skein.run('send', AGENT, 'limit me')
    const limited = await shown(({ limit_until }) => limit_until !== undefined)
    const waits = Date.parse(String(limited.limit_until)) - before
    expect(Math.abs(waits / 1_000 - RESET_S)).toBeLessThan(180)
    note(context, String(limited.reason).slice(0, 60))
    const held = objectAt(await die(), 'parked')
    expect(held).toMatchObject({ kind: 'held', until: limited.limit_until })
    expect(held?.reason).toMatch(/^it has reached its usage limit: /)

    // A way out, and a login that fails.
    await skein.run('recover', AGENT)
    // Its last turn has failed, and is shown so where its conversation was resumed.
    await shown(({ status }) => status === 'idle' || status === 'error')
    expect(await skein.agent(AGENT)).not.toHaveProperty('parked')
    await skein.run('send', AGENT, 'login please', '--replace-draft')
    await shown(({ trouble }) => trouble === 'auth')
    const unknown = objectAt(await die(), 'parked')
    expect(unknown).toMatchObject({ kind: 'held', next: `When it can work again: skein recover ${AGENT}` })
    expect(unknown).not.toHaveProperty('until')
    expect(unknown?.reason).toMatch(/^it could not log in: /)
    // Nothing was started again in between but by hand.
    expect(await skein.events('agent_started')).toHaveLength(2)
  })
}

it('every real tool says when a limit ends in its own way', () => {
  expect(Object.keys(LIMITS).sort()).toEqual(REAL_TOOLS.map(({ name }) => name).sort())
})
