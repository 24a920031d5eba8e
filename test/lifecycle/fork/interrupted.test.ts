import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { ForkStep } from '../../../src/lifecycle/fork/fork-plan.js'
import { sweepForks } from '../../../src/lifecycle/index.js'
import { bundled } from '../bundled.js'
import type { Workshop } from '../workshop.js'
import { AFTER, forkable, git, leftovers, NOTHING, SESSION, texts } from './forkable.js'

const STEPS: readonly ForkStep[] = [
  ...(['worktree', 'setup', 'agent', 'session', 'conversation', 'bind', 'start', 'record', 'end'] as const),
]
const AGENT = fileURLToPath(new URL('../../workers/fake-agent.mjs', import.meta.url))
const program = bundled(fileURLToPath(new URL('killed-fork.ts', import.meta.url)))

/** The sessions that are not at an end, and the panes. */
async function alive({ home, tmux }: Workshop): Promise<object> {
  const { sessions } = await home.sessions.query({})
  const panes = ((): string[] => {
    try {
      return tmux('list-sessions', '-F', '#{session_name}').trim().split('\n')
    } catch {
      return [] // no server yet
    }
  })()
  return {
    sessions: sessions.filter(({ id, ended_at }) => ended_at === undefined && id !== SESSION).map(({ id }) => id),
    panes: panes.filter((name) => name !== '_skein'),
  }
}
const QUIET = { sessions: [], panes: [] }

/** A worktree of the user's whose directory is away for a while, such as on another disk, and a branch. */
function keepsake({ project, root }: Workshop): object {
  git(project, 'worktree', 'add', '-q', '-b', 'mine', join(root, 'away'))
  rmSync(join(root, 'away'), { recursive: true })
  return { ...NOTHING, known: 2, branches: ['main', 'mine'] }
}

describe('a fork that is interrupted', () => {
  it.each(STEPS)('by its user, during the step before "%s", leaves nothing', async (step) => {
    const shop = await forkable()
    const before = keepsake(shop)
    const controller = new AbortController()
    const onStep = (one: ForkStep): void => {
      if (one === step) controller.abort()
    }
    const forked = shop.agents.fork({ ...AFTER, turn: 2, signal: controller.signal, onStep })
    if (step === 'end') return expect(await forked).toHaveLength(1) // too late: it is made
    await expect(forked).rejects.toMatchObject({ code: 'interrupted' })
    expect(await leftovers(shop)).toEqual(before)
    expect(await alive(shop)).toEqual(QUIET)
    expect(existsSync(`${shop.project}.worktrees`)).toBe(false)
  })

  it.each(STEPS)('by an error in the step "%s" of its second copy leaves neither copy', async (step) => {
    const shop = await forkable()
    const before = keepsake(shop)
    let seen = 0
    const onStep = (one: ForkStep): void => {
      if (one !== step) return
      seen += 1
      if (seen === 2) throw new Error('broken')
    }
    await expect(shop.agents.fork({ ...AFTER, turn: 2, count: 2, name: 'new/group/one', onStep })).rejects.toThrow(
      'broken',
    )
    expect(await leftovers(shop)).toEqual(before)
    expect(await alive(shop)).toEqual(QUIET)
    expect(await shop.home.roster.groups()).toEqual([])
  })

  it.each(STEPS)('by kill -9 before "%s" is taken back by the next command, unless its program runs', async (step) => {
    const shop = await forkable()
    const before = keepsake(shop)
    expect(killed(shop, step)).toBe('SIGKILL')
    await sweepForks(shop.parts)
    const isMade = step === 'record' || step === 'end'
    if (!isMade) {
      expect(await leftovers(shop)).toEqual(before)
      expect(await alive(shop)).toEqual(QUIET)
    } else {
      expect(await leftovers(shop)).toMatchObject({ agents: ['claude-fork'], notes: [], known: 3 })
      const [tree = ''] = ((await leftovers(shop)) as { trees: string[] }).trees
      expect(texts(join(`${shop.project}.worktrees`, tree))).toEqual(['file-1.txt', 'file-2.txt'])
    }
    expect(texts(shop.project)).toEqual(['file-1.txt', 'file-2.txt', 'file-3.txt'])
  })

  // git is killed along with the process: the signal goes to the process that started it, right before or after git has run.
  it.each([
    ['before', 'worktree add'],
    ['after', 'worktree add'],
    ['before', 'read-tree'],
    ['after', 'read-tree'],
  ])('by kill -9 right %s git %s is taken back', async (when, command) => {
    const shop = await forkable()
    const before = keepsake(shop)
    const bin = join(shop.root, 'bin')
    mkdirSync(bin)
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
    const run = `${real} "$@"`
    const lines = when === 'before' ? 'kill -9 $PPID; exit 1' : `${run}; kill -9 $PPID; exit 1`
    writeFileSync(join(bin, 'git'), `#!/bin/sh\ncase "$*" in *"${command}"*) ${lines} ;; esac\nexec ${run}\n`)
    chmodSync(join(bin, 'git'), 0o755)
    expect(killed(shop, 'none', { PATH: `${bin}:${process.env.PATH}` })).toBe('SIGKILL')
    await sweepForks(shop.parts)
    expect(await leftovers(shop)).toEqual(before)
  })

  it('leaves a worktree in which its user has worked since, and says so', async () => {
    const shop = await forkable()
    expect(killed(shop, 'session')).toBe('SIGKILL')
    const [tree = ''] = ((await leftovers(shop)) as { trees: string[] }).trees
    const directory = join(`${shop.project}.worktrees`, tree)
    writeFileSync(join(directory, 'precious'), 'x')
    await sweepForks(shop.parts)
    expect(await leftovers(shop)).toMatchObject({ trees: [tree], notes: [], agents: [] })
    expect(readFileSync(join(directory, 'precious'), 'utf8')).toBe('x')
    expect(shop.warnings.join('\n')).toContain('precious was changed after its fork was interrupted')
  })

  it('leaves a directory that somebody made in the place of its own', async () => {
    const shop = await forkable()
    expect(killed(shop, 'session')).toBe('SIGKILL')
    const [tree = ''] = ((await leftovers(shop)) as { trees: string[] }).trees
    const directory = join(`${shop.project}.worktrees`, tree)
    rmSync(directory, { recursive: true })
    mkdirSync(directory)
    writeFileSync(join(directory, 'precious'), 'x')
    await sweepForks(shop.parts)
    expect(readFileSync(join(directory, 'precious'), 'utf8')).toBe('x')
  })
})

/** Forks in a process of its own, and gives back the signal that ended it. */
function killed({ root }: Workshop, step: string, env: Record<string, string> = {}): string | null {
  const request = JSON.stringify({ source: SESSION, turn: 2 })
  const own = { PATH: process.env.PATH, HOME: root, FAKE_LOG: join(root, 'fake.log'), ...env }
  return spawnSync(process.execPath, [program(), root, AGENT, step, request], { env: own }).signal
}
