import { execFileSync } from 'node:child_process'
import { appendFileSync, copyFileSync, existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { CHECKPOINT_FILE } from '../../../src/lifecycle/agent-runs.js'
import { collect, collectedText, handoffBody, unsavedWork } from '../../../src/lifecycle/handoff/collect.js'
import { digestOf } from '../../../src/lifecycle/handoff/digest.js'
import { finishWork } from '../../../src/lifecycle/handoff/done.js'
import { type AgentRun, configuredParts, type Parts } from '../../../src/lifecycle/index.js'
import { instantOf, parseSessionId } from '../../../src/model/index.js'
import { toolNamed } from '../../tools/log-file.js'
import { contextOf } from '../context.js'
import { type Workshop, workshop } from '../workshop.js'

const SESSION = 'd9eaa2bf-c57b-4b0c-b4bb-f16aa7e7ff0a'
const FIXTURE = 'test/fixtures/claude/2.1.325/interactive-7turns-tools-subagent.jsonl'

/** An agent whose conversation is a recorded one, in a repository with work that is not committed. */
async function collecting(): Promise<{
  log: string
  shop: Workshop
  parts: Parts
  run: AgentRun
  look: () => ReturnType<typeof collect>
}> {
  const shop = await workshop()
  const { root, home, agents, project } = shop
  execFileSync('git', ['init', '-q', '-b', 'main', project])
  writeFileSync(join(project, 'new.txt'), 'x')
  const folder = join(root, '.claude', 'projects', '-project')
  mkdirSync(folder, { recursive: true })
  const reader = toolNamed('claude')
  const known = reader.logAt(FIXTURE)
  const session = parseSessionId((known && reader.identify(known).id) ?? SESSION)
  const log = join(folder, `${session}.jsonl`)
  copyFileSync(FIXTURE, log)
  await agents.spawn({ agent: 'toast', cwd: project })
  const agent = await home.roster.agent('toast')
  const since = instantOf(0)
  const run: AgentRun = {
    v: 1,
    agent: agent.id,
    recipe: { tool: 'claude', cwd: project },
    binding: { session, since, how: 'chosen', is_confirmed: true, log },
    status: { status: 'idle', since, source: 'hook' },
  }
  const parts = await configuredParts({
    home,
    context: contextOf([]),
    configFile: join(root, 'config.toml'),
    facts: { ownRoot: root, temporary: root, userId: undefined },
  })
  return { log, shop, parts, run, look: () => collect(parts, agent, run) }
}

it('collects git and a digest of the conversation; the same from the archive once the log is gone', async () => {
  const { log, shop, look } = await collecting()
  const first = await look()
  expect(first.git).toMatchObject({ branch: 'main', untracked: ['new.txt'] })
  expect(unsavedWork(first.git)).toEqual(['1 untracked file'])
  expect(first.digest).toMatchObject({ from: 'log', is_part: false, goal: { first: 'turn one please' } })
  const text = handoffBody('continue with\n## the parser', first)
  expect(text).toContain('> ## the parser')
  expect(text).toContain('hello.txt (changed 2x)')
  expect(text).toContain('> REPLY-SUB: the helper is done.')
  await shop.home.history.ingest()
  rmSync(log)
  const later = await look()
  expect(later.digest).toMatchObject({ from: 'archive', goal: first.digest?.goal, open: first.digest?.open })
  expect(later.digest).toMatchObject({ failed: first.digest?.failed, unnamed_changes: 2 })
  expect(collectedText(later)).toContain('From the archive')
})

it('done reads the log, also where no daemon ever ran, and clears the checkpoint', async () => {
  const { shop, parts, run } = await collecting()
  const { home, agents } = shop
  const agent = await home.roster.agent('toast')
  const session = run.binding?.session ?? parseSessionId('none')
  await parts.runs.update(agent, () => ({ next: run, result: undefined }))
  await home.sessions.start({ id: session, agent: 'toast', tool: 'claude' })
  await agents.writeCheckpoint('toast', { notes: 'half' })
  const file = join(home.paths.agents, agent.id, CHECKPOINT_FILE)
  expect(existsSync(file)).toBe(true)
  expect(await home.history.spent([session])).toEqual(new Map())
  await finishWork(parts, agent)
  expect([...(await home.history.spent([session])).keys()]).toEqual([session])
  expect(await home.sessions.get(session)).toMatchObject({ outcome: 'done' })
  expect(existsSync(file)).toBe(false)
})

it('a long log is read from both ends', async () => {
  const { log, look } = await collecting()
  const padding = `${JSON.stringify({ type: 'progress', pad: 'x'.repeat(1024 * 1024) })}\n`
  while (statSync(log).size < 66 * 1024 * 1024) appendFileSync(log, padding)
  const reader = toolNamed('claude')
  const end = statSync(log).size
  appendFileSync(
    log,
    [
      { type: 'user', uuid: 'u1', parentUuid: 'unknown', message: { role: 'user', content: 'the very last prompt' } },
      {
        type: 'assistant',
        uuid: 'u2',
        parentUuid: 'u1',
        message: { id: 'm', role: 'assistant', content: [{ type: 'text', text: 'the very last reply' }] },
      },
    ]
      .map((record) => `${JSON.stringify({ timestamp: '2026-11-15T11:00:00.000Z', ...record })}\n`)
      .join(''),
  )
  expect((await look()).digest).toMatchObject({
    is_part: true,
    goal: { first: 'turn one please', latest: expect.arrayContaining(['the very last prompt']) },
    open: { last_reply: 'the very last reply' },
  })
  const tail = reader.logAt(log)
  if (!tail) throw new Error('the log is gone')
  const alone = digestOf(reader.read(tail, { tailBytes: statSync(log).size - end }), (fact) => fact)
  expect(alone.goal).toEqual({ first: 'the very last prompt', latest: [] })
})
