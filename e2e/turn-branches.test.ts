import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { listAt, objectAt, textAt } from '../src/tools/json-value.js'
import { numberedPrompt, writingTurns } from './numbered-turns.js'
import { until } from './skein.js'
import { claude } from './tools/claude.js'
import { User } from './user.js'

const TURNS = [1, 2, 3]
/** So that it writes files without asking. */
const FREELY = ['--arg=--permission-mode', '--arg=acceptEdits']
const IDENTITY = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org']

it('every turn of a real Claude Code is a commit on its branch and at the remote, in a worktree and beside the branch of the user', async () => {
  await using user = await User.of([claude], {
    script: { rules: [...writingTurns(TURNS), { when: /.*/, steps: [{ text: 'Gladly.' }] }] },
    settings: () => ['[turns]', 'commit = true', 'push = true'],
  })
  const { scratch, skein } = user
  const env = { PATH: process.env.PATH, HOME: scratch.home, GIT_CONFIG_NOSYSTEM: '1' }
  const git = (...args: string[]): string =>
    execFileSync('git', [...IDENTITY, ...args], { cwd: scratch.project, env, encoding: 'utf8' }).trim()
  const bare = join(scratch.home, 'remote.git')
  git('checkout', '-q', '-B', 'main')
  git('config', 'user.name', 'Ada')
  git('config', 'user.email', 'ada@example.org')
  git('commit', '-q', '--allow-empty', '-m', 'begun')
  git('init', '-q', '--bare', bare)
  const head = git('rev-parse', 'main')
  git('remote', 'add', 'origin', bare)
  try {
    for (const [agent, options] of [
      ['own', ['--worktree', ...FREELY]],
      ['beside', FREELY],
    ] as const) {
      await skein.run('start', '.', '--agent', agent, '--tool', 'claude', ...options)
      await skein.listed(agent, { status: 'idle' }, 60_000)
      const made = objectAt(await skein.run('why', agent), 'turn_branch')
      expect(made).toMatchObject({ branch: expect.stringMatching(/^skein\/session\/[0-9a-f]{8}$/), turns: 0 })
      const branch = textAt(made, 'branch') ?? ''
      expect(git('rev-parse', branch)).toBe(git('rev-parse', 'main'))
      for (const turn of TURNS) {
        await skein.run('send', agent, numberedPrompt(turn), '--wait', '--timeout', '60s')
        const isPushed = async (): Promise<boolean> => {
          const now = objectAt(await skein.run('why', agent), 'turn_branch')
          return (
            now?.turns === turn &&
            objectAt(now, 'push')?.outcome === 'pushed' &&
            objectAt(now, 'push')?.commit === now.commit
          )
        }
        await until(`turn ${turn} is pushed`, isPushed, 30_000)
      }
      expect(git('log', '--reverse', '--format=%s by %an', `main..${branch}`).split('\n')).toEqual(
        TURNS.map((turn) => `Turn ${turn}: ${numberedPrompt(turn)} by Ada`),
      )
      for (const turn of TURNS)
        expect(git('diff', '--name-only', 'main', `${branch}~${3 - turn}`).split('\n')).toEqual(
          TURNS.slice(0, turn).map((one) => `file-${one}.txt`),
        )
      expect(git('--git-dir', bare, 'rev-parse', branch)).toBe(git('rev-parse', branch))
      const session = String((await skein.agent(agent)).session_id)
      expect(await skein.run('show', session)).toMatchObject({ turn_branch: { branch, turns: 3 } })
      if (agent === 'own') {
        const worktree = textAt(made, 'worktree') ?? 'none'
        await skein.run('restart', agent)
        expect(objectAt(await skein.run('why', agent), 'turn_branch')).toMatchObject({ branch, worktree, turns: 3 })
        expect(git('-C', worktree, 'status', '--porcelain')).toBe('')
        expect(git('status', '--porcelain')).toBe('')
        // A fork works on a branch of its own, which begins at the commit of that turn.
        const [fork] = listAt(await skein.run('fork', agent, '--turn', '1', '--name', 'other'), 'forks')
        expect(objectAt(await skein.run('why', 'other'), 'turn_branch')).toMatchObject({ branch: 'other', turns: 0 })
        expect(git('rev-parse', 'other')).toBe(git('rev-parse', `${branch}~2`))
        expect(git('-C', String((fork as { worktree: string }).worktree), 'status', '--porcelain')).toBe('')
        expect(readFileSync(join(String((fork as { worktree: string }).worktree), 'file-1.txt'), 'utf8')).toBe(
          'content 1\n',
        )
        await skein.run('kill', 'other')
      } else expect([git('symbolic-ref', '--short', 'HEAD'), git('rev-parse', 'main')]).toEqual(['main', head])
      await skein.run('kill', agent)
    }
  } finally {
    await skein.run('daemon', 'stop').catch(() => undefined)
  }
}, 180_000)
