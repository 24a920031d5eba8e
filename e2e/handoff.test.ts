import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { objectAt } from '../src/tools/json-value.js'
import { ModelServer } from './model-server/model-server.js'
import { Scratch } from './scratch.js'
import { Skein, until } from './skein.js'
import { claude } from './tools/claude.js'
import { codex } from './tools/codex.js'
import { REAL_TOOLS } from './tools/index.js'

const AGENT = 'web/worker'
const MESSAGE = 'The lexer is done, the parser is next.'

/** Requests since a moment that the model was sent for a prompt of a person or of Skein. */
const since = (server: ModelServer, count: number) => server.requests.slice(count)

describe.each(REAL_TOOLS)('an agent that runs $name $version', (tool) => {
  let scratch: Scratch
  let server: ModelServer
  let skein: Skein

  beforeAll(async () => {
    server = await ModelServer.start({ rules: [{ when: /.*/, steps: [{ text: 'Gladly.' }] }] })
    scratch = new Scratch(tool.name)
    skein = new Skein(scratch, tool.setUp(scratch, server))
    await skein.run('group', 'create', 'web')
  })
  afterAll(async () => {
    scratch?.[Symbol.dispose]()
    await server?.[Symbol.asyncDispose]()
  })

  const startAgent = async (address: string): Promise<string> => {
    const started = await skein.run('start', '.', '--agent', address, '--tool', tool.name)
    const session = String(objectAt(started, 'agent')?.session_id)
    await skein.listed(address, { status: 'idle' }, 60_000)
    await skein.run('send', address, 'hello', '--wait', '--timeout', '60s')
    return session
  }

  it('hands off: the first request of the successor carries the handoff, and the chain has both sessions', async () => {
    const session = await startAgent(AGENT)
    const before = server.requests.length
    const handed = await skein.run('handoff', AGENT, '-s', 'Parser', '-m', MESSAGE, '--collect')
    expect(handed).toMatchObject({ kind: 'fresh', is_done: true, from: session })
    await until('the successor asks the model', () => since(server, before).length > 0, 60_000)
    const [first] = since(server, before)
    expect(first?.prompts.join('\n')).toContain('handoff')
    expect(first?.prompts.join('\n')).not.toContain('hello')
    expect(first?.read).toContain(MESSAGE)
    expect(first?.read).toContain('hello') // the digest of the conversation before
    const { chains } = await skein.run('sessions', 'chain', session)
    const [chain] = chains as { sessions: Record<string, unknown>[] }[]
    expect(chain?.sessions.map(({ id, link, outcome }) => ({ id, link, outcome }))).toEqual([
      { id: session, outcome: 'handoff' },
      { id: handed.to, link: 'handoff' },
    ])
    const id = String(objectAt(handed, 'agent')?.id)
    const file = JSON.parse(readFileSync(scratch.path(`skein/profiles/default/agents/${id}.json`), 'utf8'))
    expect(file.handoff).toBeUndefined() // consumed by the successor
    expect(JSON.stringify(await skein.failing('handoff', AGENT))).toContain('handoff-too-soon')
  })

  it('--cycle keeps the conversation in a new process', async () => {
    const session = await startAgent('web/cycler')
    const { pid } = await skein.agent('web/cycler')
    expect(await skein.run('handoff', 'web/cycler', '--cycle')).toMatchObject({ kind: 'cycle', from: session })
    await skein.listed('web/cycler', { session_id: session }, 60_000)
    expect((await skein.agent('web/cycler')).pid).not.toBe(pid)
    await skein.run('send', 'web/cycler', 'again', '--wait', '--timeout', '60s')
    expect(server.requests.at(-1)?.prompts).toEqual(expect.arrayContaining(['hello', 'again']))
  })
})

it('an agent is handed off from Claude Code to Codex, which is told what was done', async () => {
  await using server = await ModelServer.start({ rules: [{ when: /.*/, steps: [{ text: 'Gladly.' }] }] })
  using scratch = new Scratch('move')
  const [one, other] = [claude.setUp(scratch, server), codex.setUp(scratch, server)]
  const PATH = [one.PATH, other.PATH].join(':')
  const skein = new Skein(scratch, { ...one, ...other, PATH })
  const started = await skein.run('start', '.', '--agent', 'mover', '--tool', 'claude')
  const session = String(objectAt(started, 'agent')?.session_id)
  await skein.listed('mover', { status: 'idle' }, 60_000)
  await skein.run('send', 'mover', 'count the files', '--wait', '--timeout', '60s')
  const before = server.requests.length
  const handed = await skein.run('handoff', 'mover', '--tool', 'codex', '-m', MESSAGE)
  await until('Codex asks the model', () => since(server, before).length > 0, 60_000)
  const [first] = since(server, before)
  expect(first?.read).toContain(MESSAGE)
  expect(first?.read).toContain('count the files')
  expect(await skein.agent('mover')).toMatchObject({ tool: 'codex', session_id: handed.to })
  const { chains } = await skein.run('sessions', 'chain', session)
  const [chain] = chains as { sessions: Record<string, unknown>[] }[]
  expect(chain?.sessions.map(({ id, tool, link }) => ({ id, tool, link }))).toEqual([
    { id: session, tool: 'claude' },
    { id: handed.to, tool: 'codex', link: 'handoff' },
  ])
})

it('Claude Code compacts its context: a handoff is saved before, and the conversation continues', async () => {
  await using server = await ModelServer.start({ rules: [{ when: /.*/, steps: [{ text: 'Gladly.' }] }] })
  using scratch = new Scratch('compact')
  const skein = new Skein(scratch, claude.setUp(scratch, server))
  const started = await skein.run('start', '.', '--agent', 'packer', '--tool', 'claude')
  const session = String(objectAt(started, 'agent')?.session_id)
  await skein.listed('packer', { status: 'idle' }, 60_000)
  await skein.run('send', 'packer', 'hello', '--wait', '--timeout', '60s')
  await skein.types('packer', '/compact')
  const inbox = async (): Promise<string> => JSON.stringify(await skein.run('mail', 'inbox', 'packer'))
  await until('a handoff is saved', async () => (await inbox()).includes('Handoff: compaction'), 60_000)
  expect((await skein.agent('packer')).session_id).toBe(session)
})
