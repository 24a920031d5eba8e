import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type } from './typed.js'
import { agentsUnder, buildWorld, daemonUnder, profilesUnder, scratch } from './world.js'

const SESSION = '22222222-2222-4222-8222-222222222222'

it('names the sessions, turns, prompts and costs that went into a commit, and who made it', async () => {
  using own = scratch()
  const root = join(own.path, 'home')
  mkdirSync(root)
  await buildWorld(root)
  const outside = {
    profiles: profilesUnder(root),
    agents: agentsUnder(root),
    daemon: daemonUnder(root),
    privacyFile: join(root, 'privacy.yaml'),
    cwd: root,
    now: Date.now,
  }
  const captured = join(root, 'captured')
  const env = { PATH: process.env.PATH, HOME: own.path, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args], {
      cwd: captured,
      env,
      encoding: 'utf8',
    }).trim()
  appendFileSync(join(captured, 'README.md'), 'by Ada\n')
  git('add', '-A')
  git('commit', '-qm', 'All of it\u001b[31m')
  const commit = git('rev-parse', 'HEAD')
  await type(['session', 'update', SESSION, '--commit', commit.slice(0, 10)], outside)
  const inside = { ...outside, cwd: captured }
  const whole = JSON.parse((await type(['explain', 'HEAD', '--json'], inside)).stdout)
  expect(whole).toMatchObject({ commit, author: 'Ada', parents: [whole.base], added: 3, removed: 0 })
  expect(whole.sessions).toMatchObject([{ session: SESSION, turns: [2], added: 1, removed: 0 }])
  expect(whole.writers).toMatchObject([
    { kind: 'turn', session: SESSION, turn: 2, prompt: expect.any(String), added: 1, files: 1 },
    { kind: 'elsewhere', added: 1 },
    { kind: 'edit', added: 1 },
  ])
  expect(whole.writers[0].cost_micro_usd).toBe(whole.sessions[0].cost_micro_usd)
  expect(whole.made_by).toMatchObject([{ session: SESSION, commit, relation: 'this' }])
  expect(whole.files).toMatchObject([
    {
      path: 'README.md',
      parts: [
        { writer: 0, added: 1, removed: 0 },
        { writer: 1, added: 1, removed: 0 },
      ],
      hunks: [{ start: 2, added: 2, removed: 0, parts: [{ writer: 0 }, { writer: 1 }] }],
    },
    { path: 'src/new.txt', status: 'added', parts: [{ writer: 2, added: 1, removed: 0 }] },
  ])
  const listed = async (...args: string[]): Promise<string[]> =>
    JSON.parse((await type(['sessions', 'list', '--all', '--json', ...args], inside)).stdout).sessions.map(
      ({ id }: { id: string }) => id,
    )
  expect(await listed('--commit', 'HEAD')).toEqual([SESSION])
  expect(await listed('--commit', 'HEAD~1')).toEqual([])
  expect(await listed('--touching', 'README.md')).toEqual([SESSION])
  expect(await listed('--touching', 'src')).toEqual([])
  const shown = (await type(['explain', commit.slice(0, 8), '--repository', 'captured'], outside)).stdout
  expect(shown).toMatch(/22222222 +2 /)
  expect(shown).toContain('Ada, seen in no turn')
  expect(shown).toContain('Committed by 22222222')
  expect(shown).not.toContain('\u001b[31m')
  const first = JSON.parse((await type(['explain', 'HEAD~1', '--json'], inside)).stdout)
  expect(first).not.toHaveProperty('base')
  const none = await type(['explain', 'nothing'], inside)
  expect(none).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('No commit is called "nothing"') })
  const nowhere = await type(['explain', 'HEAD'], { ...outside, cwd: own.path })
  expect(nowhere).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('is in no git repository') })
})
