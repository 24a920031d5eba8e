import { chmodSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import type { Context } from '../../src/model/index.js'
import { codexRunner as CODEX } from '../../src/tools/codex/codex-runner.js'
import type { ToolRunner } from '../../src/tools/index.js'
import { scratch } from '../home/scratch.js'
import { eventually, type Workshop, workshop } from './workshop.js'

const FAKE = fileURLToPath(new URL('../workers/fake-codex.mjs', import.meta.url))

/** A program that starts as Codex does, with a picture that stands for so long before each of its questions and before its prompt. */
async function codexShop(
  how: { questions: number; pictureMs: number; isBare?: boolean },
  runner: ToolRunner = CODEX,
  clock: Context['clock'] = { now: () => Date.now() },
): Promise<Workshop> {
  const root = scratch()
  const program = join(root, 'bin', 'codex')
  mkdirSync(dirname(program))
  copyFileSync(FAKE, program)
  chmodSync(program, 0o755)
  const path = [dirname(program), dirname(process.execPath), process.env.PATH].join(delimiter)
  const env = { PATH: path, FAKE_CODEX: JSON.stringify(how) }
  const role = '[roles.w]\naddress = "{group}/w/{name}"\n[roles.w.start]\naccept_startup_dialogs = true\n'
  writeFileSync(join(root, 'config.toml'), role)
  return workshop({ root, runners: [runner], env, clock })
}

const prompts = ({ log }: Workshop): unknown[] => log().flatMap(({ prompt }) => prompt ?? [])
const typedIn = ({ log }: Workshop): unknown[] => [...new Set(log().flatMap((line) => line.in ?? []))]

it.each([900, 2_500])(
  'a prompt is not typed into the picture that comes %s ms before a question, and is sent once when all are answered',
  async (pictureMs) => {
    const shop = await codexShop({ questions: 2, pictureMs })
    const { agents, project } = shop
    const started = await agents.start({ agent: 'toast', cwd: project, tool: 'codex', prompt: 'hello' })
    expect(started.how).toContain('the prompt is kept')
    expect(started.agent).toMatchObject({ status: 'waiting', reason: 'asks whether to trust this folder' })
    expect(typedIn(shop)).toEqual([])
    await agents.answer('toast', { decision: 'allow' })
    await eventually(
      () => agents.why('toast'),
      ({ agent }) => agent.status === 'waiting' && shop.log().filter(({ state }) => state === 'question').length === 2,
    )
    expect(prompts(shop)).toEqual([])
    await agents.answer('toast', { decision: 'allow' })
    await agents.wait('toast', { until: 'done', timeoutMs: 60_000 })
    await eventually(
      () => prompts(shop),
      (sent) => sent.length > 0,
    )
    expect(prompts(shop)).toEqual(['hello'])
    expect(typedIn(shop)).toEqual(['question', 'prompt'])
    expect((await agents.list())[0]?.pending_prompt_at).toBeUndefined()
  },
)

it('one that asks nothing gets its prompt when it has begun, and not before', async () => {
  const shop = await codexShop({ questions: 0, pictureMs: 1_500 })
  const { agents, project } = shop
  const started = await agents.start({ agent: 'toast', cwd: project, tool: 'codex', prompt: 'hello' })
  expect(started.how).toContain('prompt received')
  expect([prompts(shop), typedIn(shop)]).toEqual([['hello'], ['prompt']])
})

it.each(['its first picture', 'a prompt that it has not reported yet'])(
  'startup dialogs that a role accepts are waited for behind %s',
  async (what) => {
    const { isFirstPicture: _picture, ...told } = CODEX
    const runner = what === 'its first picture' ? CODEX : { ...told, isReadyWhenTold: true as const }
    const shop = await codexShop({ questions: 2, pictureMs: 1_200 }, runner)
    const start = { role: 'w', group: 'lab', agent: 'toast', tool: 'codex', cwd: shop.project }
    const { agent } = await shop.agents.start(start)
    expect(agent.status).toBe('idle')
    expect(shop.log().filter(({ in: place }) => place === 'question')).toHaveLength(2)
  },
)

it('one that shows neither title nor model is believed once its picture stays', async () => {
  const clock = { aheadMs: 0, now: () => Date.now() + clock.aheadMs }
  const shop = await codexShop({ questions: 0, pictureMs: 0, isBare: true }, CODEX, clock)
  const { agents, project } = shop
  await agents.start({ agent: 'toast', cwd: project, tool: 'codex' })
  expect((await agents.why('toast')).agent).toMatchObject({ status: 'starting' })
  clock.aheadMs = 20_000
  await agents.send('toast', 'hello')
  expect(prompts(shop)).toEqual(['hello'])
})
