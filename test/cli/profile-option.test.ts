import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type } from './typed.js'
import { agentsUnder, daemonUnder, profilesUnder, scratch } from './world.js'

describe('the profile that a command works in', () => {
  function home({ isAttended }: { isAttended: boolean }) {
    const own = scratch()
    const [profiles, daemon, agents] = [profilesUnder(own.path), daemonUnder(own.path), agentsUnder(own.path)]
    const typed = (...args: string[]) => type(args, { profiles, daemon, agents, isAttended })
    const has = (profile: string): boolean => existsSync(join(own.path, 'profiles', profile))
    return { root: own.path, typed, has, [Symbol.dispose]: () => own[Symbol.dispose]() }
  }

  it.each([
    [['-p', 'work', 'agents', 'show', 'x']],
    [['-pwork', 'agents', 'show', 'x']],
    [['--profile', 'work', 'agents', 'show', 'x']],
    [['agents', 'show', 'x', '-p', 'work']],
  ])('of a script must exist: %j', async (args) => {
    using own = home({ isAttended: false })
    expect(await own.typed(...args)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('No profile work') })
    expect(own.has('work')).toBe(false)
  })

  it('is not -p after a command that has an option of that letter', async () => {
    using own = home({ isAttended: false })
    const question = await own.typed('seance', 'talk', 'x', '-p', 'why did you?')
    expect(question).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('No session') })
    const both = await own.typed('-p', 'work', 'seance', 'talk', 'x', '-p', 'why did you?')
    expect(both).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('No profile work') })
    const { stdout } = await own.typed('seance', 'talk', '--help')
    expect(stdout).toMatch(/^ +-p, --prompt <text>/m)
    expect(stdout).toMatch(/^ +--profile <name>/m)
  })

  it('is made for a person at a terminal who names it, and said so', async () => {
    using own = home({ isAttended: true })
    const { stderr, exitCode } = await own.typed('-p', 'work', 'group', 'list')
    expect({ stderr, exitCode }).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining('Created the profile work'),
    })
    expect((await own.typed('-p', 'work', 'group', 'list')).stderr).not.toContain('Created')
  })

  it('is made with --create, also for a script', async () => {
    using own = home({ isAttended: false })
    expect((await own.typed('-p', 'work', '--create', 'group', 'list', '--json')).exitCode).toBe(0)
    expect(own.has('work')).toBe(true)
  })

  it('is not made by a name that comes from the environment, nor by a bad one, nor by --create alone', async () => {
    using own = home({ isAttended: true })
    const settings = {
      profile: 'typo',
      session: undefined,
      agent: undefined,
      tmux: undefined,
      noColour: true,
      columns: 80,
      debug: false,
    }
    const profiles = profilesUnder(own.root)
    expect((await type(['group', 'list'], { profiles, settings, isAttended: true })).exitCode).toBe(1)
    expect((await own.typed('-p', '../x', 'group', 'list')).exitCode).not.toBe(0)
    expect(await own.typed('group', 'list', '--create')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--create goes with --profile'),
    })
  })
})
