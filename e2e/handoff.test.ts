import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { objectAt } from '../src/tools/json-value.js'
import type { ModelServer } from './model-server/model-server.js'
import { until } from './skein.js'
import { claude } from './tools/claude.js'
import { codex } from './tools/codex.js'
import { REAL_TOOLS } from './tools/index.js'
import { User } from './user.js'

/** A test that is tried again has an agent of its own: the one before may still run. */
let tries = 0
function another(name: string): string {
  tries += 1
  return `web/${name}-${tries}`
}
const COOLDOWN_MS = 60_000
const MESSAGE = 'The lexer is done, the parser is next.'

/** Requests since a moment that the model was sent for a prompt of a person or of Skein. */
const since = (server: ModelServer, count: number) => server.requests.slice(count)

describe.each(REAL_TOOLS)('an agent that runs $name $version', (tool) => {
  let user: User

  beforeAll(async () => {
    user = await User.of([tool])
    await user.skein.run('group', 'create', 'web')
  })
  afterAll(async () => user?.[Symbol.asyncDispose]())

  it('hands off: the first request of the successor carries the handoff, and the chain has both sessions', async () => {
    const { skein, server, scratch } = user
    const address = another('worker')
    const session = await user.agentAtWork(address, tool)
    const before = server.requests.length
    const handed = await skein.run('handoff', address, '-s', 'Parser', '-m', MESSAGE, '--collect')
    const again = await skein.run('handoff', address, '--dry-run').catch(String)
    const askedAt = Date.now()
    expect(handed).toMatchObject({ kind: 'fresh', is_done: true, from: session })
    await until('the successor asks the model', () => since(server, before).length > 0, 60_000)
    const [first] = since(server, before)
    expect(first?.prompts.join('\n')).toContain('handoff')
    expect(first?.prompts.join('\n')).not.toContain('hello')
    expect(first?.read).toContain(MESSAGE)
    expect(first?.read).toContain('hello') // the digest of the conversation before
    expect((await user.chainOf(session)).map(({ id, link, outcome }) => ({ id, link, outcome }))).toEqual([
      { id: session, outcome: 'handoff' },
      { id: handed.to, link: 'handoff' },
    ])
    expect((await skein.agent(address)).session_id).toBe(handed.to)
    const id = String(objectAt(handed, 'agent')?.id)
    const file = JSON.parse(readFileSync(scratch.path(`skein/profiles/default/agents/${id}.json`), 'utf8'))
    expect(file.handoff).toBeUndefined() // consumed by the successor
    // On a machine so slow that the cooldown was over when it was asked for again, nothing is to be refused.
    if (askedAt - Date.parse(file.handed_off_at) < COOLDOWN_MS) expect(again).toContain('handoff-too-soon')
  })

  it('--cycle keeps the conversation in a new process', async () => {
    const { skein, server } = user
    const address = another('cycler')
    const session = await user.agentAtWork(address, tool)
    const { pid } = await skein.agent(address)
    expect(await skein.run('handoff', address, '--cycle')).toMatchObject({ kind: 'cycle', from: session })
    await skein.listed(address, { session_id: session }, 60_000)
    expect((await skein.agent(address)).pid).not.toBe(pid)
    await skein.run('send', address, 'again', '--wait', '--timeout', '110s')
    expect(server.requests.at(-1)?.prompts).toEqual(expect.arrayContaining(['hello', 'again']))
  })
})

it('an agent is handed off from Claude Code to Codex, which gets what was done', async () => {
  await using user = await User.of([claude, codex])
  const { skein, server } = user
  const session = await user.agentAtWork('mover', claude, { prompt: 'count the files' })
  const before = server.requests.length
  const handed = await skein.run('handoff', 'mover', '--tool', 'codex', '-m', MESSAGE)
  await until('Codex asks the model', () => since(server, before).length > 0, 60_000)
  const [first] = since(server, before)
  expect(first?.read).toContain(MESSAGE)
  expect(first?.read).toContain('count the files')
  expect(await skein.agent('mover')).toMatchObject({ tool: 'codex', session_id: handed.to })
  expect((await user.chainOf(session)).map(({ id, tool, link }) => ({ id, tool, link }))).toEqual([
    { id: session, tool: 'claude' },
    { id: handed.to, tool: 'codex', link: 'handoff' },
  ])
})

it('Claude Code compacts its context: a handoff is saved before, and the conversation continues', async () => {
  await using user = await User.of([claude])
  const { skein } = user
  const session = await user.agentAtWork('packer', claude)
  await skein.types('packer', '/compact')
  const inbox = async (): Promise<string> => JSON.stringify(await skein.run('mail', 'inbox', 'packer'))
  await until('a handoff is saved', async () => (await inbox()).includes('Handoff: compaction'), 60_000)
  expect((await skein.agent('packer')).session_id).toBe(session)
})

const SUMMARY = { when: /create a detailed summary/, steps: [{ text: '<summary>They greeted.</summary>' }] }

it('a role with precompact = "cycle": Claude Code compacts by itself, and its program is restarted in the same conversation and told to continue', async () => {
  // What it believes to have in its context decides: it compacts before the next prompt.
  const full = { when: /^fill/, steps: [{ text: 'Full.', usage: { input: 190_000 } }] }
  const window = ['--env', 'CLAUDE_CODE_AUTO_COMPACT_WINDOW=100000']
  await using user = await User.of([claude], {
    script: { rules: [full, SUMMARY, { when: /.*/, steps: [{ text: 'Gladly.' }] }] },
    settings: () => ['[roles.cycler]', 'precompact = "cycle"'],
  })
  const { skein, server } = user
  const session = await user.agentAtWork('packer', claude, {
    prompt: 'fill it',
    options: ['--role', 'cycler', ...window],
  })
  const { pid } = await skein.agent('packer')
  await skein.run('send', 'packer', 'go on')
  await until('it runs in another process', async () => (await skein.agent('packer')).pid !== pid, 60_000)
  // The saved handoff is on its hook.
  await skein.listed('packer', { session_id: session, phase: 'autonomous' }, 60_000)
  expect(JSON.stringify(await skein.run('mail', 'inbox', 'packer'))).toContain('Handoff: compaction')
  const isTold = (): boolean => server.requests.some(({ prompt }) => prompt.includes('Continue your previous task'))
  await until('it is told to continue', isTold, 60_000)
})

it('a role with precompact = "cycle": a /compact that is typed is saved and done, and nothing is restarted or typed', async () => {
  await using user = await User.of([claude], {
    script: { rules: [SUMMARY, { when: /.*/, steps: [{ text: 'Gladly.' }] }] },
    settings: () => ['[roles.cycler]', 'precompact = "cycle"'],
  })
  const { skein, server } = user
  const session = await user.agentAtWork('packer', claude, { options: ['--role', 'cycler'] })
  const { pid } = await skein.agent('packer')
  await skein.types('packer', '/compact')
  const inbox = async (): Promise<string> => JSON.stringify(await skein.run('mail', 'inbox', 'packer'))
  await until('a handoff is saved', async () => (await inbox()).includes('Handoff: compaction'), 60_000)
  const screen = async (): Promise<string> => String((await skein.run('output', 'packer', '--screen')).text)
  await until('it has compacted', async () => (await screen()).includes('Compacted'), 60_000)
  await skein.run('send', 'packer', 'and now?', '--wait', '--timeout', '60s')
  expect(await skein.agent('packer')).toMatchObject({ session_id: session, pid })
  expect(server.requests.filter(({ prompt }) => prompt.includes('Continue your previous task'))).toEqual([])
})
