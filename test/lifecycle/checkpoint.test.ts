import { execFileSync } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AgentRuns } from '../../src/lifecycle/index.js'
import { prime } from '../../src/lifecycle/prime/prime.js'
import { primeText } from '../../src/lifecycle/prime/prime-text.js'
import { contextOf } from './context.js'
import { eventually, type Workshop, workshop } from './workshop.js'

async function repository(shop: Workshop): Promise<void> {
  const git = (...args: string[]): void => void execFileSync('git', ['-C', shop.project, ...args], { stdio: 'ignore' })
  git('init', '-b', 'topic')
  writeFileSync(join(shop.project, 'kept.txt'), 'a')
  git('add', '.')
  git('-c', 'user.name=ada', '-c', 'user.email=ada@example.com', 'commit', '-m', 'first')
  writeFileSync(join(shop.project, 'kept.txt'), 'b')
  writeFileSync(join(shop.project, 'new.txt'), 'b')
}

/** What the agent's program would be given by the hook of its start. */
async function primed(shop: Workshop, source: 'resume' | 'compact'): Promise<string> {
  const context = contextOf([])
  const [run] = await shop.agents.runs()
  const asked = {
    agent: 'web/toast',
    session: run?.binding?.session,
    source,
    cwd: shop.project,
    pid: undefined,
    tool: 'fake',
  }
  const request = { ...asked, isHook: false, isReported: true, isDry: true, waitMs: 1_000 }
  return primeText(await prime({ home: shop.home, context, runs: new AgentRuns(shop.home, context) }, request))
}

describe('a checkpoint', () => {
  it('has what the agent is on and what git says, readable by its user alone, and survives restarts', async () => {
    const shop = await workshop()
    await repository(shop)
    const { agent } = await shop.agents.start({ agent: 'web/toast', cwd: shop.project, work: 'wk-7' })
    await shop.home.sessions.step(agent.session_id as never, {
      step_ref: 'build',
      state: 'started',
      molecule_id: 'mol-1',
    })
    const notes = 'the key is sk-ant-oat01-Zm9vYmFyYmF6cXV4XYZabcdef'
    const { checkpoint } = await shop.agents.writeCheckpoint('toast', { notes, step_title: 'Build it' })
    expect(checkpoint).toMatchObject({
      molecule_id: 'mol-1',
      current_step: 'build',
      step_title: 'Build it',
      branch: 'topic',
      last_commit: expect.stringMatching(/^[0-9a-f]{7,}$/),
      modified_files: ['kept.txt', 'new.txt'],
      hooked_bead: 'wk-7',
      session_id: agent.session_id,
    })
    expect(checkpoint.notes).not.toContain('Zm9vYmFy')
    const path = join(shop.home.paths.agents, agent.id, 'checkpoint.json')
    expect(statSync(path).mode & 0o777).toBe(0o600)
    await shop.agents.restart('toast')
    expect((await shop.agents.readCheckpoint('toast'))?.checkpoint).toEqual(checkpoint)
    expect(await shop.agents.clearCheckpoint('toast')).toEqual({ agent: 'web/toast', cleared: true })
    expect(await shop.agents.clearCheckpoint('toast')).toEqual({ agent: 'web/toast', cleared: false })
    expect(await shop.agents.readCheckpoint('toast')).toBeUndefined()
  })

  it("is none after a day; Gas Town's is read, and what is no checkpoint is passed over", async () => {
    let offMs = 0
    const shop = await workshop({ clock: { now: () => Date.now() + offMs } })
    await shop.agents.spawn({ agent: 'toast', cwd: shop.project })
    const path = join(shop.project, '.polecat-checkpoint.json')
    const gastown = {
      molecule_id: '',
      current_step: 'gt-1',
      modified_files: null,
      branch: 'polecat/toast',
      timestamp: new Date().toISOString().replace('Z', '123456Z'),
    }
    writeFileSync(path, JSON.stringify(gastown))
    expect((await shop.agents.readCheckpoint('toast'))?.checkpoint).toMatchObject({
      current_step: 'gt-1',
      branch: 'polecat/toast',
    })
    await shop.agents.writeCheckpoint('toast', { notes: 'newer' })
    expect((await shop.agents.readCheckpoint('toast'))?.checkpoint.notes).toBe('newer')
    offMs = 24 * 3_600_000 + 60_000
    expect(await shop.agents.readCheckpoint('toast')).toBeUndefined()
    offMs = 0
    await shop.agents.clearCheckpoint('toast')
    for (const text of ['', '{', '[]', '{"timestamp":"soon"}', '{"timestamp":"2026-01-17T01:00:00Z","branch":7}']) {
      writeFileSync(path, text)
      expect(await shop.agents.readCheckpoint('toast')).toBeUndefined()
    }
  })

  it('with the preset gastown it is written where Gas Town looks for it', async () => {
    const shop = await workshop()
    writeFileSync(join(shop.root, 'config.toml'), '[roles]\npreset = "gastown"\n')
    mkdirSync(shop.project, { recursive: true })
    await shop.agents.spawn({ agent: 'toast', cwd: shop.project })
    await shop.agents.writeCheckpoint('toast', {})
    expect(statSync(join(shop.project, '.polecat-checkpoint.json')).mode & 0o777).toBe(0o600)
  })

  it('an agent that comes back after a crash is told so, with its checkpoint, and not again after a compaction', async () => {
    const shop = await workshop()
    await repository(shop)
    await shop.agents.start({ agent: 'web/toast', cwd: shop.project })
    await shop.agents.writeCheckpoint('toast', { notes: 'the parser is done' })
    process.kill((await shop.agents.runs())[0]?.run?.pid ?? 0, 'SIGKILL')
    await eventually(
      () => shop.agents.list(),
      ([one]) => one?.status === 'error',
    )
    await shop.agents.recover({ spacingMs: 0 })
    const text = await primed(shop, 'resume')
    expect(text).toMatch(/your process ended unexpectedly at \S+ \(killed by signal 9\)/)
    expect(text).toContain('2 changed files: kept.txt, new.txt')
    expect(text).toContain('> the parser is done')
    expect(await primed(shop, 'compact')).not.toContain('Recovery')
    await shop.agents.restart('toast')
    expect(await primed(shop, 'resume')).not.toContain('Recovery')
  })
})
