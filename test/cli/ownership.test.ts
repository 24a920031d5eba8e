import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { lifeOf } from '../../src/disk/index.js'
import { scratch } from '../home/scratch.js'
import { BINARY } from './binary.js'

const PROGRAM = fileURLToPath(new URL('../workers/fake-agent.mjs', import.meta.url))

/** The built program with two tools, in a directory with the projects `shop` and `docs`. Its tmux server ends with the test. */
function desk() {
  const root = scratch()
  for (const name of ['shop', 'docs', 'other/shop']) mkdirSync(join(root, name), { recursive: true })
  const tool = (name: string): string =>
    `[tools.${name}]\ncommand = "${process.execPath} ${PROGRAM}"\nidle_patterns = ["re:^>"]\nresume_flag = "--resume"\n`
  mkdirSync(join(root, 'home'))
  writeFileSync(join(root, 'home', 'config.toml'), `${tool('one')}${tool('two')}[daemon]\nautostart = false\n`)
  const env = { PATH: process.env.PATH ?? '', HOME: root, SKEIN_HOME: join(root, 'home') }
  const skein = (...args: string[]) => {
    const ran = spawnSync(process.execPath, [BINARY, ...args], { env, cwd: root, encoding: 'utf8', timeout: 60_000 })
    return { status: ran.status, stdout: ran.stdout, stderr: ran.stderr }
  }
  onTestFinished(() => {
    spawnSync('tmux', ['-S', join(root, 'home', 'tmux.sock'), 'kill-server'])
  })
  const agents = (...args: string[]) => JSON.parse(skein('list', '--json', '--all', ...args).stdout).agents
  return { root, skein, agents }
}

describe('which agent a start means', () => {
  it('a failed start of another agent changes none, and a directory of the group that was asked for wins', () => {
    const { skein, agents } = desk()
    expect(skein('start', './shop', '--tool', 'one', '--group', 'web').status).toBe(0)
    const [first] = agents()
    expect(first).toMatchObject({ address: 'web/shop', tool: 'one' })
    const second = skein('start', 'shop', '--tool', 'two', '--group', 'back')
    expect(second).toMatchObject({ status: 0, stderr: '' })
    const now = agents()
    expect(now.map(({ address, tool }: { address: string; tool: string }) => [address, tool])).toEqual([
      ['web/shop', 'one'],
      ['back/shop', 'two'],
    ])
    expect(now[0]).toMatchObject({ tool: 'one', pid: first.pid, updated_at: first.updated_at })
    // Without a group it is the agent of that directory, which does not run this tool.
    for (const words of [
      ['start', 'web/shop', '--tool', 'two'],
      ['start', 'web/shop', '--title', 'New'],
      ['start', '--agent', 'back/shop', '--group', 'web'],
      ['start', './docs', '--agent', 'back/x', '--group', 'web'],
    ]) {
      expect({ words, ...skein(...words) }).toMatchObject({ status: expect.not.stringMatching(/^0$/) })
      expect(agents()).toEqual(now)
    }
  })

  it('a word that is a directory and another agent is refused with both spellings', () => {
    const { skein, agents } = desk()
    expect(skein('spawn', 'other/shop', '--tool', 'one', '--group', 'web').status).toBe(0)
    const refused = skein('start', 'shop', '--tool', 'one')
    expect(refused.status).toBe(2)
    expect(refused.stderr).toContain('skein start --agent web/shop')
    expect(refused.stderr).toContain('skein start ./shop')
    expect(agents()).toHaveLength(1)
    expect(skein('start', './shop', '--tool', 'one').status).toBe(0)
    expect(skein('start', '--agent', 'web/shop').status).toBe(0)
    expect(agents().map(({ address }: { address: string }) => address)).toEqual(['web/shop', 'shop'])
    // The agent that works in this very directory is meant by its name.
    expect(skein('kill', 'web/shop', './shop').status).not.toBe(70)
    skein('kill', 'shop')
    const again = skein('start', 'docs', '--tool', 'one')
    expect(again.status).toBe(0)
    skein('kill', 'docs')
    expect(skein('start', 'docs')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Started docs/) })
  })
})

describe('what runs is not left behind', () => {
  it('an agent that runs is removed by neither spelling, and by both with --force', () => {
    const { skein, agents } = desk()
    for (const [name, ...words] of [
      ['a', 'remove'],
      ['b', 'agents', 'remove'],
    ] as const) {
      expect(skein('start', './docs', '--agent', name, '--tool', 'one').status).toBe(0)
      const [{ pid }] = agents()
      expect(skein(...words, name)).toMatchObject({ status: 1, stderr: expect.stringContaining(`skein stop ${name}`) })
      expect(lifeOf({ pid })).toBe('alive')
      expect(skein(...words, name, '--force').status).toBe(0)
      expect(lifeOf({ pid })).toBe('dead')
      expect(agents()).toEqual([])
      expect(skein('remove', '--undo').status).toBe(0)
      expect(agents()).toMatchObject([{ address: name }])
      skein('remove', name)
    }
  })

  it('a profile is deleted when none of its agents runs, or stops them first', () => {
    const { root, skein, agents } = desk()
    expect(skein('profile', 'create', 'play').status).toBe(0)
    expect(skein('start', './docs', '--tool', 'one', '--profile', 'play').status).toBe(0)
    const [{ pid }] = agents('--profile', 'play')
    const refused = skein('profile', 'delete', 'play', '--yes')
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining('--stop') })
    expect([lifeOf({ pid }), existsSync(join(root, 'home', 'profiles', 'play'))]).toEqual(['alive', true])
    expect(skein('profile', 'delete', 'play', '--yes', '--stop').stderr).toBe('')
    expect([lifeOf({ pid }), existsSync(join(root, 'home', 'profiles', 'play'))]).toEqual(['dead', false])
  })

  it('a start that is killed leaves no environment that is older than a minute after the next command', () => {
    const { root, skein } = desk()
    expect(skein('start', './docs', '--tool', 'one', '--env', 'KEY=topsecret').status).toBe(0)
    const agents = join(root, 'home', 'profiles', 'default', 'agents')
    expect(readdirSync(join(agents, 'launch'))).toEqual([])
    const files = readdirSync(agents, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    const telling = files.filter((entry) => readFileSync(join(entry.parentPath, entry.name)).includes('topsecret'))
    expect(telling.map(({ name }) => name)).toEqual(['env.json'])
  })
})
