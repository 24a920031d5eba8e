import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { environmentIn, run } from './binary.js'
import { type } from './typed.js'
import { buildWorld, profilesUnder, scratch } from './world.js'

const world = scratch()
const home = join(world.path, 'home')
beforeAll(() => buildWorld(home))
afterAll(() => world[Symbol.dispose]())

/** What is offered when these words stand on the line, the last one unfinished. */
async function offered(words: readonly string[], shell = 'zsh'): Promise<string[]> {
  const { stdout } = await type(['__complete', shell, ...words], { profiles: profilesUnder(home), now: Date.now })
  return stdout.split('\n').flatMap((line) => (line === '' ? [] : [line.split('\t')[0] ?? '']))
}

describe('completion offers', () => {
  it('commands, then their verbs', async () => {
    expect(await offered(['se'])).toEqual(['send', 'sessions', 'session', 'seance', 'search'])
    expect(await offered(['sessions', ''])).toEqual(['list', 'show', 'chain', 'find', 'tree'])
    expect(await offered(['help', 'group', 'd'])).toEqual(['delete'])
  })

  it('options of the command, and the global ones everywhere', async () => {
    expect(await offered(['sessions', 'list', '--o'])).toEqual(['--outcome'])
    expect(await offered(['--pro'])).toEqual(['--profile'])
    expect(await offered(['sessions', 'show', '--j'])).toEqual(['--json'])
  })

  it('values that are one of a few', async () => {
    expect(await offered(['sessions', 'list', '--outcome', 'c'])).toEqual(['crash', 'clear'])
    expect(await offered(['completion', ''])).toEqual(['bash', 'zsh', 'fish'])
    expect(await offered(['session', 'step', ''])).toEqual(['start', 'complete'])
  })

  it('values from the home: agents, groups, sessions, profiles', async () => {
    expect(await offered(['sessions', 'list', '--agent', 'web/'])).toEqual(['web/butter', 'web/jam', 'web/toast'])
    expect(await offered(['sessions', 'list', '--group', ''])).toContain('kitchen')
    expect(await offered(['sessions', 'show', '5e8'])).toEqual(['5e8fa07b-active'])
    expect(await offered(['--profile', ''])).toEqual(['default', 'play'])
  })

  it('values for the argument at the cursor, whatever options stand before it', async () => {
    expect(await offered(['session', 'step', '--molecule', 'start', 'complete', 'design', 'c3'])).toEqual([
      'c3d94e60-active',
    ])
    expect(await offered(['agents', 'move', '--json', 'web/jam', 'o'])).toEqual(['ops'])
  })

  it('values behind an equals sign, as each shell takes them', async () => {
    expect(await offered(['sessions', 'list', '--agent=web/t'], 'zsh')).toEqual(['--agent=web/toast'])
    expect(await offered(['sessions', 'list', '--agent', '=', 'web/t'], 'bash')).toEqual(['web/toast'])
    expect(await offered(['sessions', 'list', '--agent', '='], 'bash')).toHaveLength(4)
  })

  it('what the chosen profile holds, and does not create a home by pressing a key', async () => {
    expect(await offered(['--profile', 'play', 'sessions', 'show', ''])).toEqual([])
    expect(await offered(['--profile=play', 'agents', 'show', ''])).toEqual([])
    using fresh = scratch()
    const profiles = profilesUnder(join(fresh.path, 'none'))
    expect((await type(['__complete', 'bash', 'agents', 'show', ''], { profiles })).stdout).toBe('')
    expect(await profiles.list()).toEqual([])
  })

  it('nothing for words that mean nothing', async () => {
    expect(await offered(['nonsense', ''])).toEqual([])
    expect(await offered(['sessions', 'nonsense', ''])).toEqual([])
    expect(await offered(['sessions', 'list', 'x'])).toEqual([])
    expect(await offered(['constructor', ''])).toEqual([])
  })
})

describe('the scripts, in the real shells', () => {
  const bash = async (words: readonly string[]): Promise<string[]> => {
    const script = `source <(skein completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); _skein; printf '%s\\n' "\${COMPREPLY[@]}"`
    const { stdout, stderr } = await run('bash', ['--norc', '-uc', script, 'bash', 'skein', ...words], {
      env: environmentIn(world.path),
    })
    expect(stderr).toBe('')
    return stdout.split('\n').filter((line) => line !== '')
  }

  it('bash completes commands, values and directories', async () => {
    expect(await bash(['sessions', 'l'])).toEqual(['list'])
    expect(await bash(['sessions', 'list', '--agent', '=', 'web/j'])).toEqual(['web/jam'])
    expect(await bash(['session', 'start', '--cwd', `${world.path}/ho`])).toEqual([`${world.path}/home`])
  })

  it('bash never runs what stands on the unfinished line', async () => {
    expect(await bash(['sessions', 'show', `$(touch ${world.path}/owned)`])).toEqual([])
    expect(await bash(['sessions', '; touch owned', ''])).toEqual([])
    const { stdout } = await run('ls', [world.path], { env: environmentIn(world.path) })
    expect(stdout).not.toContain('owned')
  })

  it('zsh completes with a description for each', async () => {
    // Outside of a line editor `_describe` cannot draw, so it is told to print what it was given.
    const script = `_describe() { print -rl -- "\${(@P)2}" }; compdef() { }; source <(skein completion zsh); words=("$@"); CURRENT=$#; _skein`
    const { stdout, stderr } = await run('zsh', ['-fc', script, 'zsh', 'skein', 'sessions', 'sh'], {
      env: environmentIn(world.path),
    })
    expect({ stdout, stderr }).toEqual({ stdout: 'show:Show everything about one session\n', stderr: '' })
  })

  it('fish completes with a description for each', async () => {
    const script = `skein completion fish | source; complete -C 'skein sessions list --outcome k'; complete -C 'skein agents show web/t'`
    const { stdout, stderr } = await run('fish', ['--no-config', '-c', script], { env: environmentIn(world.path) })
    expect({ stdout, stderr }).toEqual({ stdout: 'killed\nweb/toast\tclaude\n', stderr: '' })
  })
})
